"""Anchor states: turns that started from the same workspace are compared with each other.

Stage: credit. A group and its rewards in, a number a turn out. Attempts at one task often pass
through the same state by themselves, so what followed from there is a comparison that costs no
further sampling. Left out: states that are merely similar.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from typing import Literal

import numpy as np

from workbench.credit.baselines import group_advantages
from workbench.credit.outcomes import broadcast, return_to_go
from workbench.credit.turns import TurnRewards, checked_rewards, rewards_of_turns
from workbench.records import Group, Trajectory


def workspace_and_last_command(trajectory: Trajectory, k: int) -> Hashable:
    """The state before turn k: the workspace's hash and the name of the last command.

    Before the first turn nothing has been said: all attempts at a task start in one state. A
    message that was no command counts as the command "".
    """
    if k == 0:
        return "start"
    last = trajectory.turns[k - 1]
    return last.workspace_hash, last.tool_call.name if last.tool_call else ""


def gigpo(
    group: Group,
    rewards: Sequence[float] | np.ndarray,
    *,
    omega: float = 1.0,
    gamma: float = 0.95,
    turn_rewards: TurnRewards | None = None,
    anchor: Callable[[Trajectory, int], Hashable] = workspace_and_last_command,
    scale: Literal["std", "none"] = "std",
    ddof: int = 1,
    eps: float = 1e-4,
) -> list[np.ndarray]:
    """Group advantage of the attempt plus omega times the turn's advantage among its anchors.

    The first part compares whole attempts; the second compares the discounted returns of all
    turns that started from the same state, and is 0 for a state that was visited once.

    Args:
        omega: weight of the second part.
        gamma: discount a turn in the second part: of two ways to the goal the shorter is better.
        turn_rewards: what turns earn by themselves; in both parts.
        anchor: (trajectory, k) -> state before turn k; equal states are compared.
        scale, ddof, eps: of both parts, as in `group_advantages`.
    Returns:
        G arrays of shape (K,), NaN where the reward is.
    Raises:
        ValueError: for shapes that do not fit.
    Source: Feng et al. 2025 (GiGPO, arXiv:2505.10978); the anchor for code is our choice.
    """
    rewards = checked_rewards(group, rewards)
    earned = rewards_of_turns(group, rewards, turn_rewards)
    options = dict(scale=scale, ddof=ddof, eps=eps)
    credit = broadcast(group, np.array([e.sum() for e in earned]), **options)
    returns = return_to_go(group, rewards, gamma=gamma, turn_rewards=turn_rewards, baseline="none")
    visits: dict[Hashable, list[tuple[int, int]]] = defaultdict(list)
    for i, trajectory in enumerate(group.trajectories):
        for k in range(len(trajectory.turns)):
            if not np.isnan(rewards[i]):
                visits[anchor(trajectory, k)].append((i, k))
    for places in visits.values():
        if len(places) > 1:
            here = np.array([[returns[i][k] for i, k in places]])
            for (i, k), value in zip(places, group_advantages(here, **options)[0]):
                credit[i][k] += omega * value
    return credit
