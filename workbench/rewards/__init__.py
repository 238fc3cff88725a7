"""Rewards: what a trajectory is paid, as a sum of named components.

Stage: after grading, before credit. Pure functions of stored records: no code runs, no model is
called, no torch is imported. Components by theme: `outcomes`, `presets`, `conduct`, `changes`,
`quality`, `process`; a design adds them up (`design`, ready-made: `rubrics`); `rescoring` tries
other weights in a moment, `comparing` sets two designs side by side, `storing` keeps one as JSON.
"""

from workbench.rewards.changes import diff_size, diff_within, scope, similarity
from workbench.rewards.comparing import DesignComparison, DesignReport, compare_designs
from workbench.rewards.components import Component, Configured, configured, needs
from workbench.rewards.conduct import (
    abstention,
    intact,
    overlong,
    ran_out,
    repeated,
    tampered,
    tripwires,
    turn_penalty,
    well_formed,
)
from workbench.rewards.design import RewardDesign, totals
from workbench.rewards.outcomes import (
    all_pass,
    compiles,
    early_exit,
    no_regression,
    own_tests_fail_on_base,
    parses,
    pass_fraction,
    skipped_tests,
)
from workbench.rewards.presets import coderl, ppocoder, rltf, stepcoder
from workbench.rewards.process import AGGREGATIONS, aggregate, prm_score
from workbench.rewards.quality import (
    complexity_change,
    faster,
    new_findings,
    no_new_findings,
    no_new_high,
)
from workbench.rewards.rescoring import Scores
from workbench.rewards.rubrics import mergeability
from workbench.rewards.rules import Gate, WeightedComponent

__all__ = [
    "AGGREGATIONS",
    "Component",
    "Configured",
    "DesignComparison",
    "DesignReport",
    "Gate",
    "RewardDesign",
    "Scores",
    "WeightedComponent",
    "abstention",
    "aggregate",
    "all_pass",
    "coderl",
    "compare_designs",
    "compiles",
    "complexity_change",
    "configured",
    "diff_size",
    "diff_within",
    "early_exit",
    "faster",
    "intact",
    "mergeability",
    "needs",
    "new_findings",
    "no_new_findings",
    "no_new_high",
    "no_regression",
    "overlong",
    "own_tests_fail_on_base",
    "parses",
    "pass_fraction",
    "ppocoder",
    "prm_score",
    "ran_out",
    "repeated",
    "rltf",
    "scope",
    "similarity",
    "skipped_tests",
    "stepcoder",
    "tampered",
    "totals",
    "tripwires",
    "turn_penalty",
    "well_formed",
]
