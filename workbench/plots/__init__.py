"""Figures from records: read only, `matplotlib.figure.Figure`, never pyplot.

Stage: reading. In: groups, trajectories, a run's metrics; out: figures (`save_png` writes one).
"""

from workbench.plots.behaviour import (
    actions_by_turn,
    episode,
    episode_side_by_side,
    instructive_pair,
    shares_by_turn,
    verdict_words,
    what_follows,
)
from workbench.plots.comparing import designs, reward_mixer
from workbench.plots.curves import compared_curves, learning_curve, read_curve, summary_line
from workbench.plots.honesty import honesty_curve
from workbench.plots.process import choosing_curve, paid_and_true, reliability_diagram
from workbench.plots.sampling import pass_at_k_curve
from workbench.plots.style import save_png

__all__ = [
    "actions_by_turn",
    "choosing_curve",
    "compared_curves",
    "designs",
    "episode",
    "episode_side_by_side",
    "honesty_curve",
    "instructive_pair",
    "learning_curve",
    "paid_and_true",
    "pass_at_k_curve",
    "read_curve",
    "reliability_diagram",
    "reward_mixer",
    "save_png",
    "shares_by_turn",
    "summary_line",
    "verdict_words",
    "what_follows",
]
