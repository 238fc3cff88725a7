"""A group's credit, ready to be shown: a column a scheme, on its own scale, beside the truth.

Stage: reading. In: what schemes said about a group, and what is true; out: columns of numbers, how
much of the update each turn gets, and how near each scheme comes to the truth. The widget draws
them as HTML, `credit_table` as a still. Left out: credit for single tokens of a turn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from workbench.credit import (
    Agreement,
    agreement,
    rank_of_turn,
    reroll_advantage,
    reroll_standard_errors,
)
from workbench.plots.ranking import nice
from workbench.records import Group, Trajectory, TurnValue
from workbench.records.arguments import expect
from workbench.records.groups import GUESSED
from workbench.rewards import all_pass

TRUTH = "truth"
"""What the column of the truth is called."""
Credit = Sequence[np.ndarray]
"""What a scheme returns: (K,) numbers for each trajectory."""


@dataclass(frozen=True)
class CreditColumn:
    """What one scheme, or the truth, says about every turn of a group."""

    name: str
    """The scheme."""
    credit: tuple[np.ndarray, ...]
    """(K,) numbers for each trajectory; NaN = it says nothing."""
    shares: tuple[np.ndarray, ...]
    """(K,) for each trajectory: |credit| times tokens, as a share of the whole group's."""
    scale: float
    """Where the bars end: not below any |credit| of the group."""
    errors: tuple[np.ndarray, ...] | None = None
    """Standard errors of `credit`, where they are known."""
    match: Agreement | None = None
    """How near the truth over the whole group; None = this is the truth, or there is none."""

    @property
    def is_truth(self) -> bool:
        """Whether the others are compared with this one."""
        return self.name == TRUTH


def credit_columns(
    group: Group,
    credit: Mapping[str, Credit],
    truth: Sequence[TurnValue] | Credit | None = None,
    rewards: Sequence[float] | None = None,
) -> tuple[CreditColumn, ...]:
    """The truth, if there is one, and then a column for each scheme.

    Args:
        credit: name of a scheme -> what it returned for this group.
        truth: values of turns (`group.turn_values`), or the true credit itself.
        rewards: (G,) what the attempts earned, for the last turn's true credit; None = 1.0 where
            the attempt was handed in and passed its hidden tests.
    Raises:
        ValueError: for schemes without names, shapes that do not fit the group, a scheme that is
            called "truth", or values for the truth that a model guessed.
    """
    wanted = "{name of a scheme: what it returned}"
    expect("credit", credit, Mapping, wanted, "such as {'broadcast': broadcast(group, rewards)}")
    if TRUTH in credit:
        raise ValueError(f"credit: {TRUTH!r} is the name of the ground truth; rename that scheme")
    columns, true = [], None
    if truth is not None and len(truth):
        true, errors = _true_credit(group, truth, rewards)
        columns.append(replace(_column(group, TRUTH, true), errors=errors))
    for name, said in credit.items():
        column = _column(group, name, said)
        match = None if true is None else agreement(column.credit, true)
        columns.append(replace(column, match=match))
    if not columns:
        raise ValueError("credit: expected at least one scheme or a truth, got neither")
    return tuple(columns)


def solved_rewards(group: Group) -> np.ndarray:
    """(G,) 1.0 where an attempt was handed in and passed its hidden tests; NaN = not judged."""
    solved = all_pass("hidden")
    rewards = [solved(trajectory, None) for trajectory in group.trajectories]
    return np.array([np.nan if reward is None else reward for reward in rewards])


def rank_of_best(column: CreditColumn, truth: CreditColumn, attempt: int) -> float | None:
    """The place that a scheme gives to the turn which truly is the best, 1 = first.

    None where no turn is better than the others, or the scheme says nothing about it.
    """
    true, said = truth.credit[attempt], column.credit[attempt]
    if not len(true) or np.isnan(true).all() or np.nanmax(true) == np.nanmin(true):
        return None
    best = int(np.nanargmax(true))
    return None if np.isnan(said[best]) else rank_of_turn(said, best)


def num_alike(a: Trajectory, b: Trajectory) -> int:
    """How many turns two attempts share at their beginning: same message, same answer."""
    pairs = zip(a.turns, b.turns)
    different = (
        k
        for k, (x, y) in enumerate(pairs)
        if (x.agent, x.action.text, x.observation) != (y.agent, y.action.text, y.observation)
    )
    return next(different, min(len(a.turns), len(b.turns)))


def signed(value: float, scale: float = 1.0) -> str:
    """A number with its sign, with as many decimals as its scale needs; it fits a table's cell.

    >>> signed(0.4312), signed(-0.00042, 0.001), signed(-1e-9), signed(float("nan"))
    ('+0.43', '−0.0004', '0.00', '–')
    >>> signed(-943.36, 1000.0), signed(12345.6, 2e4), signed(-0.000042, 1e-4)
    ('−943', '+1.2e4', '−4.2e−5')
    """
    if np.isnan(value):
        return "–"
    if value and not 1e-3 <= scale < 1e4:
        text = f"{value:+.1e}".replace("e+", "e").replace("e0", "e").replace("e-0", "e-")
    else:
        decimals = 0 if scale >= 1000 else 2 if scale >= 0.1 else 3 if scale >= 0.01 else 4
        text = f"{value:+.{decimals}f}"
    return (text if float(text) else text[1:]).replace("-", "−")


def _true_credit(group: Group, truth, rewards) -> tuple[Credit, tuple[np.ndarray, ...] | None]:
    if not isinstance(truth[0], TurnValue):
        return truth, None
    if guessed := {value.how for value in truth} & GUESSED:
        raise ValueError(
            f"truth: expected values from re-rolls or exact ones, got a model's "
            f"({', '.join(sorted(guessed))}); show those as a scheme: credit={{'critic': "
            "turn_gae(group, rewards)}"
        )
    valued = replace(group, turn_values=tuple(truth))
    earned = solved_rewards(group) if rewards is None else np.asarray(rewards, dtype=float)
    return reroll_advantage(valued, earned), tuple(reroll_standard_errors(valued))


def _column(group: Group, name: str, credit: Credit) -> CreditColumn:
    numbers = tuple(np.asarray(c, dtype=float) for c in credit)
    expected = [(len(t.turns),) for t in group.trajectories]
    if [n.shape for n in numbers] != expected:
        raise ValueError(
            f"credit of {name!r}: expected a number a turn, shapes {expected}, got "
            f"{[n.shape for n in numbers]}; it may be another group's"
        )
    tokens = [np.array([len(turn.action.ids) for turn in t.turns]) for t in group.trajectories]
    pulls = [np.nan_to_num(np.abs(n), posinf=0.0) * t for n, t in zip(numbers, tokens)]
    whole = sum(float(pull.sum()) for pull in pulls)
    shares = tuple(pull / whole if whole else np.zeros_like(pull) for pull in pulls)
    sizes = [abs(x) for n in numbers for x in n.tolist() if np.isfinite(x)]
    return CreditColumn(name, numbers, shares, nice(max(sizes, default=0.0)) or 1.0)
