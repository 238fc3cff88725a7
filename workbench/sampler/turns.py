"""Sampling one turn for many rows at once.

Stage: sampling. Prompts (new token ids per row) go in; sampled ids with their log-probabilities
come out. All rows start together; a row that ends leaves, and the rest closes ranks in the cache's
first slots.
Left out: top-p and top-k (a filtered distribution is another policy), refilling freed slots from
a queue, speculative decoding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from workbench.sampler.cache import KVCache
from workbench.sampler.forward import decode, prefill
from workbench.sampler.weights import ModelWeights


@dataclass(frozen=True)
class TurnRequest:
    """What one row is to read and how much it may say."""

    row: int
    """Row of the cache."""
    new_ids: tuple[int, ...]
    """Tokens to read first; at least one."""
    budget: int
    """Sampled tokens at most; at least one."""
    uniforms: Tensor
    """(budget or more,) numbers in [0, 1), one for each token the row may sample."""


def choose_tokens(logits: Tensor, uniforms: Tensor, temperature: float) -> tuple[Tensor, Tensor]:
    """One token per row, drawn from softmax(logits / temperature); the likeliest at 0.

    A uniform number picks the token whose slice of the cumulative distribution it falls into:
    one random number per row instead of one per vocabulary entry.

    Args:
        logits: (A, V) float32.
        uniforms: (A,) in [0, 1).
    Returns:
        ids (A,) and their log-probabilities (A,) under the distribution sampled from. At
        temperature 0 these are the log-probabilities at temperature 1, since all would be 0.
    """
    logprobs = torch.log_softmax(logits / temperature if temperature > 0 else logits, -1)
    if temperature > 0:
        cumulative = logprobs.exp().cumsum(-1)
        threshold = uniforms[:, None] * cumulative[:, -1:]
        ids = torch.searchsorted(cumulative, threshold, right=True)
        ids.clamp_(max=logits.shape[-1] - 1)
    else:
        ids = logprobs.argmax(-1, keepdim=True)
    return ids[:, 0], logprobs.gather(-1, ids)[:, 0]


def sample_turns(
    weights: ModelWeights,
    cache: KVCache,
    requests: Sequence[TurnRequest],
    *,
    end_id: int,
    temperature: float,
) -> list[tuple[list[int], list[float]]]:
    """Read each request's prompt, then sample until `end_id` or the request's budget.

    Returns:
        For each request its sampled ids (`end_id` included) and their log-probabilities. The last
        sampled token of a row is not in the cache yet: the row's next prompt starts with it.
    """
    rows = [request.row for request in requests]
    index_of_row = {row: j for j, row in enumerate(rows)}
    order = _close_ranks(cache, rows, index_of_row)  # slot -> index into requests
    logits = prefill(weights, cache, [requests[j].new_ids for j in order.tolist()])

    prompt_lengths = torch.tensor([cache.lengths[row] for row in rows])
    budgets = torch.tensor([request.budget for request in requests])
    longest = int(budgets.max())
    uniforms = torch.stack([request.uniforms[:longest] for request in requests])
    ids = torch.zeros(len(rows), longest, dtype=torch.long)
    logprobs = torch.zeros(len(rows), longest)
    counts = torch.zeros(len(rows), dtype=torch.long)  # tokens sampled so far
    device = logits.device
    for t in range(longest):
        chosen = choose_tokens(logits, uniforms[order, t].to(device), temperature)
        chosen, chosen_logprobs = (numbers.cpu() for numbers in chosen)
        ids[order, t], logprobs[order, t], counts[order] = chosen, chosen_logprobs, t + 1
        ended = (chosen == end_id) | (budgets[order] == t + 1)
        if ended.any():
            for row, length in zip(rows, (prompt_lengths + counts - 1).tolist(), strict=True):
                cache.lengths[row] = length
            staying = [rows[j] for j in order[~ended].tolist()]
            if not staying:
                break
            order = _close_ranks(cache, staying, index_of_row)
        newest, places = ids[order, t].to(device), (prompt_lengths[order] + t).to(device)
        logits = decode(weights, cache, newest, places)
    return [
        (ids[j, :count].tolist(), logprobs[j, :count].tolist())
        for j, count in enumerate(counts.tolist())
    ]


def _close_ranks(cache: KVCache, rows: Sequence[int], index_of_row: dict[int, int]) -> Tensor:
    """Move `rows` to the first slots; (len(rows),) index of the request in slot 0, 1, ..."""
    cache.bring_to_front(rows)
    return torch.tensor([index_of_row[row] for row in cache.row_of_slot[: len(rows)]])
