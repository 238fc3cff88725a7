"""Whether scores put things in the right order.

Stage: process rewards, beside `stats.auroc`. Scores and what was true in, a number out.
Left out: intervals (attempts at one task are correlated: repeat over seeds).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.stats import scores_and_truth


def average_precision(
    scores: Sequence[float] | np.ndarray, wanted: Sequence[bool] | np.ndarray
) -> float:
    """Mean precision at each wanted item when items are listed by falling score: the area under
    the precision-recall curve. Equal scores are listed at once.

    A score that says nothing gets the share of wanted items. NaN if nothing is wanted.

    Args:
        scores, wanted: (n,) finite numbers and (n,) booleans, or 1 and 0.
    Raises:
        ValueError: as `stats.auroc`.

    >>> round(average_precision([0.9, 0.8, 0.7, 0.1], [True, False, True, False]), 4)
    0.8333
    """
    scores, wanted = scores_and_truth("average_precision", scores, wanted)
    if not wanted.any():
        return float("nan")
    _, place, count = np.unique(-scores, return_inverse=True, return_counts=True)
    found = np.bincount(place, weights=wanted)  # wanted items at each score, highest first
    precision = found.cumsum() / count.cumsum()
    return float((precision * found).sum() / wanted.sum())


def rank_correlation(a: Sequence[float] | np.ndarray, b: Sequence[float] | np.ndarray) -> float:
    """Spearman's: how far two lists of (n,) numbers agree about the order, in [-1, 1].

    Equal numbers share their mean rank. NaN if either list is constant. Raises ValueError if the
    shapes differ, n < 2, or a number is not finite.

    >>> rank_correlation([1, 2, 3, 4], [10, 20, 40, 30])
    0.8
    """
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if a.ndim != 1 or a.shape != b.shape or len(a) < 2 or not np.isfinite([a, b]).all():
        raise ValueError(
            f"rank_correlation: expected two lists of n >= 2 finite numbers, got shapes {a.shape} "
            f"and {b.shape}; leave out what could not be judged"
        )
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return float("nan")
    return round(float(np.corrcoef(_mean_ranks(a), _mean_ranks(b))[0, 1]), 12)


def _mean_ranks(numbers: np.ndarray) -> np.ndarray:
    """(n,) ranks from 1, the smallest first; equal numbers share their mean rank."""
    _, place, count = np.unique(numbers, return_inverse=True, return_counts=True)
    return (np.cumsum(count) - (count - 1) / 2)[place]
