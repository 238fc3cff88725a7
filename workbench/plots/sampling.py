"""pass@k: how far more attempts go, for a policy before and after training.

Stage: reading. In: for each policy, k -> pass@k with its interval; out: a figure. Where the
lower curve reaches the other's first point, more tries have bought what training did.
"""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.figure import Figure

from workbench.plots import style
from workbench.stats import Interval

LOOKS = ((style.BLUE, "o", "-"), (style.VERMILLION, "D", "-"), (style.GREEN, "s", "-"))
"""(colour, marker, line) of the first, second and third policy."""


def pass_at_k_curve(
    curves: Mapping[str, Mapping[int, Interval]], *, title: str = "", tasks: str = "tasks solved"
) -> Figure:
    """pass@k against k, one line a policy, its interval as a band.

    Args:
        curves: name -> {k: pass@k}; at most three. The last one's first point is drawn on as a
            dotted line, to be compared with the others at every k.
        tasks: what the y axis counts.
    Raises:
        ValueError: without curves, with more than three, or with one that has no points.
    """
    if not 1 <= len(curves) <= len(LOOKS) or not all(curves.values()):
        raise ValueError(
            f"curves: expected one to {len(LOOKS)}, each with at least one k, got "
            f"{ {name: list(curve) for name, curve in curves.items()} }"
        )
    figure = style.new_figure(4.2)
    axes = figure.subplots()
    for (colour, marker, line), (name, curve) in zip(LOOKS, curves.items(), strict=False):
        ks = sorted(curve)
        axes.plot(ks, [curve[k].estimate for k in ks], line, marker=marker, color=colour, lw=2,
                  label=name)  # fmt: skip
        axes.fill_between(ks, [curve[k].low for k in ks], [curve[k].high for k in ks],
                          color=colour, alpha=0.15, lw=0)  # fmt: skip
        for k, side in ((ks[0], "left"), (ks[-1], "right")):
            above = curve[k].estimate >= max(c[k].estimate for c in curves.values() if k in c)
            _write(axes, k, curve[k].estimate, side, above, colour)
    last_name, last = list(curves.items())[-1]
    if len(curves) > 1:
        first = last[min(last)].estimate
        axes.axhline(first, ls=":", color=style.GREY, lw=1.2, zorder=0)
        axes.annotate(
            f"{last_name}: one try",
            (0.12, first),
            xycoords=("axes fraction", "data"),
            xytext=(0, -4),
            textcoords="offset points",
            va="top",
            color=style.GREY,
            fontsize=9,
        )
    _axes(axes, curves, title, tasks)
    return figure


def _write(axes, k: int, height: float, side: str, above: bool, colour: str) -> None:
    """The number beside a point: to the right of the first and to the left of the last, above the
    highest curve and below the others."""
    axes.annotate(
        f"{height:.0%}",
        (k, height),
        xytext=(6 if side == "left" else -6, 8 if above else -8),
        textcoords="offset points",
        ha=side,
        va="bottom" if above else "top",
        color=colour,
        fontweight="bold",
        bbox={"facecolor": "white", "alpha": 0.7, "edgecolor": "none", "pad": 1},
    )


def _axes(axes, curves: Mapping[str, Mapping[int, Interval]], title: str, tasks: str) -> None:
    ks = sorted({k for curve in curves.values() for k in curve})
    top = max(interval.high for curve in curves.values() for interval in curve.values())
    style.tidy(axes, title=title, x="tries a task (k)", y=tasks)
    style.percent(axes, min(1.1, max(0.1, 1.15 * top)))
    axes.set_xscale("log", base=2)
    axes.set_xticks(ks, [str(k) for k in ks])
    axes.minorticks_off()
    axes.legend(frameon=False, loc="lower right")
