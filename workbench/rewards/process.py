"""Components about the turns: what a model of turns thought of them, made one number.

Stage: rewards. The scores were made once, by `process_rewards.score_turns`, and lie in the
evidence: no model is called here. How they are put together decides what can be gained by saying
more, so it is an argument. Left out: the scores themselves (`process_rewards`), and a reward for
each turn (`credit.score_changes`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from workbench.credit import turn_scores
from workbench.records import UNSCORABLE, Task, Trajectory
from workbench.rewards.components import Component, configured

_SURE = 1e-6
"""Scores are kept this far from 0 and 1 where their log-odds are taken."""


def _log_odds(scores: np.ndarray) -> float:
    inside = np.clip(scores, _SURE, 1 - _SURE)
    return float(np.log(inside / (1 - inside)).sum())


AGGREGATIONS: Mapping[str, Callable[[np.ndarray], float]] = {
    "min": lambda scores: float(scores.min()),
    "product": lambda scores: math.prod(scores.tolist()),
    "last": lambda scores: float(scores[-1]),
    "mean": lambda scores: float(scores.mean()),
    "log_odds": _log_odds,
    "sum": lambda scores: float(scores.sum()),
}
"""Ways to make one number of an attempt's scores. "min": the weakest turn. "product": all turns
right at once; says less of whoever says more. "last": an outcome model. "log_odds": evidence added
up; not in [0, 1]. "sum": pays for every further turn, and is here to show what comes of it."""


def aggregate(scores: Sequence[float] | np.ndarray, how: str = "min") -> float:
    """One number for (K,) scores, K >= 1.

    Source: "product" Lightman et al. 2023 (arXiv:2305.20050), "min" Wang et al. 2023
    (Math-Shepherd, arXiv:2312.08935).

    Raises ValueError for an unknown way, or without scores.

    >>> [round(aggregate([0.9, 0.6, 0.8], how), 3) for how in ("min", "product", "last", "mean")]
    [0.6, 0.432, 0.8, 0.767]
    """
    if how not in AGGREGATIONS:
        raise ValueError(f"how: expected one of {', '.join(AGGREGATIONS)}, got {how!r}")
    scores = np.asarray(scores, dtype=float)
    if scores.ndim != 1 or not len(scores):
        raise ValueError(f"scores: expected (K,) with K >= 1, got shape {scores.shape}")
    return AGGREGATIONS[how](scores)


@configured
def prm_score(how: str = "min") -> Component:
    """Component: the scores of the attempt's turns as one number, a way of `AGGREGATIONS`.

    It is what a model believes, not what is true; paid for alone it will be gamed. None if the
    verdict is ours to blame: its turns saw a broken sandbox. Raises ValueError if the attempt was
    not scored.
    """

    def component(trajectory: Trajectory, task: Task) -> float | None:
        if trajectory.verdict.status in UNSCORABLE:
            return None
        return aggregate(turn_scores(trajectory), how)

    aggregate([0.5], how)  # complain now, not at the first attempt
    return component
