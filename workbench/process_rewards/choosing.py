"""Best of N: sample several attempts, hand in the one that something thinks best.

Stage: process rewards, when nothing is trained. For each task M attempts' scores and whether each
was right in; the chance that the best-scored of N drawn from them is right out, for every N, by
counting and without drawing. A score that is fooled by rare attempts turns down as N grows: among
many attempts there is one that fools it.
Left out: votes (attempts at a repair are seldom equal), weighing votes by score.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

import numpy as np


def best_of_n(scores: Sequence[float] | np.ndarray, right: Sequence[float], n: int) -> float:
    """Chance that the attempt with the highest score among n of these M attempts is right.

    All choices of n are equally likely, none is drawn; of equal scores any is taken.

    Args:
        scores: (M,) any finite numbers.
        right: (M,) 1 or 0 (or a chance) for each attempt.
    Raises:
        ValueError: if the shapes differ, a score is not finite, or n is not in 1..M.

    >>> [best_of_n([0.1, 0.5, 0.9], [1, 0, 1], n) for n in (1, 3)]
    [0.6666666666666666, 1.0]
    """
    scores, right = np.asarray(scores, dtype=float), np.asarray(right, dtype=float)
    if scores.ndim != 1 or scores.shape != right.shape or not np.isfinite(scores).all():
        raise ValueError(
            f"expected (M,) finite scores and as many outcomes, got shapes {scores.shape} and "
            f"{right.shape}"
        )
    if not 1 <= n <= len(scores):
        raise ValueError(f"n: expected 1..{len(scores)} (the attempts there are), got {n}")
    total, below = comb(len(scores), n), 0
    chance = 0.0
    for score in np.unique(scores):
        equal = scores == score
        up_to = below + int(equal.sum())
        # the highest of n is `score`: all n are at most it, and not all are below it
        highest = (comb(up_to, n) - comb(below, n)) / total
        chance += highest * float(right[equal].mean())
        below = up_to
    return chance


def best_of_n_curve(
    scores: Sequence[Sequence[float]], right: Sequence[Sequence[float]], sizes: Sequence[int]
) -> np.ndarray:
    """(tasks, sizes) chances: `best_of_n` for each task, given its attempts' scores and outcomes.

    Its mean over tasks is the curve; `stats.bootstrap_tasks` of a column gives the interval. Raises
    ValueError as `best_of_n` does, or if there are not as many tasks in both.
    """
    if len(scores) != len(right):
        raise ValueError(
            f"expected scores and outcomes of the same tasks, got {len(scores)} and {len(right)}"
        )
    return np.array([[best_of_n(s, r, n) for n in sizes] for s, r in zip(scores, right)])


def turning_point(curve: Sequence[float], sizes: Sequence[int]) -> int | None:
    """The N at which a curve is highest (the first such), if it ends lower; else None.

    In between it may rise again, though not above.

    >>> turning_point([0.3, 0.5, 0.45], [1, 4, 16]), turning_point([0.3, 0.5, 0.5], [1, 4, 16])
    (4, None)
    >>> turning_point([0.5, 0.3, 0.4], [1, 4, 16])
    1
    """
    best = int(np.argmax(curve))
    return sizes[best] if curve[-1] < curve[best] else None
