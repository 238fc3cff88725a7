"""Learning curves: how the solve rate moves from base through RFT to RL, with intervals.

Stage: reading. In: runs (still running, or loaded from disk), of which only `.metrics` is read;
out: a figure. The pale line is the attempts that are learned from; dots with bars are evaluations
on tasks that are never trained on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from matplotlib.figure import Figure

from workbench.plots import style
from workbench.plots.averages import draw_seeds, moving_average
from workbench.stats import Interval, mean_interval

NAMES = {"rft": "RFT", "rl": "RL"}
"""Stage -> what it is called in a sentence."""
SPREAD = 5
"""Iterations in the moving average of the line."""
ARM_LOOKS = ((style.BLUE, "-"), (style.VERMILLION, "--"), (style.GREEN, ":"))
"""(colour, line) of the first, second and third arm that are compared."""


class HasMetrics(Protocol):
    """A run: a `Run` that is going on, or a `RunRecord`."""

    @property
    def metrics(self) -> Sequence[Mapping[str, Any]]:
        """Rows, oldest first."""


@dataclass(frozen=True)
class Evaluated:
    """One evaluation on unseen tasks."""

    attempts: int
    """Training attempts made before it."""
    stage: str
    """Stage it ends or interrupts: "base", "rft" or "rl"."""
    rate: Interval
    """Solve rate with its interval."""


@dataclass(frozen=True)
class Curve:
    """What is drawn of one run; positions on the x axis are training attempts made so far."""

    batches: tuple[tuple[float, float], ...]
    """(middle of the iteration, share of its attempts that solved their task)."""
    evaluations: tuple[Evaluated, ...]
    """In order."""
    spans: Mapping[str, tuple[int, int]]
    """Stage -> (first, last) attempt."""
    imitated: tuple[int, int] | None
    """(attempts made before, number imitated) of the rejection fine-tuning; None without one."""


def read_curve(metrics: Sequence[Mapping[str, Any]]) -> Curve:
    """The curve in a run's rows of metrics."""
    attempts, batches, evaluations, spans, imitated = 0, [], [], {}, None
    for row in metrics:
        if row["kind"] == "iteration":
            if row["solved_share"] is not None:
                batches.append((attempts + row["num_rollouts"] / 2, row["solved_share"]))
            first = spans.get(row["stage"], (attempts, 0))[0]
            attempts += row["num_rollouts"]
            spans[row["stage"]] = (first, attempts)
        elif row["kind"] == "fine_tuning":
            imitated = attempts, row["num_examples"]
        elif row["kind"] == "evaluation":
            rate = Interval(row["solve_rate"], row["low"], row["high"], row["interval"])
            evaluations.append(Evaluated(attempts, row["stage"], rate))
    return Curve(tuple(batches), tuple(evaluations), spans, imitated)


def learning_curve(
    runs: HasMetrics | Sequence[HasMetrics], *, title: str = "", final: Interval | None = None
) -> Figure:
    """Solve rate against training attempts, for one run or for several seeds of one recipe.

    Args:
        runs: with several, pale lines are the runs and the bars Student's interval over seeds.
        final: a last evaluation, made apart from the run, drawn as a diamond at its end.
    Returns:
        A figure; empty axes if there are no rows yet.
    """
    runs = [runs] if hasattr(runs, "metrics") else list(runs)
    curves = [read_curve(run.metrics) for run in runs]
    figure = style.new_figure(4.0)
    axes = figure.subplots()
    for number, curve in enumerate(curves):
        _draw_batches(axes, curve, alone=len(curves) == 1, first=number == 0)
    _draw_evaluations(axes, _merged(curves))
    if final is not None:
        end = max([e for _, e in curves[0].spans.values()], default=0)
        _error_bar(axes, end, final, "D", style.VERMILLION)
    style.tidy(axes, title=title, x="attempts at training tasks so far", y="tasks solved")
    style.percent(axes, _ceiling(curves, final))
    axes.set_xlim(left=-0.01 * max(axes.get_xlim()[1], 1))
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    _name_stages(axes, curves)
    if axes.get_legend_handles_labels()[1]:
        figure.legend(loc="outside lower center", ncols=2, frameon=False)
    return figure


def compared_curves(
    panels: Mapping[str, Mapping[str, Sequence[Sequence[float]]]], *, y: str = "attempts solved"
) -> Figure:
    """Learning curves of several ways of training, a panel a starting point.

    Args:
        panels: title -> {arm: (seeds, iterations) shares}; at most as many arms as ARM_LOOKS.
        y: what the shares are of.
    Returns:
        A figure: means over seeds of moving averages, with Student's interval as a band.
    Raises:
        ValueError: if a panel has no arms, or too many.
    """
    figure = style.new_figure(3.8)
    axes_of = figure.subplots(1, len(panels), squeeze=False)[0]
    for axes, (title, arms) in zip(axes_of, panels.items(), strict=True):
        if not 1 <= len(arms) <= len(ARM_LOOKS):
            raise ValueError(f"{title}: expected 1 to {len(ARM_LOOKS)} arms, got {list(arms)}")
        top = 0.0
        for (colour, line), (name, seeds) in zip(ARM_LOOKS, arms.items(), strict=False):
            drawn = draw_seeds(axes, seeds, SPREAD, colour=colour, line=line, label=name)
            top = max(top, drawn)
        style.tidy(axes, title=title, x="RL iteration", y=y if axes is axes_of[0] else "")
        style.percent(axes, min(1.05, 1.15 * top) or 1.05)
    figure.legend(*axes_of[0].get_legend_handles_labels(), loc="outside lower center",
                  ncols=len(ARM_LOOKS), frameon=False)  # fmt: skip
    return figure


def summary_line(run: HasMetrics) -> str:
    """The newest figures, e.g. "RL iteration 7 of 40: solved 41.4% of its 128 attempts"."""
    curve = read_curve(run.metrics)
    iterations = [row for row in run.metrics if row["kind"] == "iteration"]
    if not iterations:
        return "no iteration is over yet"
    last = iterations[-1]
    share = "none" if last["solved_share"] is None else f"{last['solved_share']:.1%}"
    words = f"{NAMES[last['stage']]} iteration {last['iteration'] + 1} of {last['num_iterations']}"
    words += f": solved {share} of its {last['num_rollouts']} attempts"
    if curve.evaluations:
        words += f"; unseen tasks {curve.evaluations[-1].rate.percent()}"
    left = getattr(getattr(run, "progress", None), "left_s", None)
    return words if not left else f"{words}; {left / 60:.1f} min left"


def _draw_batches(axes, curve: Curve, *, alone: bool, first: bool) -> None:
    """The attempts learned from: a moving average, of one run every iteration as well."""
    label = "attempts it learns from" if alone else "attempts each run learns from"
    label = label if first else None
    for start, end in curve.spans.values():
        xs, ys = np.array([b for b in curve.batches if start < b[0] < end] or [(0, 0)]).T
        if alone:
            axes.plot(xs, ys, color=style.SKY, alpha=0.35, lw=1, marker=".", ms=4)
        middle, smooth = (moving_average(numbers, SPREAD) for numbers in (xs, ys))
        style_of = {"color": style.SKY, "lw": 2 if alone else 1, "alpha": 1 if alone else 0.7}
        axes.plot(middle, smooth, **style_of, label=label)
        label = None


def _merged(curves: Sequence[Curve]) -> list[Evaluated]:
    """One curve's evaluations, or the means over seeds where every seed has one."""
    if len(curves) == 1:
        return list(curves[0].evaluations)
    merged = []
    for same in zip(*(curve.evaluations for curve in curves), strict=False):
        rate = mean_interval([evaluated.rate.estimate for evaluated in same])
        merged.append(Evaluated(same[0].attempts, same[0].stage, rate))
    return merged


def _draw_evaluations(axes, evaluations: Sequence[Evaluated]) -> None:
    if not evaluations:
        return
    xs = [evaluated.attempts for evaluated in evaluations]
    ys = [evaluated.rate.estimate for evaluated in evaluations]
    axes.plot(xs, ys, color=style.BLUE, lw=1.5, ls=":")
    for number, evaluated in enumerate(evaluations):
        label = "tasks it has never seen, 95 % interval" if number == 0 else None
        _error_bar(axes, evaluated.attempts, evaluated.rate, "o", style.BLUE, label)
    marked = {evaluated.stage: evaluated for evaluated in evaluations}  # the last of each stage
    for evaluated in marked.values():
        axes.annotate(
            f"{evaluated.rate.estimate:.0%}",
            (evaluated.attempts, evaluated.rate.estimate),
            xytext=(7, 7 if evaluated.rate.estimate < 0.9 else -14),  # above stands the title
            textcoords="offset points",
            color=style.BLUE,
            fontweight="bold",
            bbox={"facecolor": "white", "alpha": 0.7, "edgecolor": "none", "pad": 1},
        )


def _error_bar(axes, x: float, rate: Interval, marker: str, colour: str, label=None) -> None:
    below, above = rate.estimate - rate.low, rate.high - rate.estimate
    spread = None if np.isnan([below, above]).any() else [[below], [above]]
    axes.errorbar(
        x, rate.estimate, spread, fmt=marker, color=colour, capsize=3, ms=6, label=label, zorder=3
    )


def _name_stages(axes, curves: Sequence[Curve]) -> None:
    """A pale band for RFT, the stages' names at the top, and what was imitated between them."""
    top, right = axes.get_ylim()[1], max(axes.get_xlim()[1], 1)
    for stage, (first, last) in curves[0].spans.items():
        if stage == "rft":
            axes.axvspan(first, last, color=style.PALE, alpha=0.6, lw=0, zorder=0)
        words = {"rft": "sample with the base", "rl": "RL"}[stage]
        if last - first > len(words) * right / 90:  # else it would run over its neighbours
            middle = (first + last) / 2
            axes.text(middle, top * 0.98, words, ha="center", va="top", color=style.GREY)
    if imitated := [curve.imitated for curve in curves if curve.imitated]:
        where, numbers = imitated[0][0], sorted({number for _, number in imitated})
        axes.axvline(where, color=style.ORANGE, lw=1.5)
        shown = str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"
        words, side = f" RFT: imitate {shown} \n solved attempts ", "right"
        if where < 0.25 * right:
            side = "left"
        axes.text(where, top * 0.9, words, ha=side, va="top", color=style.INK, fontsize=9)


def _ceiling(curves: Sequence[Curve], final: Interval | None) -> float:
    """The y axis ends a fifth above the highest thing drawn, and at 1."""
    heights = [height for curve in curves for _, height in curve.batches]
    heights += [evaluated.rate.high for c in curves for evaluated in c.evaluations]
    heights += [final.high] if final else []
    return min(1.0, 1.2 * max([0.25, *heights]))
