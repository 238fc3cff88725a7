"""How far a model of turns can be trusted: its scores against values that somebody has measured.

Stage: process rewards, on attempts it was not fitted to. Groups with `turn_values` (from re-rolls
or exact) and the scores of their turns in; a table of numbers out. A turn is lost when success was
still possible before it and is not after it: the "first error" of an attempt. Numbers about turns
say more than best-of-N, which only looks at how whole attempts compare.
Left out: people's labels, and drift while the policy trains (measure again).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workbench.evaluation import SOLVED
from workbench.process_rewards.labels import value_labels
from workbench.process_rewards.places import expect_numbers_of_turns
from workbench.process_rewards.ranking import average_precision, rank_correlation
from workbench.records import Group, Task
from workbench.records.groups import GUESSED
from workbench.rewards import RewardDesign
from workbench.stats import auroc

NUM_BINS = 10
"""Bins of equal width in a reliability table."""


@dataclass(frozen=True)
class Bin:
    """One row of a reliability table."""

    low: float
    """Scores from here ..."""
    high: float
    """... to here."""
    num_turns: int
    """Turns with such a score."""
    predicted: float
    """Their mean score; NaN if there is none."""
    observed: float
    """Their mean true value; NaN if there is none."""


@dataclass(frozen=True)
class Reliability:
    """How scores compare with measured values; prints as a table."""

    auroc_dead: float
    """Chance that a turn after which success is possible scores above one after which it is not."""
    auroc_lost: float
    """The same among turns before which it was possible: which of them lost it?"""
    precision_lost: float
    """Average precision for lost turns, by 1 - score (area under the precision-recall curve)."""
    share_lost: float
    """Share of lost turns among those: what a score that says nothing gets for precision."""
    ece: float
    """Expected calibration error: mean |score - value| over bins, weighted by turns."""
    brier: float
    """Mean squared difference of score and value; the values' own noise is in it."""
    rank_correlation: float
    """Spearman's, of scores and values over all turns."""
    accuracy_on_failed: float
    """Share of attempts with a first error whose first score below the threshold is that turn."""
    accuracy_on_sound: float
    """Share of attempts without one that have no score below the threshold."""
    f1: float
    """ProcessBench F1: the harmonic mean of those two."""
    threshold: float
    """Scores below it count as errors."""
    num_turns: int
    """Turns compared."""
    bins: tuple[Bin, ...]
    """The reliability table."""

    def __repr__(self) -> str:
        names = {
            "turns compared": f"{self.num_turns}",
            "AUROC, dead turns": f"{self.auroc_dead:.3f}",
            "AUROC, lost turns": f"{self.auroc_lost:.3f}",
            "average precision, lost": f"{self.precision_lost:.3f} (base {self.share_lost:.3f})",
            "calibration error (ECE)": f"{self.ece:.3f}",
            "Brier": f"{self.brier:.3f}",
            "rank correlation": f"{self.rank_correlation:.3f}",
            "first error found": f"{self.accuracy_on_failed:.3f}",
            "sound attempts passed": f"{self.accuracy_on_sound:.3f}",
            "ProcessBench F1": f"{self.f1:.3f} (threshold {self.threshold:.2f})",
        }
        return "\n".join(f"{name:<26}{text}" for name, text in names.items())


Scores = Sequence[Sequence[np.ndarray]]
"""For each group, G arrays of shape (K,): what `TurnModel.predict` returns."""


def reliability(
    groups: Sequence[Group],
    tasks: Sequence[Task],
    scores: Scores,
    *,
    threshold: float = 0.1,
    reward: RewardDesign = SOLVED,
) -> Reliability:
    """How `scores` at the ends of turns compare with the groups' `turn_values`.

    Args:
        threshold: below it a turn counts as an error; choose it on other attempts
            (`best_threshold`). NaN = not known, and so are the accuracies and F1.
        reward: what the values are of.
    Raises:
        ValueError: if a group has no turn values or only a model's, a score is no number in [0, 1],
            shapes do not fit, or fewer than two turns can be compared.
    """
    before, after = _truth(groups, tasks, reward)
    flat = _one_a_turn(groups, scores)
    said, value, was = (np.concatenate([*x, []]) for x in (flat, after, before))
    known = ~np.isnan(value) & ~np.isnan(was)
    if known.sum() < 2:
        raise ValueError(
            f"turn_values: expected two or more turns with a value before and after them, got "
            f"{known.sum()} of {len(known)}; measure more places"
        )
    said, value, was = said[known], value[known], was[known]
    possible = was > 0
    lost = possible & (value == 0)
    bins = _bins(said, value)
    filled = [b for b in bins if b.num_turns]
    found = _first_errors(before, after, flat, threshold)
    return Reliability(
        auroc_dead=auroc(said, value > 0),
        auroc_lost=auroc(said[possible], value[possible] > 0),
        precision_lost=average_precision(1 - said[possible], lost[possible]),
        share_lost=float(lost[possible].mean()) if possible.any() else float("nan"),
        ece=sum(b.num_turns * abs(b.predicted - b.observed) for b in filled) / len(said),
        brier=float(np.mean((said - value) ** 2)),
        rank_correlation=rank_correlation(said, value),
        **found,
        threshold=threshold,
        num_turns=len(said),
        bins=tuple(bins),
    )


def best_threshold(
    groups: Sequence[Group],
    tasks: Sequence[Task],
    scores: Scores,
    *,
    reward: RewardDesign = SOLVED,
) -> float:
    """The threshold with the highest ProcessBench F1 on these attempts; the lowest such.

    NaN if not both kinds are among them, attempts with a first error and without: nothing decides.
    Arguments and errors as in `reliability`.
    """
    before, after = _truth(groups, tasks, reward)
    flat = _one_a_turn(groups, scores)
    tried = [round(0.02 * i, 2) for i in range(1, 50)]
    f1 = [_first_errors(before, after, flat, t)["f1"] for t in tried]
    return float("nan") if np.isnan(f1).any() else tried[int(np.argmax(f1))]


def first_below(scores: Sequence[float], threshold: float) -> int | None:
    """Index of the first score below the threshold, None if there is none.

    >>> first_below([0.9, 0.2, 0.1], 0.25), first_below([0.9], 0.25)
    (1, None)
    """
    return next((k for k, score in enumerate(scores) if score < threshold), None)


def harmonic_mean(a: float, b: float) -> float:
    """2ab / (a + b), NaN if either is, else 0 if either is: ProcessBench F1 of its accuracies.

    Source: Zheng et al. 2024 (ProcessBench, arXiv:2412.06559).

    >>> round(harmonic_mean(0.6, 0.9), 2)
    0.72
    """
    return 2 * a * b / (a + b) if a or b else 0.0


def _truth(
    groups: Sequence[Group], tasks: Sequence[Task], reward: RewardDesign
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Values before and after each turn, an array (K,) an attempt."""
    if guessed := {v.how for group in groups for v in group.turn_values} & GUESSED:
        raise ValueError(
            f"turn_values: expected measured ones, from re-rolls or exact, got those of a model "
            f"({', '.join(sorted(guessed))}); a model agrees with itself"
        )
    labels = [
        value_labels(groups, tasks, reads=reads, reward=reward) for reads in ("before", "end")
    ]
    before, after = ([numbers for row in side for numbers in row] for side in labels)
    return before, after


def _one_a_turn(groups: Sequence[Group], scores: Scores) -> list[np.ndarray]:
    """The scores, an array (K,) an attempt. Raises ValueError if they are not that, in [0, 1]."""
    expect_numbers_of_turns("scores", groups, scores)
    flat = [np.asarray(s, dtype=float) for row in scores for s in row]
    if not all(((s >= 0) & (s <= 1)).all() for s in flat):
        raise ValueError(
            "scores: expected chances in [0, 1], got others or NaN; turn log-odds, for instance, "
            "into chances first"
        )
    return flat


def _first_errors(
    before: Sequence[np.ndarray],
    after: Sequence[np.ndarray],
    scores: Sequence[np.ndarray],
    threshold: float,
) -> dict[str, float]:
    """Accuracy on attempts that have a first error and on those that have none, and their F1.

    Attempts at tasks that were hopeless from the start have no first error to be found, and are
    left out, as are those of which a value is missing, and all if the threshold is NaN.
    """
    on_failed, on_sound = [], []
    for was, value, said in zip(before, after, scores):
        if np.isnan([threshold, *was, *value]).any() or was[0] == 0:
            continue
        dead = next((k for k, v in enumerate(value) if v == 0), None)
        agrees = first_below(said, threshold) == dead
        (on_sound if dead is None else on_failed).append(agrees)
    failed, sound = (float(np.mean(x)) if x else float("nan") for x in (on_failed, on_sound))
    return {
        "accuracy_on_failed": failed,
        "accuracy_on_sound": sound,
        "f1": harmonic_mean(failed, sound),
    }


def _bins(said: np.ndarray, value: np.ndarray) -> list[Bin]:
    """The reliability table: `NUM_BINS` bins of equal width; 1.0 belongs to the last."""
    number = np.minimum((said * NUM_BINS).astype(int), NUM_BINS - 1)
    bins = []
    for b in range(NUM_BINS):
        here = number == b
        predicted, observed = (
            float(x[here].mean()) if here.any() else float("nan") for x in (said, value)
        )
        bins.append(Bin(b / NUM_BINS, (b + 1) / NUM_BINS, int(here.sum()), predicted, observed))
    return bins
