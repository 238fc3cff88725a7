"""How good is a credit scheme? Compared with a truth that is known.

Stage: credit. What a scheme says and what is true in; ranks, correlation and error out. The truth
comes from tasks in which one turn is known to decide, or from a policy so small that every
continuation can be counted (`workbench.counterfactuals`). Left out: learning curves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Agreement:
    """How well credit matches the truth, over all turns at once."""

    correlation: float
    """Pearson's, in [-1, 1]; NaN if either is constant. Blind to units and to an offset."""
    rmse: float
    """Root of the mean squared difference, in units of reward."""
    num_turns: int
    """Turns compared: those for which both have a number."""


def rank_of_turn(credit: Sequence[float] | np.ndarray, k: int) -> float:
    """The place of turn k among the attempt's turns, 1 = most credit; ties share their mean place.

    Turns with NaN are not counted; NaN if turn k is one of them.

    >>> rank_of_turn([0.0, 0.7, 0.0, 0.1], 1), rank_of_turn([0.5, 0.5, 0.5], 1)
    (1.0, 2.0)
    """
    credit = np.asarray(credit, dtype=float)
    if np.isnan(credit[k]):
        return float("nan")
    higher, equal = (credit > credit[k]).sum(), (credit == credit[k]).sum()
    return float(1 + higher + (equal - 1) / 2)


def agreement(credit: Sequence[np.ndarray], truth: Sequence[np.ndarray]) -> Agreement:
    """Correlation and error of `credit` against `truth`, each a list of (K,) arrays.

    Turns for which either is NaN are left out. Raises ValueError if the shapes differ.
    """
    shapes, expected = ([np.shape(numbers) for numbers in one] for one in (credit, truth))
    if shapes != expected:
        raise ValueError(
            f"credit: expected a number a turn, the truth's shapes {expected}, got {shapes}"
        )
    said, true = np.concatenate([*credit, []]), np.concatenate([*truth, []])
    both = ~np.isnan(said) & ~np.isnan(true)
    said, true = said[both], true[both]
    constant = len(said) == 0 or np.ptp(said) == 0 or np.ptp(true) == 0
    return Agreement(
        correlation=float("nan") if constant else float(np.corrcoef(said, true)[0, 1]),
        rmse=float(np.sqrt(np.mean((said - true) ** 2))) if len(said) else float("nan"),
        num_turns=len(said),
    )
