"""Counterfactuals: what else could have come of an episode, found out by playing it again.

Stage: beside the loop, between sampling and credit. Groups go in; the same groups come out with
what `credit` needs and cannot make itself: `turn_values` (the rest of the episode sampled again
from before each turn, or counted exactly where the policy is small enough for it) and
`subset_values` (some of the commands played again without the others), `agents_values` (some of
several agents played by stand-ins). Where the commands are few, a `World` holds all that they can
lead to.
"""

from workbench.counterfactuals.agents import play_agents
from workbench.counterfactuals.cost import Cost
from workbench.counterfactuals.exact import exact_turn_values
from workbench.counterfactuals.planted import decisive_turn, planted_policy, planted_team
from workbench.counterfactuals.replays import (
    ends_nothing,
    replay,
    replay_subsets,
    replay_without,
)
from workbench.counterfactuals.rerolls import Rerolls, reroll, reroll_many
from workbench.counterfactuals.world import Episode, World, explore

__all__ = [
    "Cost",
    "Episode",
    "Rerolls",
    "World",
    "decisive_turn",
    "ends_nothing",
    "exact_turn_values",
    "explore",
    "planted_policy",
    "planted_team",
    "play_agents",
    "replay",
    "replay_subsets",
    "replay_without",
    "reroll",
    "reroll_many",
]
