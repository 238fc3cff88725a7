"""Credit: from rewards to advantages, a number a trajectory or a turn.

Stage: between rewards and learning. Numpy arrays in and out; no torch, no sampling.
"""

from workbench.credit.baselines import group_advantages, leave_one_out, tied
from workbench.credit.returns import discounted_returns

__all__ = ["discounted_returns", "group_advantages", "leave_one_out", "tied"]
