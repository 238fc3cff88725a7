"""Rewards: what a trajectory is paid, as a sum of named components.

Stage: after grading, before credit. Pure functions of stored records: no code runs, no model is
called, no torch is imported.
"""

from workbench.rewards.comparing import DesignComparison, DesignReport, compare_designs
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
from workbench.rewards.design import RewardDesign, totals
from workbench.rewards.rescoring import Scores
from workbench.rewards.rules import Gate, WeightedComponent

__all__ = [
    "Component",
    "DesignComparison",
    "DesignReport",
    "Configured",
    "Gate",
    "RewardDesign",
    "Scores",
    "WeightedComponent",
    "all_pass",
    "compare_designs",
    "compiles",
    "configured",
    "pass_fraction",
    "ran_out",
    "tampered",
    "totals",
    "turn_penalty",
]
