"""The keys and values of everything a session has read and said so far.

Stage: sampling. A row is one episode; a slot is where its keys and values lie. The cache lives
across turns, so a turn only computes its new tokens. Attention must not copy it either: the rows
that are sampling right now always occupy the first slots, and their keys and values are read
through a view. When rows finish, a few are swapped, instead of gathering all others at every
token (which took 60 % of a decode step in a prototype).
Left out: paging and sharing of common prefixes (vLLM, SGLang).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor


class KVCache:
    """Keys and values of `num_rows` sequences of up to `capacity` tokens."""

    def __init__(
        self,
        *,
        num_layers: int,
        num_rows: int,
        num_kv_heads: int,
        capacity: int,
        head_dim: int,
        like: Tensor,
    ):
        """An empty cache with the dtype and device of `like`."""
        self._shape = {
            "num_layers": num_layers,
            "num_kv_heads": num_kv_heads,
            "capacity": capacity,
            "head_dim": head_dim,
        }
        shape = (2, num_rows, num_kv_heads, capacity, head_dim)
        self.layers = [_lazy_zeros(shape, like) for _ in range(num_layers)]
        """Layer -> (2, slots, KV, capacity, D); [0] holds keys, [1] values."""
        self.slot_of_row = list(range(num_rows))
        """Row -> slot."""
        self.row_of_slot = list(range(num_rows))
        """Slot -> row; the inverse."""
        self.lengths = [0] * num_rows
        """Row -> tokens whose keys and values are stored."""

    def bring_to_front(self, rows: Sequence[int]) -> None:
        """Swap slots so that `rows` occupy slots 0 .. len(rows) - 1, in some order."""
        wanted = set(rows)
        holes = [slot for slot in range(len(rows)) if self.row_of_slot[slot] not in wanted]
        movers = [self.slot_of_row[row] for row in rows if self.slot_of_row[row] >= len(rows)]
        if not holes:
            return
        self._exchange(holes, movers)

    def _exchange(self, slots: list[int], others: list[int]) -> None:
        """Exchange the contents of slots[j] and others[j] for every j."""
        rows = [self.row_of_slot[slot] for slot in (*others, *slots)]
        device = self.layers[0].device
        target = torch.tensor(slots + others, device=device)
        source = torch.tensor(others + slots, device=device)
        used = max(self.lengths[row] for row in rows)
        for layer in self.layers:
            for part in layer[:, :, :, :used]:  # keys, then values
                part.index_copy_(0, target, part.index_select(0, source))
        for slot, row in zip(slots + others, rows, strict=True):
            self.row_of_slot[slot], self.slot_of_row[row] = row, slot

    def take(self, rows: Sequence[int]) -> KVCache:
        """A new cache whose row j continues `rows[j]` of this one; a row may occur repeatedly."""
        new = KVCache(num_rows=len(rows), like=self.layers[0], **self._shape)
        new.lengths = [self.lengths[row] for row in rows]
        used = max(new.lengths, default=0)
        slots = torch.tensor([self.slot_of_row[row] for row in rows])
        for mine, theirs in zip(self.layers, new.layers, strict=True):
            theirs[:, :, :, :used] = mine[:, slots.to(mine.device), :, :used]
        return new

    def write_index(self, slots: Tensor, positions: Tensor) -> Tensor:
        """Where tokens go in a layer seen as (2 * slots * KV * capacity, D).

        Args:
            slots, positions: (T,) slot and position of each token.
        Returns:
            (T * 2 * KV,) indices in the order (token, key or value, head).
        """
        _, num_slots, num_kv_heads, capacity, _ = self.layers[0].shape
        blocks = torch.arange(2, device=slots.device)[:, None] * num_slots
        heads = torch.arange(num_kv_heads, device=slots.device)
        index = ((blocks + slots[:, None, None]) * num_kv_heads + heads) * capacity
        return (index + positions[:, None, None]).flatten()


def _lazy_zeros(shape: Sequence[int], like: Tensor) -> Tensor:
    """Zeros: positions not written yet are masked out, but a NaN there would survive the mask.

    On a CPU the memory comes from `calloc`: the system hands out a page when it is first written,
    so a long capacity costs nothing until it is used.
    """
    if like.device.type != "cpu":
        return like.new_zeros(shape)
    raw = np.zeros(int(np.prod(shape)) * like.element_size(), dtype=np.uint8)
    return torch.from_numpy(raw).view(like.dtype).view(shape)
