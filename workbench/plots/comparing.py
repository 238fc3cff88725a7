"""Two reward designs side by side: what each pays for right and for wrong attempts.

Stage: reading. In: a `DesignComparison`; out: a figure with the rewards of right attempts above a
line, those of wrong ones below it, and the numbers. `reward_mixer` adds the ranking of one group:
the still of the widget of that name.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from workbench.plots import style
from workbench.plots.ranking import (
    COMPONENT_LOOKS,
    colours_of,
    draw_ranking,
    extent,
    rank_group,
    span,
)
from workbench.rewards import DesignComparison, Scores

NUM_BINS = 40
"""Places along the axis of rewards."""


def reward_counts(
    rewards: np.ndarray, truth: np.ndarray, limits: tuple[float, float]
) -> list[tuple[float, int, int]]:
    """(reward, number of right attempts, number of wrong ones) at each place that has any.

    Places are NUM_BINS to the axis, with one of them at 0. Attempts that lack a reward or a truth
    are left out.
    """
    width = (limits[1] - limits[0]) / NUM_BINS
    both = ~np.isnan(rewards) & ~np.isnan(truth)
    places = np.rint(rewards[both] / width).astype(int)
    right = truth[both] >= 1.0
    return [
        (float(place * width), int((at & right).sum()), int((at & ~right).sum()))
        for place in np.unique(places)
        for at in [places == place]
    ]


def number_rows(comparison: DesignComparison) -> list[tuple[str, str, str, str]]:
    """(what, of the first design, of the second, what it means) as texts, row by row."""
    both = (comparison.a, comparison.b)
    rows = [
        ("dead groups", [f"{r.dead_share:.1%}" for r in both],
         "share of groups in which every advantage is 0: nothing is learned from them"),
        ("AUROC against the truth", [_decimal(r.auroc, "{:.3f}") for r in both],
         "chance that a right attempt is paid more than a wrong one; ties count half"),
        ("paid minus true", [_decimal(r.overpaid, "{:+.3f}") for r in both],
         "mean reward minus the share of right attempts"),
        ("paid but wrong", [f"{len(r.paid_but_wrong):,}" for r in both],
         "wrong attempts with a reward above 0"),
        ("without a reward", [f"{r.num_unjudged:,}" for r in both],
         "attempts that a component could not judge; they are left out of training"),
    ]  # fmt: skip
    return [(label, *values, meaning) for label, values, meaning in rows]


def agreement_words(comparison: DesignComparison) -> str:
    """One sentence: how far the two designs agree."""
    tau = _decimal(comparison.kendall_tau, "{:.2f}")
    return (
        f"Between the two: Kendall's tau {tau}, {comparison.discordant:.1%} of "
        f"{comparison.num_pairs:,} pairs in opposite order, {len(comparison.flips):,} attempts "
        "pushed in opposite directions."
    )


def reward_span(comparison: DesignComparison) -> tuple[float, float]:
    """(low, high): the axis on which the rewards of both designs can be drawn."""
    return span(np.concatenate([comparison.a.rewards, comparison.b.rewards]).tolist())


def designs(comparison: DesignComparison) -> Figure:
    """Rewards against the truth under two designs, with the numbers beneath.

    Args:
        comparison: from `rewards.compare_designs`, which also says what the two are called.
    """
    figure = style.new_figure(3.6)
    _draw_comparison(figure, comparison)
    return figure


def reward_mixer(a: Scores, b: Scores, comparison: DesignComparison, group: int) -> Figure:
    """The ranking of one group under two designs, and all attempts beneath.

    Args:
        a, b: scores of the same attempts under the two designs.
        comparison: of these two, from `rewards.compare_designs`.
        group: index of the group whose ranking is drawn.
    """
    ranked = [
        rank_group(scores, report, comparison.truth, group)
        for scores, report in ((a, comparison.a), (b, comparison.b))
    ]
    height = 1.3 + 0.25 * len(ranked[0])
    figure = style.new_figure(height + 3.6)
    upper, lower = figure.subfigures(2, 1, height_ratios=(height, 3.6))
    names = [[c.name for c in scores.design.components] for scores in (a, b)]
    looks, limits = colours_of(*names), extent(ranked[0] + ranked[1])
    for axes, rows, label in zip(upper.subplots(1, 2), ranked, comparison.labels):
        draw_ranking(axes, rows, limits, f"{label}: group {group}", looks)
    patches = [
        Patch(facecolor=colour, hatch=hatch, edgecolor="white", lw=0, label=name)
        for name, look in looks.items()
        for colour, hatch in [COMPONENT_LOOKS[look]]
    ]
    upper.legend(handles=patches, loc="outside lower center", ncols=4, frameon=False, fontsize=8)
    _draw_comparison(lower, comparison)
    return figure


def _draw_comparison(figure, comparison: DesignComparison) -> None:
    limits = reward_span(comparison)
    width = (limits[1] - limits[0]) / NUM_BINS
    panels = figure.subplots(1, 2, sharey=True)
    for axes, report, label in zip(panels, (comparison.a, comparison.b), comparison.labels):
        counts = reward_counts(report.rewards, comparison.truth, limits)
        places = [place for place, _, _ in counts]
        axes.bar(places, [n for _, n, _ in counts], width, color=style.INK, label="✓ right")
        axes.bar(places, [-n for _, _, n in counts], width, color=style.PALE, hatch="////",
                 edgecolor=style.GREY, lw=0, label="✗ wrong")  # fmt: skip
        style.tidy(axes, title=label, x="reward", y="attempts" if axes is panels[0] else "")
        axes.axhline(0, color=style.INK, lw=0.8)
        axes.axvline(0, color=style.GREY, lw=0.8, ls=":")
        axes.set_xlim(limits[0] - width, limits[1] + width)
        axes.yaxis.set_major_formatter(lambda value, _: f"{abs(value):g}")
    panels[0].legend(frameon=False, fontsize=8)
    lines = [f"{what}: {x} | {y}" for what, x, y, _ in number_rows(comparison)]
    figure.supxlabel(
        " · ".join(lines[:3]) + "\n" + " · ".join(lines[3:]) + "\n" + agreement_words(comparison),
        fontsize=8, color=style.INK,
    )  # fmt: skip


def _decimal(value: float, pattern: str) -> str:
    return "–" if np.isnan(value) else pattern.format(value)
