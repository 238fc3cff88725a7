"""Rewards: what a trajectory is paid, as a sum of named components.

Stage: after grading, before credit. Pure functions of stored records: no code runs, no model is
called, no torch is imported.
"""

from workbench.rewards.components import (
    Component,
    Configured,
    all_pass,
    compiles,
    configured,
    pass_fraction,
    ran_out,
    tampered,
    turn_penalty,
)
from workbench.rewards.design import RewardDesign, WeightedComponent, totals

__all__ = [
    "Component",
    "Configured",
    "RewardDesign",
    "WeightedComponent",
    "all_pass",
    "compiles",
    "configured",
    "pass_fraction",
    "ran_out",
    "tampered",
    "totals",
    "turn_penalty",
]
