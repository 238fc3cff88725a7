"""A rubric as a reward design: would a maintainer merge this?

Stage: rewards. Components in, a `RewardDesign` with blockers and a normalised sum out. Left out:
judgements of a model; hand one in as an item where you have it.
"""

from __future__ import annotations

from collections.abc import Mapping

from workbench.rewards.changes import diff_within, scope
from workbench.rewards.components import Component
from workbench.rewards.conduct import intact
from workbench.rewards.design import RewardDesign
from workbench.rewards.outcomes import all_pass, no_regression, own_tests_fail_on_base
from workbench.rewards.quality import complexity_change, no_new_findings, no_new_high

Items = Mapping[str, tuple[Component, float]]
"""Name -> (component in [0, 1], weight)."""

BLOCKERS: Items = {
    "tests": (all_pass("hidden"), 3.0),
    "regressions": (no_regression, 2.0),
    "intact": (intact, 0.0),
    "secure": (no_new_high, 0.0),
}
"""What has to hold for a change to be merged at all; weight 0 = it earns nothing beside that."""
ITEMS: Items = {
    "own_tests": (own_tests_fail_on_base, 2.0),
    "scope": (scope(), 2.0),
    "lint": (no_new_findings("lint"), 1.0),
    "size": (diff_within(3.0), 1.0),
    "complexity": (complexity_change(0.2), 1.0),
}
"""What makes it better."""


def mergeability(*, blockers: Items = BLOCKERS, items: Items = ITEMS) -> RewardDesign:
    """A design in the manner of FrontierCode: the weighted share of what holds, 0 if a blocker
    fails.

    The total is in [0, 1]: the weights of what holds over the weights of what could be judged. An
    item that cannot be judged leaves both sums and is counted; a blocker that cannot be judged
    leaves no total.

    Args:
        blockers, items: other ones, for instance `{**ITEMS, "judge": (mine, 1.0)}`. The ones above
            need the collectors "diff", "tampering", "lint" and "security" and the suite
            "agent_on_base".
    Raises:
        ValueError: as `RewardDesign`, or if a name is a blocker and an item.
    Source: Cognition 2026 (FrontierCode), scaled down; the weights are ours.
    """
    if both := sorted(set(blockers) & set(items)):
        raise ValueError(f"mergeability: {both} cannot be blockers and items at once")
    design = RewardDesign(optional=tuple(items), **blockers, **items)
    return design.blockers(*blockers).normalised()
