"""Live figures in a notebook. A widget reads a run and may stop it; it never trains.

Stage: reading. In: a running or finished run; out: a widget and, by `.figure()`, a still picture.
"""

from workbench.widgets.credit_viewer import CreditViewer
from workbench.widgets.live_curve import LiveCurve
from workbench.widgets.mask_viewer import MaskViewer
from workbench.widgets.reward_mixer import RewardMixer
from workbench.widgets.trajectory_viewer import TrajectoryViewer

__all__ = ["CreditViewer", "LiveCurve", "MaskViewer", "RewardMixer", "TrajectoryViewer"]
