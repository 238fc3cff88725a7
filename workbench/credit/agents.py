"""Credit of agents: how much of an attempt's reward is each agent's, when several share it.

Stage: credit. In: what any scheme says of turns, or what the attempt is worth with stand-ins for
some agents (`group.agents_values`, made by `counterfactuals.play_agents`); out: a number an agent
and attempt, or, as a scheme, a number a turn. The difference reward asks what is lost without the
agent and over-counts agents that need each other; Shapley values of agents sum to what there is to
share. Left out: agents whose number changes from attempt to attempt.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import numpy as np

from workbench.credit.baselines import group_advantages
from workbench.credit.subsets import shapley_values
from workbench.credit.turns import checked_rewards, expect_credit
from workbench.records import Group

Shares = Callable[[Group, Sequence[float] | np.ndarray], Mapping[str, np.ndarray]]
"""(group, rewards) -> {agent: (G,) its share of each attempt's reward}."""


def sum_by_agent(group: Group, credit: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
    """{agent: (G,)}: a scheme's credit summed over the turns of each agent.

    0 in an attempt in which the agent did not speak, NaN where one of its turns has NaN. Agents
    come in the order in which they first speak.

    Raises ValueError if `credit` is not one number a turn.
    """
    expect_credit(group, credit)
    names = list(dict.fromkeys(turn.agent for t in group.trajectories for turn in t.turns))
    sums = {name: np.zeros(len(group.trajectories)) for name in names}
    for i, (trajectory, numbers) in enumerate(zip(group.trajectories, credit)):
        for turn, number in zip(trajectory.turns, numbers):
            sums[turn.agent][i] += number
    return sums


def agent_shapley(group: Group, rewards: Sequence[float] | np.ndarray) -> dict[str, np.ndarray]:
    """{agent: (G,)}: each agent's gain when agents take over from stand-ins, one after the other,
    averaged over all orders.

    An attempt's numbers sum to its reward minus what the stand-ins earn by themselves. NaN where
    the reward is, or the attempt has no values.

    Raises:
        ValueError: if the group has no `agents_values`, one is missing, or they are of another
            reward.
    Source: Shapley 1953.
    """
    return _for_each_attempt(group, rewards, shapley_values)


def difference_rewards(
    group: Group, rewards: Sequence[float] | np.ndarray
) -> dict[str, np.ndarray]:
    """{agent: (G,)}: the reward minus what the attempt is worth with a stand-in for this agent.

    Does not sum to anything: of two agents that need each other each gets everything. What raises
    an agent's difference reward always raises the reward of all, so each can learn from its own.
    NaN and errors as in `agent_shapley`.

    Source: Wolpert and Tumer 2001 (difference utilities); with a learned critic in the place of
        plays, Foerster et al. 2018 (COMA, arXiv:1705.08926).
    """

    def losses(value: Callable[[frozenset[str]], float], players: tuple[str, ...]):
        everyone = frozenset(players)
        return {player: value(everyone) - value(everyone - {player}) for player in players}

    return _for_each_attempt(group, rewards, losses)


def by_agent(
    group: Group,
    rewards: Sequence[float] | np.ndarray,
    *,
    shares: Shares = agent_shapley,
    scale: Literal["std", "none"] = "std",
    ddof: int = 1,
    eps: float = 1e-4,
) -> list[np.ndarray]:
    """A scheme: an agent's share of this attempt against its shares of the group's other attempts,
    on each of its turns. Broadcast, with a reward for each agent in the place of one for all.

    Args:
        shares: `agent_shapley`, `difference_rewards`, or one of yours.
        scale, ddof, eps: as in `group_advantages`.
    Returns:
        G arrays of shape (K,), NaN where the agent's share is.
    Raises:
        ValueError: as `shares` does, or if an agent has no share.
    """
    advantages = {
        name: group_advantages(share[None], scale=scale, ddof=ddof, eps=eps)[0]
        for name, share in shares(group, rewards).items()
    }
    speakers = {turn.agent for t in group.trajectories for turn in t.turns}
    if strangers := sorted(speakers - set(advantages)):
        raise ValueError(f"shares: expected one for {strangers}, got {sorted(advantages)}")
    return [
        np.array([advantages[turn.agent][i] for turn in trajectory.turns])
        for i, trajectory in enumerate(group.trajectories)
    ]


def _for_each_attempt(group: Group, rewards, share) -> dict[str, np.ndarray]:
    """`share(value, agents)` for every attempt that was judged and played."""
    rewards = checked_rewards(group, rewards)
    if not group.agents_values:
        raise ValueError(
            "the group has no agents_values; make them with counterfactuals.play_agents(team, "
            "stand_ins, group, task, sandbox)"
        )
    everyone = max((v.agents for v in group.agents_values), key=len)
    shares = {name: np.full(len(rewards), np.nan) for name in everyone}
    for i, reward in enumerate(rewards):
        own = [v for v in group.agents_values if v.trajectory_index == i]
        known = {frozenset(v.agents): v.value for v in own}
        if np.isnan(reward) or not known:
            continue
        _require_whole(known, everyone, reward, i)
        for name, number in share(known.__getitem__, everyone).items():
            shares[name][i] = number
    return shares


def _require_whole(
    known: Mapping[frozenset[str], float], everyone: Sequence[str], reward: float, i: int
) -> None:
    if len(known) != 2 ** len(everyone):
        raise ValueError(
            f"agents_values: expected one for each choice of {list(everyone)} in trajectory {i}, "
            f"{2 ** len(everyone)} in all, got {sorted(map(sorted, known))}"
        )
    if not np.isclose(known[frozenset(everyone)], reward):
        raise ValueError(
            f"rewards: trajectory {i} has reward {reward}, its agents_values say "
            f"{known[frozenset(everyone)]}; give play_agents the design that made the rewards"
        )
