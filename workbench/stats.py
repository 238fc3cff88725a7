"""Intervals and comparisons: how sure a number is.

Stage: all that report. Counts and arrays in, `Interval` out; numpy only. Runs of one task are
correlated, so tasks are the unit that is resampled, and training seeds are another one: each
function says which. Left out: tests for contamination, McNemar, several comparisons at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np


@dataclass(frozen=True)
class Interval:
    """An estimate and the range it may lie in."""

    estimate: float
    """The number itself."""
    low: float
    """Lower end."""
    high: float
    """Upper end."""
    method: str
    """How the range was found, and over what."""

    def percent(self) -> str:
        """Text for a table, for instance "39.0 % [34.8, 43.3]"."""
        estimate, low, high = (100 * x for x in (self.estimate, self.low, self.high))
        return f"{estimate:.1f} % [{low:.1f}, {high:.1f}]"


def wilson(num_successes: int, num_trials: int, confidence: float = 0.95) -> Interval:
    """Wilson's score interval of a share: one run, independent trials.

    Raises ValueError unless 0 <= num_successes <= num_trials and num_trials > 0.

    >>> wilson(195, 500).percent()
    '39.0 % [34.8, 43.3]'
    """
    if not 0 <= num_successes <= num_trials or num_trials < 1:
        raise ValueError(
            f"wilson: expected 0 <= successes <= trials and a trial, got {num_successes} of "
            f"{num_trials}"
        )
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share = num_successes / num_trials
    shrink = 1 + z * z / num_trials
    centre = (share + z * z / (2 * num_trials)) / shrink
    variance = share * (1 - share) / num_trials + z * z / (4 * num_trials**2)
    half = z * variance**0.5 / shrink
    low = 0.0 if num_successes == 0 else centre - half
    high = 1.0 if num_successes == num_trials else centre + half
    return Interval(share, low, high, f"Wilson, {num_trials} trials")


def mean_interval(values: Sequence[float], confidence: float = 0.95) -> Interval:
    """Mean of a few independent runs (seeds) with Student's interval.

    One value has no interval: low and high are NaN. Raises ValueError if there is none.
    """
    values = _finite(values)
    n, mean = len(values), float(values.mean())
    if n == 1:
        return Interval(mean, np.nan, np.nan, "one run, no interval")
    half = student_quantile((1 + confidence) / 2, n - 1) * values.std(ddof=1) / n**0.5
    return Interval(mean, float(mean - half), float(mean + half), f"Student t, {n} runs")


def bootstrap_tasks(
    results: Sequence[float] | np.ndarray,
    *,
    num_resamples: int = 4000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Interval:
    """Mean over tasks with a percentile bootstrap that resamples whole tasks.

    Args:
        results: (tasks,) one number a task, or (tasks, n) several runs of each; NaN = left out.
            A task's runs are averaged first, because they are correlated.
        seed: of the resampling; same seed, same interval.
    Raises:
        ValueError: if no task has a result.
    """
    means = _task_means(results)
    rng = np.random.default_rng(seed)
    resampled = means[rng.integers(len(means), size=(num_resamples, len(means)))].mean(axis=1)
    low, high = np.quantile(resampled, [(1 - confidence) / 2, (1 + confidence) / 2])
    method = f"bootstrap over {len(means)} tasks"
    return Interval(float(means.mean()), float(low), float(high), method)


def paired_difference(
    a: Sequence[float] | np.ndarray, b: Sequence[float] | np.ndarray, **options
) -> Interval:
    """Mean of b - a on the same tasks, with the tasks resampled.

    Args:
        a, b: (tasks,) or (tasks, n) results, task i in row i of both; n may differ. A task
            without a result in one of them leaves both.
        options: as for `bootstrap_tasks`.
    Raises:
        ValueError: if the numbers of tasks differ or no task is in both.
    """
    a, b = _per_task(a), _per_task(b)
    if len(a) != len(b):
        raise ValueError(
            f"paired_difference: expected the same tasks twice, got {len(a)} and {len(b)} rows; "
            "evaluate both on one list of tasks"
        )
    difference = bootstrap_tasks(b - a, **options)
    return Interval(
        difference.estimate, difference.low, difference.high, f"paired {difference.method}"
    )


def pass_at_k(num_samples: int, num_correct: int, k: int) -> float:
    """Chance that at least one of k samples is right, without bias: 1 - C(n-c, k) / C(n, k).

    For one task; average over tasks. Source: Chen et al. 2021 (arXiv:2107.03374).

    Raises ValueError unless 0 <= num_correct <= num_samples and 1 <= k <= num_samples.

    >>> round(pass_at_k(10, 3, 5), 6)
    0.916667
    """
    if not (0 <= num_correct <= num_samples and 1 <= k <= num_samples):
        raise ValueError(
            f"pass_at_k: expected 0 <= correct <= samples and 1 <= k <= samples, got "
            f"correct {num_correct}, samples {num_samples}, k {k}; sample each task k times or more"
        )
    if num_samples - num_correct < k:
        return 1.0
    factors = 1.0 - k / np.arange(num_samples - num_correct + 1, num_samples + 1)
    return float(1.0 - np.prod(factors))


def chance_of_a_tie(p: float, group_size: int) -> float:
    """Chance that all of a group's rewards, each 1 with chance p and else 0, are equal.

    Such a group teaches nothing: p^G + (1 - p)^G, largest for tasks that are too easy or too hard.

    Raises ValueError unless 0 <= p <= 1 and group_size >= 1.

    >>> chance_of_a_tie(0.5, 4)
    0.125
    """
    if not (0 <= p <= 1 and group_size >= 1):
        raise ValueError(
            f"chance_of_a_tie: expected 0 <= p <= 1 and a group size >= 1, got {p}, {group_size}"
        )
    return p**group_size + (1 - p) ** group_size


def auroc(scores: Sequence[float] | np.ndarray, right: Sequence[bool] | np.ndarray) -> float:
    """Chance that a right answer scores higher than a wrong one; equal scores count half.

    0.5 = the score says nothing. NaN if all are right or all are wrong. Found from ranks, in
    O(n log n). Source: Mann & Whitney 1947.

    Args:
        scores, right: (n,) finite numbers and (n,) booleans, or 1 and 0.
    Raises:
        ValueError: if the shapes differ, a score is not finite, or something is neither right nor
            wrong, such as NaN.

    >>> auroc([0.9, 0.4, 0.4, 0.1], [True, True, False, False])
    0.875
    """
    scores, right = scores_and_truth("auroc", scores, right)
    num_right, num_wrong = int(right.sum()), int((~right).sum())
    if not num_right or not num_wrong:
        return float("nan")
    _, place, count = np.unique(scores, return_inverse=True, return_counts=True)
    rank = (np.cumsum(count) - (count - 1) / 2)[place]  # the mean rank of equal scores
    above = rank[right].sum() - num_right * (num_right + 1) / 2
    return float(above / (num_right * num_wrong))


def scores_and_truth(
    name: str, scores: Sequence[float] | np.ndarray, truth: Sequence[bool] | np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(n,) floats and (n,) bools, for the function called `name`.

    Raises ValueError if the shapes differ, a score is not finite, or `truth` has anything but
    booleans or 1 and 0: NaN would count as True.
    """
    scores, truth = np.asarray(scores, dtype=float), np.asarray(truth)
    fits = scores.ndim == 1 and scores.shape == truth.shape
    if not (fits and np.isfinite(scores).all() and np.isin(truth, (0, 1)).all()):
        raise ValueError(
            f"{name}: expected (n,) finite scores and (n,) booleans, got shapes {scores.shape} and "
            f"{truth.shape}; leave out what could not be judged"
        )
    return scores, truth.astype(bool)


def func_sec_at_k(
    functional: Sequence[Sequence[float]], secure: Sequence[Sequence[float]], k: int
) -> tuple[float, float]:
    """(func@k, func-sec@k), means over tasks: the chance that one of k samples works, and that one
    of k works and is secure at once.

    Args:
        functional, secure: a row a task, of 1.0 and 0.0 (or True and False), one for each sample;
            NaN in either = that sample is left out.
    Raises:
        ValueError: if the rows do not match, there is none, or k is larger than a row.
    Source: CWEval, Peng et al. 2025 (arXiv:2501.08200).

    >>> func, func_sec = func_sec_at_k([[1, 1, 1, 0, 1]], [[1, 0, 1, 1, 1]], k=1)
    >>> round(func, 6), round(func_sec, 6)
    (0.8, 0.6)
    """
    if [len(row) for row in functional] != [len(row) for row in secure] or not len(functional):
        raise ValueError(
            "func_sec_at_k: expected at least one row, and rows of the same lengths in both, got "
            f"{[len(row) for row in functional]} and {[len(row) for row in secure]}"
        )
    rates = []
    for works, holds in zip(functional, secure):
        pairs = np.array([works, holds], dtype=float)
        works, holds = pairs[:, ~np.isnan(pairs).any(axis=0)] == 1.0
        counts = int(works.sum()), int((works & holds).sum())
        rates.append([pass_at_k(works.size, count, k) for count in counts])
    func, func_sec = np.mean(rates, axis=0)
    return float(func), float(func_sec)


def student_quantile(probability: float, degrees: int) -> float:
    """Quantile of Student's t distribution, for probabilities in (0.5, 1).

    With t = sqrt(degrees) tan(angle) the density becomes a power of a cosine, which a grid
    integrates to about eight digits.

    >>> round(student_quantile(0.975, 4), 4)
    2.7764
    """
    angles = np.linspace(0.0, np.pi / 2, 200_001)
    density = np.cos(angles) ** (degrees - 1)
    area = np.concatenate(([0.0], np.cumsum((density[1:] + density[:-1]) / 2)))
    angle = np.interp((probability - 0.5) * 2 * area[-1], area, angles)
    return float(degrees**0.5 * np.tan(angle))


def _per_task(results: Sequence[float] | np.ndarray) -> np.ndarray:
    """(tasks,) means over each task's runs; NaN where a task has none."""
    results = np.asarray(results, dtype=float)
    if results.ndim == 1:
        results = results[:, None]
    if results.ndim != 2:
        raise ValueError(f"expected (tasks,) or (tasks, n) results, got shape {results.shape}")
    present = ~np.isnan(results)
    sums = np.where(present, results, 0.0).sum(axis=1)
    counts = present.sum(axis=1)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def _task_means(results: Sequence[float] | np.ndarray) -> np.ndarray:
    means = _per_task(results)
    means = means[~np.isnan(means)]
    if not len(means):
        raise ValueError("expected the result of at least one task, got none that can be judged")
    return means


def _finite(values: Sequence[float]) -> np.ndarray:
    values = np.asarray(values, dtype=float)
    if values.ndim != 1 or not len(values) or not np.isfinite(values).all():
        raise ValueError(f"expected a list of at least one finite number, got {values!r:.80}")
    return values
