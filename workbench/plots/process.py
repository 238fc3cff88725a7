"""Pictures of process rewards: can the scores be trusted, what do they choose, what do they breed?

Stage: reading. Numbers that were measured in, figures out; no model is called.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from matplotlib.figure import Figure

from workbench.plots import style
from workbench.plots.averages import draw_seeds

LOOKS = (
    (style.BLUE, "-", "o"),
    (style.VERMILLION, "--", "D"),
    (style.GREEN, "-.", "s"),
    (style.PURPLE, ":", "^"),
    (style.ORANGE, "-", "v"),
    (style.SKY, "--", "P"),
    (style.GREY, ":", "x"),
    (style.INK, "-", ""),
)
"""(colour, line, marker) of the first, second, ... line."""
PER_ROW = 4
"""Panels side by side."""
PAID_SPREAD = 3
"""Iterations in the moving average of what was paid and solved: such runs are short."""


class HasBin(Protocol):
    """A row of a reliability table."""

    num_turns: int
    predicted: float
    observed: float


def reliability_diagram(tables: Mapping[str, Sequence[HasBin]]) -> Figure:
    """What was predicted against what came true, a line a model; on the diagonal all is well.

    Args:
        tables: name -> bins of a reliability table. The size of a mark is the share of turns in
            the bin; empty bins are left out.
    Raises:
        ValueError: for more tables than LOOKS.
    """
    _fits(tables)
    figure = style.new_figure(4.2)
    axes = figure.subplots()
    axes.plot([0, 1], [0, 1], color=style.PALE, lw=2, zorder=0)
    for (colour, line, marker), (name, bins) in zip(LOOKS, tables.items(), strict=False):
        filled = [b for b in bins if b.num_turns]
        xs, ys = [b.predicted for b in filled], [b.observed for b in filled]
        total = sum(b.num_turns for b in filled)
        axes.plot(xs, ys, line, color=colour, lw=1.5, label=name)
        axes.scatter(xs, ys, [20 + 300 * b.num_turns / total for b in filled], color=colour,
                     marker=marker or "o", alpha=0.6, linewidths=0)  # fmt: skip
    style.tidy(axes, title="What the score promises and what comes of it", x="score of the turn",
               y="measured chance of success")  # fmt: skip
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.legend(frameon=False, loc="upper left")
    return figure


def choosing_curve(
    curves: Mapping[str, Sequence[float]], sizes: Sequence[int], *, title: str = "Best of N"
) -> Figure:
    """Share of tasks solved when one of N attempts is handed in, a line a way to choose.

    Args:
        curves: name -> a number for each of `sizes`.
    Raises:
        ValueError: for more curves than LOOKS.
    """
    _fits(curves)
    figure = style.new_figure(4.2)
    axes = figure.subplots()
    for (colour, line, marker), (name, shares) in zip(LOOKS, curves.items(), strict=False):
        axes.plot(sizes, shares, line, marker=marker, color=colour, lw=2, label=name)
    style.tidy(axes, title=title, x="attempts to choose from, N", y="tasks solved")
    axes.set_xscale("log", base=2)
    axes.set_xticks(list(sizes), [str(n) for n in sizes])
    style.percent(axes, min(1.05, 1.1 * max(max(shares) for shares in curves.values())) or 1.05)
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def paid_and_true(panels: Mapping[str, Mapping[str, Sequence[Sequence[float]]]]) -> Figure:
    """What a reward paid and what was really solved, iteration by iteration, a panel a reward.

    Args:
        panels: title -> {"paid": (seeds, iterations), "solved": the same}. Drawn are means over
            seeds of moving averages over three iterations; of several seeds with Student's
            interval as a band.
    Raises:
        ValueError: without panels.
    """
    if not panels:
        raise ValueError("panels: expected at least one, got none")
    rows = -(-len(panels) // PER_ROW)
    figure = style.new_figure(0.6 + 2.1 * rows)
    grid = figure.subplots(rows, min(len(panels), PER_ROW), sharex=True, sharey=True, squeeze=False)
    for axes in list(grid.flat)[len(panels) :]:
        axes.set_visible(False)
    looks = {"solved": ("really solved (hidden tests)", style.BLUE, "-"),
             "paid": ("reward it was paid", style.ORANGE, "--")}  # fmt: skip
    for axes, (title, lines) in zip(grid.flat, panels.items(), strict=False):
        for what, (words, colour, line) in looks.items():
            draw_seeds(axes, lines[what], PAID_SPREAD, colour=colour, line=line, label=words)
        style.tidy(axes, title=title)
        axes.title.set_fontsize(9)
        style.percent(axes, 1.03)
    for axes in list(grid.flat)[max(0, len(panels) - grid.shape[1]) : len(panels)]:
        axes.set_xlabel("RL iteration", color=style.INK)  # the lowest panel of its column
        axes.tick_params(labelbottom=True)
    figure.legend(*grid.flat[0].get_legend_handles_labels(), loc="outside lower center", ncols=2,
                  frameon=False)  # fmt: skip
    return figure


def _fits(lines: Mapping) -> None:
    if not 1 <= len(lines) <= len(LOOKS):
        raise ValueError(f"expected 1 to {len(LOOKS)} lines, got {list(lines)}")
