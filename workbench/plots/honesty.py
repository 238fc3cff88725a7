"""What a reward reports beside what is true: the picture of reward hacking.

Stage: reading. In: runs with different rewards; out: one panel a run. Reported is what the reward
paid; true is the share that passes the hidden tests, which the reward may never have seen.
"""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.figure import Figure

from workbench.plots import style
from workbench.plots.curves import HasMetrics

LINES = {
    "solved_share": ("really solved (hidden tests)", style.BLUE, "-"),
    "edited_tests_share": ("edited the tests", style.PURPLE, ":"),
    "reward_mean": ("reward it was paid", style.ORANGE, "--"),
}
"""Column of the metrics -> (words, colour, line)."""


def honesty_curve(runs: Mapping[str, HasMetrics]) -> Figure:
    """One panel a run: reward paid, hidden truth and tests edited, by RL iteration.

    Args:
        runs: panel title -> run with RL iterations. Two to four are readable.
    Raises:
        ValueError: if a run has no RL iterations.
    """
    figure = style.new_figure(3.6)
    panels = figure.subplots(1, len(runs), sharey=True, squeeze=False)[0]
    for axes, (title, run) in zip(panels, runs.items(), strict=True):
        rows = [r for r in run.metrics if r["kind"] == "iteration" and r["stage"] == "rl"]
        if not rows:
            raise ValueError(f"run {title!r}: expected RL iterations, found none in its metrics")
        xs = [row["iteration"] + 1 for row in rows]
        for column, (words, colour, line) in LINES.items():
            ys = [float("nan") if row[column] is None else row[column] for row in rows]
            axes.plot(xs, ys, line, color=colour, lw=2, label=words)
        style.tidy(axes, title=title, x="RL iteration")
        axes.axhline(0, color=style.PALE, lw=1, zorder=0)
    style.percent(panels[0])
    panels[0].set_ylim(-0.08, 1.03)
    panels[0].set_ylabel("share of attempts")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3,
                  frameon=False)  # fmt: skip
    return figure
