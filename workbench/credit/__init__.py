"""Credit: from rewards to advantages, a number a trajectory or a turn.

Stage: between rewards and learning. Records and numpy arrays in, arrays out; no torch, no
sampling. `baselines` compares trajectories; the schemes say which turn earned the reward, all with
one signature, `scheme(group, rewards, **options)` (see `turns`). What a scheme needs beyond the
group it was given is stored in the group: `turn_values`, `subset_values`, `agents_values`.
"""

from workbench.credit.agents import (
    agent_shapley,
    by_agent,
    difference_rewards,
    sum_by_agent,
)
from workbench.credit.anchors import gigpo, workspace_and_last_command
from workbench.credit.baselines import (
    decoupled_advantages,
    group_advantages,
    leave_one_out,
    tied,
)
from workbench.credit.calls import Call, calls_of
from workbench.credit.measuring import Agreement, agreement, rank_of_turn
from workbench.credit.outcomes import broadcast, return_to_go, transitions
from workbench.credit.returns import discounted_returns, generalised_advantages
from workbench.credit.scores import score_changes, turn_scores
from workbench.credit.subsets import deletion, draw_orders, shapley, shapley_values
from workbench.credit.turns import over_spread, per_token, tool_status_rewards
from workbench.credit.values import (
    potential_shaping,
    reroll_advantage,
    reroll_standard_errors,
    rudder,
    seen_passing,
    shaping_rewards,
    turn_gae,
    values_before_turns,
)

__all__ = [
    "Agreement",
    "Call",
    "agent_shapley",
    "agreement",
    "broadcast",
    "by_agent",
    "calls_of",
    "decoupled_advantages",
    "deletion",
    "difference_rewards",
    "discounted_returns",
    "draw_orders",
    "generalised_advantages",
    "gigpo",
    "group_advantages",
    "leave_one_out",
    "over_spread",
    "per_token",
    "potential_shaping",
    "rank_of_turn",
    "reroll_advantage",
    "reroll_standard_errors",
    "return_to_go",
    "rudder",
    "score_changes",
    "seen_passing",
    "shapley",
    "shapley_values",
    "shaping_rewards",
    "sum_by_agent",
    "tied",
    "tool_status_rewards",
    "transitions",
    "turn_gae",
    "turn_scores",
    "values_before_turns",
    "workspace_and_last_command",
]
