"""A group under two designs: who is paid what, for which components, and with which advantage.

Stage: reading. In: scores, advantages and the truth; out: the group's rows in order of reward, and
pictures of them. The widgets draw the same rows as HTML, which follows a slider faster.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from workbench.plots import style
from workbench.records import RewardBreakdown
from workbench.rewards import DesignReport, Scores

COMPONENT_LOOKS = (
    (style.BLUE, ""),
    (style.VERMILLION, "////"),
    (style.GREEN, "...."),
    (style.ORANGE, "\\\\\\\\"),
    (style.PURPLE, "xxxx"),
    (style.SKY, "----"),
    ("#8C6D31", "||||"),
    (style.GREY, "++++"),
)
"""(colour, hatch) of the first, second, ... component of a design; they start anew after the last.
"""
NICE = (1.0, 1.5, 2.0, 3.0, 5.0, 7.5, 10.0)
"""Ends of axes, times a power of ten: few, so that a picture seldom changes its scale."""


@dataclass(frozen=True)
class Ranked:
    """One attempt of a group under one design."""

    place: int | None
    """From 1, equal rewards share one; None = it has no reward."""
    trajectory: int
    """Index in its group."""
    right: bool | None
    """The truth; None = not known."""
    breakdown: RewardBreakdown
    """What it is paid, and for what."""
    advantage: float
    """What training would see of it; NaN where there is no reward."""


def rank_group(
    scores: Scores, report: DesignReport, truth: np.ndarray, group: int
) -> tuple[Ranked, ...]:
    """The attempts of one group, most paid first; those without a reward come last.

    Args:
        scores: of the design that is drawn.
        report: of the same design: its rewards and advantages.
        truth: (N,) 1.0 = right; NaN = not known.
        group: index of the group.
    """
    rows = np.flatnonzero(scores.group == group)
    rewards = report.rewards[rows]
    order = np.argsort(np.where(np.isnan(rewards), np.inf, -rewards), kind="stable")
    return tuple(
        Ranked(
            place=None if np.isnan(report.rewards[row]) else 1 + int((rewards > reward).sum()),
            trajectory=int(scores.trajectory[row]),
            right=None if np.isnan(truth[row]) else bool(truth[row] >= 1.0),
            breakdown=scores.breakdown(int(row)),
            advantage=float(report.advantages[row]),
        )
        for row, reward in zip(rows[order], rewards[order])
    )


def segments(breakdown: RewardBreakdown) -> list[tuple[int, float, float]]:
    """(index of the component, start, end) of each stretch of a stacked bar.

    What is added is stacked to the right of 0, penalties to its left. Components that count as 0,
    were left out or could not judge have none.
    """
    ends, found = {True: 0.0, False: 0.0}, []
    for index, part in enumerate(breakdown.parts):
        value = 0.0 if part.weighted is None or not breakdown.divisor else part.weighted
        if value:
            start = ends[value > 0]
            ends[value > 0] = start + value / breakdown.divisor
            found.append((index, start, ends[value > 0]))
    return found


def extent(ranked: Iterable[Ranked]) -> tuple[float, float]:
    """(low <= 0, high > 0): a scale on which the bars of all these rows can be drawn."""
    ends = [0.0]
    for one in ranked:
        ends += [one.breakdown.total or 0.0, *(end for _, _, end in segments(one.breakdown))]
    return span(ends)


def span(values: Iterable[float]) -> tuple[float, float]:
    """(low <= 0, high > 0) around the values, at ends of axes; NaN aside."""
    known = [v for v in values if not math.isnan(v)]
    low, high = min(known, default=0.0), max(known, default=0.0)
    return 0.0 - nice(-low), nice(high) or (0.0 if low < 0 else 1.0)


def nice(value: float) -> float:
    """The smallest end of an axis that is not below `value`; 0.0 for what is not above 0."""
    if value <= 1e-9:
        return 0.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(n * power for n in NICE if n * power >= value * (1 - 1e-9))


def truth_words(right: bool | None) -> str:
    """The truth as a sign and a word, so that it does not hang on colour."""
    return "? unknown" if right is None else "✓ right" if right else "✗ wrong"


def colours_of(*designs: Sequence[str]) -> dict[str, int]:
    """Component name -> index of its look: the same name looks the same in every design."""
    names = dict.fromkeys(name for design in designs for name in design)
    return {name: i % len(COMPONENT_LOOKS) for i, name in enumerate(names)}


def draw_ranking(axes, ranked: Sequence[Ranked], limits: tuple[float, float], title: str,
                 looks: dict[str, int]) -> None:  # fmt: skip
    """Draw one design's ranking: a stacked bar an attempt, its total, truth and advantage."""
    style.tidy(axes, title=title)
    room = 0.32 * (limits[1] - limits[0])
    for row, one in enumerate(ranked):
        breakdown = one.breakdown
        for index, start, end in segments(breakdown):
            colour, hatch = COMPONENT_LOOKS[looks[breakdown.parts[index].name]]
            alpha = 0.3 if breakdown.blocked else 1.0
            axes.barh(row, end - start, 0.62, start, color=colour, hatch=hatch, alpha=alpha,
                      edgecolor="white", lw=0)  # fmt: skip
        total = breakdown.total
        if total is not None:
            axes.plot([total, total], [row - 0.4, row + 0.4], color=style.INK, lw=2)
        words = "no reward" if total is None else f"{total:.2f}   {one.advantage:+.2f}"
        axes.text(limits[1] + room, row, words, ha="right", va="center", fontsize=8)
    axes.text(limits[1] + room, -0.85, "reward   adv.", ha="right", va="center", fontsize=8,
              color=style.GREY)  # fmt: skip
    names = [f"#{one.trajectory} {truth_words(one.right)}" for one in ranked]
    axes.set_yticks(range(len(ranked)), names, fontsize=8)
    axes.axvline(0, color=style.GREY, lw=0.8, zorder=0)
    axes.set(xlim=(limits[0], limits[1] + room), ylim=(len(ranked) - 0.4, -1.2))
    axes.set_xticks([tick for tick in axes.get_xticks() if limits[0] <= tick <= limits[1]])
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
