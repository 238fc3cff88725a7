"""Credit: from rewards to advantages, a number a trajectory or a turn.

Stage: between rewards and learning. Numpy arrays in and out; no torch, no sampling.
"""

from workbench.credit.baselines import (
    decoupled_advantages,
    group_advantages,
    leave_one_out,
    tied,
)
from workbench.credit.returns import discounted_returns

__all__ = [
    "decoupled_advantages",
    "discounted_returns",
    "group_advantages",
    "leave_one_out",
    "tied",
]
