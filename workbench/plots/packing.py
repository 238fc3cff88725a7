"""One packed sequence, token by token: who wrote it, who may see it, who learns from it.

Stage: reading. In: a group, or anybody's batch of ids and masks; out: rows of numpy arrays to look
at. `learning.pack` makes the tensors that are trained on; the rows of a group made here are the
same ones, which a test holds them to. Left out: padding of a group, images.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.records import Group, Trajectory

KINDS = ("prompt", "action", "observation", "padding")
"""Who wrote a token: the task before the first turn, the policy, the environment, nobody."""
PROMPT, ACTION, OBSERVATION, PADDING = range(4)
TRLS = {"prompt_ids", "prompt_mask", "completion_ids", "completion_mask"}
"""What every batch of TRL's GRPO trainer has."""


@dataclass(frozen=True)
class PackedRow:
    """T tokens; entry t of every array speaks of token ids[t]."""

    label: str
    """Which row it is, for people."""
    ids: np.ndarray
    """(T,) int."""
    kinds: np.ndarray
    """(T,) int: index in KINDS."""
    turns: np.ndarray
    """(T,) int: the turn that an action token belongs to, or that a prompt token came before."""
    loss_mask: np.ndarray
    """(T,) bool: True where the policy learns from the token."""
    attention_mask: np.ndarray
    """(T,) bool: True where the token may be seen."""
    logprobs: np.ndarray
    """(T,) float: under the policy that sampled it; NaN where nothing is known."""
    advantages: np.ndarray
    """(T,) float: NaN where nothing is known, also outside the loss mask."""

    def __len__(self) -> int:
        return len(self.ids)


def rows_of_group(group: Group, credit: Sequence[Any] | None = None) -> list[PackedRow]:
    """Every attempt of a group, packed as `learning.pack` does.

    Args:
        credit: for each trajectory a number, or one for each turn; NaN = that turn does not learn.
            None = every sampled token learns, and no advantage is shown.
    Raises ValueError unless there is one entry a trajectory.
    """
    if credit is None:
        credit = [None] * len(group.trajectories)
    if len(credit) != len(group.trajectories):
        raise ValueError(
            f"credit: expected one entry a trajectory, {len(group.trajectories)}, got {len(credit)}"
        )
    return [
        row
        for i, (trajectory, numbers) in enumerate(zip(group.trajectories, credit))
        for row in _rows_of(trajectory, numbers, f"attempt {i}")
    ]


def rows_of_arrays(
    ids: Any,
    loss_mask: Any,
    attention_mask: Any = None,
    *,
    advantages: Any = None,
    logprobs: Any = None,
) -> list[PackedRow]:
    """Rows of any batch: arrays, tensors or lists of shape (B, T), or (T,) for one row.

    A token outside the loss mask counts as prompt before the first token that learns and as
    observation after it: nothing else is known about it.

    Args:
        advantages: (B, T), or (B,) for one number a row.
        logprobs: (B, T).
    Raises:
        ValueError: for shapes that do not fit.
    """
    ids, learns = np.atleast_2d(_array(ids)), np.atleast_2d(_array(loss_mask)).astype(bool)
    seen = np.ones(ids.shape) if attention_mask is None else np.atleast_2d(_array(attention_mask))
    worth = np.full(ids.shape, np.nan) if advantages is None else _array(advantages).astype(float)
    if worth.ndim <= 1 and (len(ids) > 1 or worth.shape != ids.shape[1:]):
        worth = np.broadcast_to(np.reshape(worth, (-1, 1)), (worth.size, ids.shape[1]))
    worth = np.atleast_2d(worth)
    logs = np.full(ids.shape, np.nan) if logprobs is None else np.atleast_2d(_array(logprobs))
    for name, array in dict(
        loss_mask=learns, attention_mask=seen, advantages=worth, logprobs=logs
    ).items():
        if array.shape != ids.shape:
            raise ValueError(f"{name}: expected the shape of ids, {ids.shape}, got {array.shape}")
    return [
        _guessed(f"row {b}", ids[b], learns[b], seen[b].astype(bool), worth[b], logs[b])
        for b in range(len(ids))
    ]


def rows_of_batch(batch: Any) -> list[PackedRow]:
    """Rows of a batch that says itself what is what.

    Args:
        batch: a `learning.Batch`, or anything with `ids` and `loss_mask`; or a mapping as TRL's
            GRPO trainer hands to its loss (`prompt_ids`, `completion_ids`, their masks, and
            `tool_mask` where tools answered), or with our names as keys.
    Raises:
        ValueError: if it is neither.
    """
    given = batch if isinstance(batch, Mapping) else _fields(batch)
    if TRLS <= set(given):
        return _rows_of_trl(given)
    if "ids" not in given or "loss_mask" not in given:
        raise ValueError(
            f"batch: expected ids and loss_mask, or TRL's {', '.join(sorted(TRLS))}, got "
            f"{sorted(map(str, given)) or type(batch).__name__}"
        )
    return rows_of_arrays(
        given["ids"],
        given["loss_mask"],
        given.get("attention_mask"),
        advantages=given.get("advantages"),
        logprobs=given.get("old_logprobs"),
    )


def _fields(batch: Any) -> dict[str, Any]:
    names = ("ids", "loss_mask", "attention_mask", "advantages", "old_logprobs")
    return {name: getattr(batch, name) for name in names if hasattr(batch, name)}


def _rows_of_trl(given: Mapping[str, Any]) -> list[PackedRow]:
    """Prompt, padded on the left, and completion, padded on the right, end to end."""
    arrays = {name: _array(value) for name, value in given.items() if value is not None}
    prompt, answer = arrays["prompt_ids"], arrays["completion_ids"]
    prompt_mask, answer_mask = arrays["prompt_mask"], arrays["completion_mask"]
    learns = answer_mask * arrays["tool_mask"] if "tool_mask" in arrays else answer_mask
    logs = arrays.get("old_per_token_logps", arrays.get("sampling_per_token_logps"))
    nothing = np.full(prompt.shape, np.nan)
    worth = arrays.get("advantages")
    if worth is not None and worth.ndim == 2:
        worth = np.concatenate([nothing, worth], axis=1)
    return rows_of_arrays(
        np.concatenate([prompt, answer], axis=1),
        np.concatenate([0 * prompt_mask, learns], axis=1),
        np.concatenate([prompt_mask, answer_mask], axis=1),
        advantages=worth,
        logprobs=None if logs is None else np.concatenate([nothing, logs], axis=1),
    )


def _rows_of(trajectory: Trajectory, credit: Any, label: str) -> Iterator[PackedRow]:
    """One row an agent while each of its turns keeps the whole prefix; a new one where a turn kept
    less of it."""
    numbers = np.asarray(np.nan if credit is None else credit, dtype=float)
    if numbers.shape not in ((), (len(trajectory.turns),)):
        raise ValueError(
            f"credit: expected a number or {len(trajectory.turns)} of them, one a turn, for "
            f"{label}; got shape {numbers.shape}"
        )
    per_turn = np.broadcast_to(numbers, len(trajectory.turns))
    names = list(dict.fromkeys(turn.agent for turn in trajectory.turns))
    labels = {name: f"{label}, {name}" if len(names) > 1 else label for name in names}
    rows: dict[str, list[tuple]] = {name: [] for name in names}
    for k, (turn, number) in enumerate(zip(trajectory.turns, per_turn.tolist())):
        action, tokens = turn.action, rows[turn.agent]
        if action.kept_prefix != len(tokens):
            yield _row(labels[turn.agent], tokens)
            labels[turn.agent] += f", from turn {k + 1}"
            kept = [(*t[:3], False, np.nan, np.nan) for t in tokens[: action.kept_prefix]]
            tokens = rows[turn.agent] = kept
        heard = OBSERVATION if tokens else PROMPT
        learns = credit is None or number == number
        tokens += [(i, heard, k, False, np.nan, np.nan) for i in action.new_ids]
        tokens += [
            (i, ACTION, k, learns, log, number if learns else np.nan)
            for i, log in zip(action.ids, action.logprobs, strict=True)
        ]
    yield from (_row(labels[name], tokens) for name, tokens in rows.items())


def _row(label: str, tokens: Sequence[tuple]) -> PackedRow:
    ids, kinds, turns, learns, logs, worth = zip(*tokens) if tokens else [()] * 6
    ints = (np.array(column, dtype=int) for column in (ids, kinds, turns))
    masks = np.array(learns, dtype=bool), np.ones(len(ids), dtype=bool)
    return PackedRow(label, *ints, *masks, np.array(logs, float), np.array(worth, float))


def _guessed(label: str, ids, learns, seen, worth, logs) -> PackedRow:
    """Kinds and turns as far as the masks tell them."""
    starts = learns & ~np.concatenate([[False], learns[:-1]])
    turn = np.cumsum(starts) - 1
    kinds = np.where(learns, ACTION, np.where(turn < 0, PROMPT, OBSERVATION))
    kinds = np.where(seen | learns, kinds, PADDING)
    came_before = np.where(learns, turn, np.minimum(turn + 1, max(int(turn.max(initial=0)), 0)))
    known = np.where(learns, worth, np.nan)
    logs = np.where(learns, logs, np.nan)
    return PackedRow(label, ids.astype(int), kinds, came_before, learns, seen, logs, known)


def _array(value: Any) -> np.ndarray:
    """numpy's copy of an array, a list, or a tensor of any kind, wherever it lies."""
    return np.asarray(value.tolist() if hasattr(value, "tolist") else value)
