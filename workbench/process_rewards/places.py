"""Where a model of turns reads: the token before each turn, or the token that ends it.

Stage: process rewards. Trajectories in, rows of tokens with marked places out. The ids are those
that were sampled, never tokenised again, and a place is noted while its turn is laid down.
Left out: places inside a turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from workbench.learning.batch import microbatch_rows, padded
from workbench.records import Group, Trajectory

Reads = Literal["before", "end"]
"""Which token is read for a turn. "before": the last one of its prompt, where the observation is
known and nothing has been said yet: a value. "end": the last one that was sampled in it, before
the environment has answered: a score of the turn."""


@dataclass(frozen=True)
class Row:
    """Tokens of one attempt, and the places in them where a turn is read."""

    ids: tuple[int, ...]
    """Prompt and sampled tokens as they were."""
    turns: tuple[int, ...]
    """Turns that are read in this row, rising."""
    places: tuple[int, ...]
    """For each of them the index into `ids` of the token that is read."""


@dataclass(frozen=True)
class Placed:
    """B rows, right-padded to T tokens, and N places in them."""

    ids: Tensor
    """(B, T) int64; 0 in the padding."""
    attention_mask: Tensor
    """(B, T) bool: True where there is a token."""
    rows: Tensor
    """(N,) int64: the row of each place, in order of the rows."""
    places: Tensor
    """(N,) int64: its token in that row."""


def expect_numbers_of_turns(
    name: str, groups: Sequence[Group], numbers: Sequence[Sequence[np.ndarray]]
) -> None:
    """Raises ValueError unless `numbers`, given as the argument `name`, has for each group G arrays
    of shape (K,)."""
    shapes = [[np.shape(one) for one in row] for row in numbers]
    expected = [[(len(t.turns),) for t in group.trajectories] for group in groups]
    if shapes != expected:
        raise ValueError(
            f"{name}: expected one number a turn, shapes {expected!s:.80}, got {shapes!s:.80}; "
            "they may be other groups'"
        )


def rows_of(trajectory: Trajectory, reads: Reads) -> Iterator[Row]:
    """One row an agent while each of its turns keeps the whole prefix; a new one where a turn kept
    less of it. An agent's row holds what that agent saw and said, as in `learning.batch.pack`.

    Raises ValueError if there is no token to be read at a turn.
    """
    contexts: dict[str, tuple[list[int], list[int], list[int]]] = {}  # ids, turns, places
    for k, turn in enumerate(trajectory.turns):
        action = turn.action
        ids, turns, places = contexts.get(turn.agent, ([], [], []))
        if action.kept_prefix != len(ids):
            if turns:
                yield Row(tuple(ids), tuple(turns), tuple(places))
            ids, turns, places = ids[: action.kept_prefix], [], []
        contexts[turn.agent] = ids, turns, places
        ids.extend(action.new_ids)
        before = len(ids) - 1
        ids.extend(action.ids)
        if not ids or (reads == "before" and before < 0):
            raise ValueError(
                f"trajectory of {trajectory.task_id!r}: expected a token to read at turn {k}, got "
                "none; if the statement leaves no room in sampler.max_context, raise that"
            )
        turns.append(k)
        places.append(before if reads == "before" else len(ids) - 1)
    for ids, turns, places in contexts.values():
        yield Row(tuple(ids), tuple(turns), tuple(places))


def place(rows: Sequence[Row]) -> Placed:
    """The rows as tensors, no wider than the longest of them needs."""
    width = padded(max(len(row.ids) for row in rows))
    ids = torch.zeros(len(rows), width, dtype=torch.long)
    for b, row in enumerate(rows):
        ids[b, : len(row.ids)] = torch.tensor(row.ids)
    lengths = torch.tensor([len(row.ids) for row in rows])
    counts = torch.tensor([len(row.places) for row in rows])
    return Placed(
        ids=ids,
        attention_mask=torch.arange(width) < lengths[:, None],
        rows=torch.arange(len(rows)).repeat_interleave(counts),
        places=torch.tensor([p for row in rows for p in row.places]),
    )


def batches(rows: Sequence[Row], tokens: int) -> list[list[int]]:
    """Indices of the rows, sorted by length and cut where the padded size would exceed `tokens`."""
    return microbatch_rows([len(row.ids) for row in rows], tokens)
