"""From stored trajectories to tensors: the one place where masks are made.

Stage: learning. Groups and their advantages go in; a `Batch` comes out whose ids are exactly the
sampled ones. A mask is written while a token is placed, never guessed from token values.
Left out: packing several attempts into one row (padding costs less at this size, because rows
are sorted by length before they are worked through).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from workbench.records import Group, Trajectory, Turn

Advantage = float | Sequence[float] | np.ndarray
"""Advantage of one attempt: a number, or one number for each of its K turns. A turn whose number is
nan stays in the context and gets no gradient; an attempt without any other turn is left out."""

PAD_TO = 32
"""Lengths are rounded up to a multiple of this: few distinct shapes keep the allocator calm."""


@dataclass(frozen=True)
class Batch:
    """B sequences, right-padded to T tokens. Entry [b, t] always speaks of token ids[b, t]."""

    ids: Tensor
    """(B, T) int64: prompt and sampled tokens as they were; 0 in the padding."""
    attention_mask: Tensor
    """(B, T) bool: True where there is a token, False in the padding."""
    loss_mask: Tensor
    """(B, T) bool: True where the policy sampled the token and should learn from it."""
    old_logprobs: Tensor
    """(B, T) float32: logprob under the policy that sampled it; 0 where `loss_mask` is False."""
    advantages: Tensor
    """(B, T) float32: the turn's advantage on each of its tokens; 0 where `loss_mask` is False."""

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def num_policy_tokens(self) -> int:
        """Tokens that get gradient."""
        return int(self.loss_mask.sum())

    @property
    def lengths(self) -> Tensor:
        """(B,) int64: tokens in each row, padding not counted."""
        return self.attention_mask.sum(dim=1)

    def take(self, rows: Sequence[int]) -> Batch:
        """The rows with these indices, in this order, no wider than the longest of them needs."""
        index = torch.as_tensor(rows, dtype=torch.long)
        width = padded(int(self.lengths[index].max())) if len(index) else 0
        return Batch(*(getattr(self, name)[index, :width] for name in self.__dataclass_fields__))

    def to(self, device: torch.device | str) -> Batch:
        """The same batch on another device; itself where it is there already."""
        if self.ids.device == torch.device(device):
            return self
        return Batch(*(getattr(self, name).to(device) for name in self.__dataclass_fields__))


@dataclass(frozen=True)
class _Row:
    """One sequence before padding; lists of equal length."""

    ids: list[int]
    loss_mask: list[bool]
    old_logprobs: list[float]
    advantages: list[float]

    def extend(self, ids: Sequence[int], mask: bool, logprobs: Sequence[float], advantage: float):
        self.ids.extend(ids)
        self.loss_mask.extend([mask] * len(ids))
        self.old_logprobs.extend(logprobs if mask else [0.0] * len(ids))
        self.advantages.extend([advantage if mask else 0.0] * len(ids))


def pack(
    groups: Sequence[Group],
    advantages: Sequence[Sequence[Advantage]],
    *,
    learns: Callable[[Turn], bool] = lambda turn: True,
) -> Batch:
    """A batch of every attempt that has an advantage.

    Args:
        groups: as sampled, or as read back from a run: the batch is the same, bit for bit.
        advantages: one row a group, one entry a trajectory: a number, one number a turn, or nan.
        learns: turns for which it is False stay in the context but get no gradient.
    Raises:
        ValueError: if shapes do not fit, or an action's ids and logprobs differ in number.
    """
    if [len(row) for row in advantages] != [len(g.trajectories) for g in groups]:
        raise ValueError(
            f"advantages: expected one entry a trajectory, rows of "
            f"{[len(g.trajectories) for g in groups]}, got {[len(row) for row in advantages]}"
        )
    rows: list[_Row] = []
    for group, group_advantages in zip(groups, advantages):
        for trajectory, advantage in zip(group.trajectories, group_advantages):
            if not np.isnan(advantage).all():
                rows.extend(_rows_of(trajectory, advantage, learns))
    return _padded_batch(rows)


def _rows_of(
    trajectory: Trajectory, advantage: Advantage, learns: Callable[[Turn], bool]
) -> Iterator[_Row]:
    """One row an agent while each of its turns keeps the whole prefix; a new one where a turn kept
    less of it. An agent's row holds what that agent saw and said, and nothing of the others'."""
    per_turn = np.broadcast_to(np.asarray(advantage, dtype=np.float64), len(trajectory.turns))
    rows: dict[str, _Row] = {}
    for turn, turn_advantage in zip(trajectory.turns, per_turn):
        row = rows.setdefault(turn.agent, _Row([], [], [], []))
        action = turn.action
        if action.text and not action.ids:
            raise ValueError(
                f"trajectory of {trajectory.task_id!r}: expected the token ids of what was said, "
                "got none; what a server sampled without them is good for evaluation, not for "
                "training (EndpointPolicy(token_ids=True) asks for them)"
            )
        if len(action.ids) != len(action.logprobs):
            raise ValueError(
                f"trajectory of {trajectory.task_id!r}: expected as many logprobs as sampled ids, "
                f"got {len(action.logprobs)} and {len(action.ids)}; token ids must come from a "
                "policy that reports logprobs"
            )
        if action.kept_prefix != len(row.ids):
            yield row
            kept = row.ids[: action.kept_prefix]
            row = rows[turn.agent] = _Row([], [], [], [])
            row.extend(kept, False, (), 0.0)
        row.extend(action.new_ids, False, (), 0.0)
        mask = learns(turn) and not np.isnan(turn_advantage)
        row.extend(action.ids, mask, action.logprobs, float(turn_advantage))
    yield from rows.values()


def _padded_batch(rows: Sequence[_Row]) -> Batch:
    rows = [row for row in rows if any(row.loss_mask)]
    width = padded(max((len(row.ids) for row in rows), default=0))

    def tensor(name: str, dtype: torch.dtype) -> Tensor:
        out = torch.zeros(len(rows), width, dtype=dtype)
        for b, row in enumerate(rows):
            out[b, : len(row.ids)] = torch.tensor(getattr(row, name), dtype=dtype)
        return out

    lengths = torch.tensor([len(row.ids) for row in rows], dtype=torch.long)
    return Batch(
        ids=tensor("ids", torch.long),
        attention_mask=torch.arange(width) < lengths[:, None],
        loss_mask=tensor("loss_mask", torch.bool),
        old_logprobs=tensor("old_logprobs", torch.float32),
        advantages=tensor("advantages", torch.float32),
    )


def padded(length: int) -> int:
    """`length` rounded up to a multiple of PAD_TO."""
    return -(-length // PAD_TO) * PAD_TO


def split_minibatches(batch: Batch, num: int, rng: np.random.Generator) -> list[Batch]:
    """`num` minibatches of nearly equal size, rows dealt at random; fewer if rows are fewer."""
    order = rng.permutation(len(batch))
    return [batch.take(rows) for rows in np.array_split(order, num) if len(rows)]


def microbatch_rows(lengths: Sequence[int], tokens: int) -> list[list[int]]:
    """Row indices, sorted by length and cut where the padded size would exceed `tokens`.

    Every row is in exactly one list; a row longer than `tokens` is alone.

    >>> microbatch_rows([40, 10, 20], tokens=64)
    [[1, 2], [0]]
    """
    pieces: list[list[int]] = []
    for row in sorted(range(len(lengths)), key=lengths.__getitem__):
        if pieces and (len(pieces[-1]) + 1) * padded(lengths[row]) <= tokens:
            pieces[-1].append(row)
        else:
            pieces.append([row])
    return pieces
