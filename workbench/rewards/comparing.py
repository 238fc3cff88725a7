"""Two designs on the same attempts: whom each would teach what, and which of them pays the wrong.

Stage: rewards. Two `Scores` of the same trajectories go in, a frozen report comes out: numbers,
and the attempts to look at. A design is judged by what training would see of it, the advantages in
the groups, and by how well its rewards agree with a truth that it need not know. Left out: what
training on it leads to; nothing here is a prediction of that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workbench.rewards.rescoring import Scale, Scores
from workbench.stats import auroc

ZERO = 1e-9
"""Advantages up to this size count as 0: means of equal rewards leave a rounding error."""

Attempt = tuple[int, int]
"""(index of the group, index of the trajectory in it)."""


@dataclass(frozen=True)
class DesignReport:
    """One design on the attempts."""

    rewards: np.ndarray
    """(N,) what is paid; NaN = could not be judged."""
    advantages: np.ndarray
    """(N,) what training would see."""
    dead_share: float
    """Share of the groups in which every advantage is 0: nothing is learned from them."""
    num_unjudged: int
    """Trajectories without a reward."""
    auroc: float
    """Chance that a right attempt is paid more than a wrong one, ties half; NaN without both."""
    overpaid: float
    """Mean reward minus mean truth over the attempts that have both."""
    paid_but_wrong: tuple[Attempt, ...]
    """Wrong attempts that are paid, most paid first."""


@dataclass(frozen=True, repr=False)
class DesignComparison:
    """Two designs on the same attempts."""

    a: DesignReport
    """The first design."""
    b: DesignReport
    """The second."""
    truth: np.ndarray
    """(N,) 1.0 = right; NaN = not known."""
    num_pairs: int
    """Pairs of one group whose rewards both designs know."""
    kendall_tau: float
    """Rank correlation (tau-b) over these pairs: 1 = same order, -1 = reversed; NaN if one of the
    designs ties every pair."""
    discordant: float
    """Share of these pairs that the two designs order in opposite ways."""
    flips: tuple[Attempt, ...]
    """Attempts that one design makes more likely and the other less."""
    labels: tuple[str, str] = ("a", "b")
    """What the two designs are called."""

    def __repr__(self) -> str:
        width = max(9, *(len(label) + 2 for label in self.labels))
        lines = [" " * 24 + "".join(f"{label:>{width}}" for label in self.labels)]
        for label, name in (
            ("dead groups", "dead_share"),
            ("AUROC against the truth", "auroc"),
            ("paid minus true", "overpaid"),
        ):
            values = (getattr(self.a, name), getattr(self.b, name))
            lines.append(f"{label:24}" + "".join(f"{v:{width}.3f}" for v in values))
        counts = (len(self.a.paid_but_wrong), len(self.b.paid_but_wrong))
        lines.append(f"{'paid but wrong':24}" + "".join(f"{n:{width}d}" for n in counts))
        lines.append(
            f"Kendall's tau {self.kendall_tau:.3f}, {self.discordant:.1%} of {self.num_pairs} "
            f"pairs in the opposite order, {len(self.flips)} advantages of the opposite sign"
        )
        return "\n".join(lines)


def compare_designs(
    scores_a: Scores,
    scores_b: Scores,
    truth: str | np.ndarray = "hidden",
    *,
    scale: Scale = "std",
    ddof: int = 1,
    paid_above: float = 0.0,
    labels: Sequence[str] = ("a", "b"),
) -> DesignComparison:
    """What changes if the attempts are paid by one design and not by the other.

    Args:
        scores_a, scores_b: of the same groups in the same order.
        truth: a suite: right = every test of it passed; or (N,) numbers, 1.0 = right, NaN = not
            known.
        scale, ddof: how rewards become advantages, as in `Scores.advantages`.
        paid_above: a wrong attempt counts as paid if its reward is more than this.
        labels: what the two designs are called, in tables and pictures.
    Raises:
        ValueError: if the attempts differ, `truth` has another length, or there are not two labels.
    """
    if not (isinstance(scores_a, Scores) and isinstance(scores_b, Scores)):
        kinds = f"{type(scores_a).__name__} and {type(scores_b).__name__}"
        raise ValueError(
            f"expected two Scores, got {kinds}; make them with Scores.of(run, None, design)"
        )
    if not _same_attempts(scores_a, scores_b):
        raise ValueError(
            f"expected scores of the same attempts, got {_described(scores_a)} and "
            f"{_described(scores_b)}; call Scores.of twice with the same groups"
        )
    right = scores_a.truth(truth) if isinstance(truth, str) else np.asarray(truth, dtype=float)
    if right.shape != scores_a.group.shape:
        raise ValueError(
            f"truth: expected a suite or ({len(scores_a.group)},) numbers, got shape {right.shape}"
        )
    a, b = (_report(s, right, scale, ddof, paid_above) for s in (scores_a, scores_b))
    num_pairs, tau, discordant = _order(scores_a, a.rewards, b.rewards)
    flipped = _signs(a.advantages) * _signs(b.advantages) < 0
    flips = tuple(_attempts(scores_a, np.flatnonzero(flipped)))
    return DesignComparison(a, b, right, num_pairs, tau, discordant, flips, two_labels(labels))


def two_labels(labels: Sequence[str]) -> tuple[str, str]:
    """The labels of two designs. Raises ValueError if these are not two texts."""
    if isinstance(labels, str) or len(labels) != 2:
        raise ValueError(f"labels: expected two, one for each design, got {labels!r}")
    return labels[0], labels[1]


def _report(
    scores: Scores, right: np.ndarray, scale: Scale, ddof: int, paid_above: float
) -> DesignReport:
    rewards, advantages = scores.rewards(), scores.advantages(scale, ddof)
    alive = np.zeros(len(scores.groups), dtype=bool)
    np.logical_or.at(alive, scores.group, _signs(advantages) != 0)
    both = ~np.isnan(rewards) & ~np.isnan(right)
    wrong = np.flatnonzero(both & (right < 1.0) & (rewards > paid_above))
    return DesignReport(
        rewards=rewards,
        advantages=advantages,
        dead_share=float(1.0 - alive.mean()),
        num_unjudged=int(np.isnan(rewards).sum()),
        auroc=auroc(rewards[both], right[both] >= 1.0),
        overpaid=float(rewards[both].mean() - right[both].mean()) if both.any() else float("nan"),
        paid_but_wrong=tuple(_attempts(scores, wrong[np.argsort(-rewards[wrong], kind="stable")])),
    )


def _order(scores: Scores, a: np.ndarray, b: np.ndarray) -> tuple[int, float, float]:
    """(pairs, tau-b, share of discordant pairs) over all pairs inside a group."""
    grid_a, grid_b = scores.grid(a), scores.grid(b)
    first, second = np.triu_indices(grid_a.shape[1], k=1)
    sign_a = np.sign(grid_a[:, first] - grid_a[:, second])  # (B, pairs)
    sign_b = np.sign(grid_b[:, first] - grid_b[:, second])
    known = ~np.isnan(sign_a) & ~np.isnan(sign_b)
    sign_a, sign_b = sign_a[known], sign_b[known]
    num_pairs, product = len(sign_a), sign_a * sign_b
    ordered = np.sqrt(float((sign_a != 0).sum()) * float((sign_b != 0).sum()))
    tau = float(product.sum() / ordered) if ordered else float("nan")
    return num_pairs, tau, float((product < 0).sum() / num_pairs) if num_pairs else float("nan")


def _signs(advantages: np.ndarray) -> np.ndarray:
    """-1, 0 or 1; rounding errors and NaN are 0."""
    return np.where(np.abs(advantages) > ZERO, np.sign(advantages), 0.0)


def _attempts(scores: Scores, rows: np.ndarray) -> list[Attempt]:
    return [(int(scores.group[row]), int(scores.trajectory[row])) for row in rows]


def _same_attempts(a: Scores, b: Scores) -> bool:
    return len(a.groups) == len(b.groups) and all(
        x is y or (x.task_id == y.task_id and x.trajectories == y.trajectories)
        for x, y in zip(a.groups, b.groups)
    )


def _described(scores: Scores) -> str:
    return f"{len(scores.raw)} of {len(scores.groups)} groups"
