"""One update: the gradient of a minibatch's loss, clipped, and one optimiser step.

Stage: learning. A minibatch goes in, the model's weights change, what was seen on the way comes
out. A minibatch is worked through in small pieces of similar length whose gradients add up, in a
fixed order whichever thread has computed them; the weights of its tokens are made once for the
whole of it, so the pieces change nothing.
Left out: gradient accumulation over machines, loss scaling (bfloat16 does not need it).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn

from workbench.learning.batch import Batch, microbatch_rows
from workbench.learning.forward import policy_logprobs
from workbench.learning.losses import was_clipped

TokenLoss = Callable[[Tensor, Batch], Tensor]
"""(logprobs (B, T), batch) -> loss of each token (B, T)."""


@dataclass(frozen=True)
class UpdateStats:
    """What one update saw; means are over the minibatch's policy tokens."""

    loss: float
    """The minibatch's loss before the update."""
    grad_norm: float
    """Norm of the gradient before clipping."""
    entropy: float
    """Mean entropy in nats."""
    clip_fraction: float
    """Share of tokens whose gradient the clip took away."""
    ratio_gap_mean: float
    """Mean |logprob - old logprob|: sampler against trainer in an iteration's first update."""
    ratio_gap_max: float
    """Largest |logprob - old logprob|."""
    num_tokens: int
    """Policy tokens in the minibatch."""


def update(
    model: nn.Module,
    optimiser: torch.optim.Optimizer,
    minibatch: Batch,
    token_loss: TokenLoss,
    token_weights: Callable[[Tensor], Tensor],
    *,
    grad_clip: float,
    dtype: Literal["float32", "bfloat16"],
    tokens_per_microbatch: int,
    check_stop: Callable[[], None] = lambda: None,
    threads: int = 1,
) -> UpdateStats:
    """Change the model by one optimiser step on `minibatch`.

    Args:
        token_loss: loss of each token.
        token_weights: loss mask of the whole minibatch -> weight of each token's loss.
        grad_clip: largest gradient norm.
        check_stop: called between microbatches; may raise, and then nothing has changed.
        threads: microbatches worked on at a time; the result is the same, bit for bit.
    Raises:
        FloatingPointError: if the gradient is not finite; the weights are left as they were.
    """
    trained = [p for group in optimiser.param_groups for p in group["params"]]
    minibatch = minibatch.to(trained[0].device)
    weights = token_weights(minibatch.loss_mask)  # (B, T), once for the whole minibatch

    def work(rows: list[int]) -> tuple[list[Tensor], UpdateStats]:
        check_stop()
        piece = minibatch.take(rows)
        logprobs, entropies = policy_logprobs(model, piece, dtype)
        losses = token_loss(logprobs, piece)
        loss = (weights[rows, : losses.shape[1]] * losses).sum()
        slopes, *gradients = torch.autograd.grad(loss, [logprobs, *trained])
        return gradients, _piece_stats(loss, logprobs.detach(), slopes, entropies, piece)

    optimiser.zero_grad(set_to_none=True)
    pieces = []
    microbatches = microbatch_rows(minibatch.lengths.tolist(), tokens_per_microbatch)
    for gradients, stats in _in_order(work, microbatches, threads):
        for parameter, gradient in zip(trained, gradients, strict=True):
            parameter.grad = gradient if parameter.grad is None else parameter.grad.add_(gradient)
        pieces.append(stats)
    grad_norm = float(nn.utils.clip_grad_norm_(trained, grad_clip))
    if not np.isfinite(grad_norm):
        raise FloatingPointError(
            f"gradient norm: expected a finite number, got {grad_norm}; lower the learning rate, "
            'or set dtype="float32"'
        )
    optimiser.step()
    return replace(_combine(pieces), grad_norm=grad_norm)


def _in_order(work: Callable, items: Iterable, threads: int) -> Iterator:
    """work(item) for each item, in the order of the items; `threads` of them at a time."""
    if threads == 1:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(threads, thread_name_prefix="update") as pool:
        try:
            yield from pool.map(work, items)
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _piece_stats(
    loss: Tensor, logprobs: Tensor, slopes: Tensor, entropies: Tensor, piece: Batch
) -> UpdateStats:
    mask = piece.loss_mask
    clipped = was_clipped(slopes, piece.advantages)
    gap = (logprobs - piece.old_logprobs).abs()[mask]
    return UpdateStats(
        loss=float(loss.detach()),
        grad_norm=0.0,
        entropy=float(entropies[mask].mean()),
        clip_fraction=float(clipped[mask].float().mean()),
        ratio_gap_mean=float(gap.mean()),
        ratio_gap_max=float(gap.max()),
        num_tokens=int(mask.sum()),
    )


def _combine(pieces: Iterable[UpdateStats]) -> UpdateStats:
    """Sum of losses, largest of largest, means weighted by tokens."""
    pieces = list(pieces)
    tokens = [p.num_tokens for p in pieces]

    def mean(name: str) -> float:
        return float(np.average([getattr(p, name) for p in pieces], weights=tokens))

    return UpdateStats(
        loss=sum(p.loss for p in pieces),
        grad_norm=0.0,
        entropy=mean("entropy"),
        clip_fraction=mean("clip_fraction"),
        ratio_gap_mean=mean("ratio_gap_mean"),
        ratio_gap_max=max(p.ratio_gap_max for p in pieces),
        num_tokens=sum(tokens),
    )
