"""The model's forward pass over a KV cache: prefill for what was observed, decode for what is said.

Stage: sampling. Token ids go in, next-token logits come out; keys and values go to the cache.
Both passes give the numbers of the `transformers` model (a test holds them to 1e-5). They differ
in shape only: prefill has many new tokens per row and rows of unequal length, so its matrices
run over all tokens at once, unpadded, and attention row by row; decode has one token per row, so
attention is one batched product over the first slots of the cache, without copying it.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from workbench.sampler.cache import KVCache
from workbench.sampler.weights import LayerWeights, ModelWeights

BLOCK_TOKENS = 1024
"""Prefill works on about this many tokens at once: enough for fast matrix products, few enough
for the processor's cache."""


def prefill(weights: ModelWeights, cache: KVCache, new_ids: Sequence[Sequence[int]]) -> Tensor:
    """Read new tokens into the rows of the first slots.

    Args:
        new_ids: element s holds one or more ids that continue the row in slot s.
    Returns:
        (len(new_ids), V) float32 logits after the last token of each row. The rows' lengths in
        the cache have grown.
    """
    logits = []
    for first, last in _blocks([len(ids) for ids in new_ids]):
        logits.append(_prefill_block(weights, cache, first, new_ids[first:last]))
    return torch.cat(logits)


def decode(weights: ModelWeights, cache: KVCache, ids: Tensor, positions: Tensor) -> Tensor:
    """Read one token into each of the first slots.

    Args:
        ids: (A,) token of slot s.
        positions: (A,) where it goes: how many tokens the slot holds already.
    Returns:
        (A, V) float32 logits. The cache's `lengths` are the caller's to update.
    """
    slots = torch.arange(len(ids), device=ids.device)
    write = cache.write_index(slots, positions)
    rotations = weights.rotations[positions][:, None]
    mask = _decode_mask(weights, positions)
    x = weights.embed[ids]
    for layer, store in zip(weights.layers, cache.layers, strict=True):
        queries = _project(weights, layer, store, x, rotations, write)
        x = _finish_block(weights, layer, x, _attend_newest(queries, store, 0, mask))
    return _logits(weights, x)


def _prefill_block(
    weights: ModelWeights, cache: KVCache, first: int, new_ids: Sequence[Sequence[int]]
) -> Tensor:
    """`prefill` for the slots first .. first + len(new_ids) - 1."""
    device = weights.embed.device
    counts = [len(ids) for ids in new_ids]
    rows = cache.row_of_slot[first : first + len(new_ids)]
    starts = [cache.lengths[row] for row in rows]
    spans = [(start, start + count) for start, count in zip(starts, counts, strict=True)]
    slots = torch.arange(first, first + len(rows)).repeat_interleave(torch.tensor(counts))
    positions = torch.cat([torch.arange(start, stop) for start, stop in spans]).to(device)
    newest = torch.tensor(counts, device=device).cumsum(0) - 1  # each row's last token
    write = cache.write_index(slots.to(device), positions)
    rotations = weights.rotations[positions][:, None]
    x = weights.embed[torch.tensor([i for ids in new_ids for i in ids], device=device)]
    for layer, store in zip(weights.layers[:-1], cache.layers[:-1], strict=True):
        queries = _project(weights, layer, store, x, rotations, write)
        x = _finish_block(weights, layer, x, _attend_rows(queries, store, first, spans))
    # Only the newest token of each row is asked for its logits: in the last block the others
    # leave their keys and values and go no further.
    layer, store = weights.layers[-1], cache.layers[-1]
    queries = _project(weights, layer, store, x, rotations, write)[newest]
    mask = _decode_mask(weights, positions[newest])
    x = _finish_block(weights, layer, x[newest], _attend_newest(queries, store, first, mask))
    for row, (_, stop) in zip(rows, spans, strict=True):
        cache.lengths[row] = stop
    return _logits(weights, x)


def _project(
    weights: ModelWeights,
    layer: LayerWeights,
    store: Tensor,
    x: Tensor,
    rotations: Tensor,
    write: Tensor,
) -> Tensor:
    """(T, hidden) -> (T, H, D) rotated queries; keys and values are written to the cache."""
    heads, kv_heads, dim = weights.num_heads, weights.num_kv_heads, weights.head_dim
    qkv = F.linear(_norm(weights, x, layer.norm_in), layer.qkv, layer.qkv_bias)
    rotated = (heads + kv_heads) * dim
    qk = qkv[:, :rotated].view(-1, heads + kv_heads, dim)
    if layer.qk_norm is not None:
        qk.copy_(F.rms_norm(qk, (dim,), eps=weights.eps) * layer.qk_norm)
    _rotate(qk, rotations)
    store.view(-1, dim).index_copy_(0, write, qkv[:, heads * dim :].reshape(-1, dim))
    return qk[:, :heads]


def _rotate(qk: Tensor, rotations: Tensor) -> None:
    """Multiply each (even, odd) pair, seen as a complex number, by its position's rotation."""
    if qk.dtype == torch.float32:
        torch.view_as_complex(qk.unflatten(-1, (-1, 2))).mul_(rotations)
    else:  # half precision has no complex numbers
        pairs = torch.view_as_complex(qk.float().unflatten(-1, (-1, 2)))
        qk.copy_(torch.view_as_real(pairs * rotations).flatten(-2))


def _attend_newest(queries: Tensor, store: Tensor, first: int, mask: Tensor) -> Tensor:
    """One query per slot against that slot's keys and values: (A, H, D) -> (A, H * D).

    Args:
        mask: (A * KV, H / KV, width) of 0 and -inf; only `width` positions are read.
    """
    count, heads, dim = queries.shape
    kv_heads, width = store.shape[2], mask.shape[-1]
    keys, values = store[:, first : first + count].flatten(1, 2)[:, :, :width]
    grouped = queries.reshape(count * kv_heads, heads // kv_heads, dim)
    scores = torch.baddbmm(mask, grouped, keys.transpose(1, 2), alpha=dim**-0.5)
    return torch.bmm(torch.softmax(scores, -1), values).view(count, heads * dim)


def _attend_rows(
    queries: Tensor, store: Tensor, first: int, spans: Sequence[tuple[int, int]]
) -> Tensor:
    """Many queries per slot, causally: (T, H, D) -> (T, H * D).

    Args:
        spans: (start, stop) positions of the new tokens of slot first, first + 1, ...
    """
    longest = max(stop for _, stop in spans)
    causal = torch.full((longest, longest), float("-inf"), dtype=store.dtype, device=store.device)
    causal = causal.triu(1)  # row: query position, column: key position
    mixed = torch.empty_like(queries)
    shared = queries.shape[1] != store.shape[2]
    begin = 0
    for slot, (start, stop) in enumerate(spans, first):
        end = begin + stop - start
        keys, values = store[:, slot : slot + 1, :, :stop]
        mixed[begin:end] = F.scaled_dot_product_attention(
            queries[begin:end].transpose(0, 1)[None],
            keys,
            values,
            attn_mask=causal[start:stop, :stop],
            enable_gqa=shared,
        )[0].transpose(0, 1)
        begin = end
    return mixed.flatten(1)


def _finish_block(weights: ModelWeights, layer: LayerWeights, x: Tensor, mixed: Tensor) -> Tensor:
    """Add what attention found, then the feed-forward part (SwiGLU): (T, hidden) -> the same."""
    x = x + F.linear(mixed, layer.out)
    gate, up = F.linear(_norm(weights, x, layer.norm_mlp), layer.gate_up).chunk(2, -1)
    return x + F.linear(F.silu(gate) * up, layer.down)


def _norm(weights: ModelWeights, x: Tensor, scale: Tensor) -> Tensor:
    return F.rms_norm(x, scale.shape, scale, weights.eps)


def _logits(weights: ModelWeights, x: Tensor) -> Tensor:
    return F.linear(_norm(weights, x, weights.norm_out), weights.head).float()


def _decode_mask(weights: ModelWeights, positions: Tensor) -> Tensor:
    """(A * KV, H / KV, width): -inf where a slot's row has no token (yet), else 0."""
    width = int(positions.max()) + 1
    unseen = torch.arange(width, device=positions.device) > positions[:, None]
    mask = weights.embed.new_zeros(unseen.shape).masked_fill_(unseen, float("-inf"))
    shape = (len(positions), weights.num_kv_heads, weights.num_heads // weights.num_kv_heads)
    return mask[:, None, None].expand(*shape, width).flatten(0, 1)


def _blocks(counts: Sequence[int]) -> list[tuple[int, int]]:
    """Cut slots 0 .. len(counts) - 1 into runs of about BLOCK_TOKENS tokens each."""
    blocks, first, tokens = [], 0, 0
    for slot, count in enumerate(counts):
        tokens += count
        if tokens >= BLOCK_TOKENS:
            blocks.append((first, slot + 1))
            first, tokens = slot + 1, 0
    if first < len(counts):
        blocks.append((first, len(counts)))
    return blocks
