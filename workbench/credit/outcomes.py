"""Schemes that know only what the attempts earned: broadcast, return-to-go, transitions.

Stage: credit. A group and its rewards in, a number a turn out; nothing was sampled for them.
They differ in what a turn is compared with, and not all comparisons are harmless: a baseline must
not depend on what the turn itself led to. Left out: process reward models.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal

import numpy as np

from workbench.credit.baselines import group_advantages
from workbench.credit.returns import discounted_returns
from workbench.credit.turns import (
    TurnRewards,
    checked_rewards,
    over_spread,
    rewards_of_turns,
    spread_over_turns,
)
from workbench.records import Group


def broadcast(
    group: Group,
    rewards: Sequence[float] | np.ndarray,
    *,
    scale: Literal["std", "none"] = "std",
    ddof: int = 1,
    eps: float = 1e-4,
) -> list[np.ndarray]:
    """The attempt's group advantage on each of its turns: GRPO, DAPO, RLOO up to a factor.

    Costs nothing and cannot be wrong on average; every turn of a lucky attempt is praised alike.
    Options and errors as in `group_advantages`.
    """
    rewards = checked_rewards(group, rewards)
    advantages = group_advantages(rewards[None], scale=scale, ddof=ddof, eps=eps)[0]
    return spread_over_turns(group, advantages)


def return_to_go(
    group: Group,
    rewards: Sequence[float] | np.ndarray,
    *,
    gamma: float = 1.0,
    turn_rewards: TurnRewards | None = None,
    baseline: Literal["others", "turn_index", "none"] = "others",
    scale: Literal["std", "none"] = "none",
    ddof: int = 1,
    eps: float = 1e-4,
) -> list[np.ndarray]:
    """What each turn still earns from there on, compared with what attempts at this task earn.

    Without turn rewards and with gamma 1 every turn of an attempt gets the same number, and
    "others" is `leave_one_out`. With turn rewards a turn is no longer praised for what was earned
    before it.

    Args:
        gamma: discount a turn, in [0, 1].
        turn_rewards: what turns earn by themselves; the trajectory's reward joins on the last one.
        baseline: "others": the other attempts' mean return from their first turn on, which the
            turn cannot influence, so the gradient stays right on average. "turn_index": the mean
            over the attempts that reach this turn, the natural choice, and biased where the policy
            decides when to stop: a turn that few others reach is compared with few or nobody, and
            counts less. "none": the plain return.
        scale: "std" divides by the spread of the credit, `turns.over_spread` (with "turn_index": by
            that of the returns at this turn). Not by the spread of what attempts earn in all:
            where all earn the same, turns can still differ, and would be divided by nothing.
        ddof, eps: of that spread, as in `group_advantages`.
    Returns:
        G arrays of shape (K,), NaN where the reward is. An attempt without others gets 0, unless
        baseline is "none".
    Raises:
        ValueError: for shapes that do not fit, or an unknown baseline or scale.
    """
    if baseline not in ("others", "turn_index", "none"):
        raise ValueError(f'baseline: expected "others", "turn_index" or "none", got {baseline!r}')
    if scale not in ("std", "none"):
        raise ValueError(f'scale: expected "std" or "none", got {scale!r}')
    earned = rewards_of_turns(group, checked_rewards(group, rewards), turn_rewards)
    returns = [discounted_returns(e, gamma) for e in earned]
    if baseline == "turn_index":
        return _against_same_index(returns, scale=scale, ddof=ddof, eps=eps)
    credit = _against_others(returns) if baseline == "others" else returns
    return over_spread(credit, scale=scale, ddof=ddof, eps=eps)


def transitions(
    group: Group,
    rewards: Sequence[float] | np.ndarray,
    *,
    baseline: Literal["transition", "trajectory"] = "transition",
    agents: Collection[str] | None = None,
    turn_rewards: TurnRewards | None = None,
    scale: Literal["std", "none"] = "std",
    ddof: int = 1,
    eps: float = 1e-4,
) -> list[np.ndarray]:
    """Each call of the policy as a sample of its own, worth the attempt's reward: LightningRL.

    Args:
        baseline: "transition": mean and spread over all calls of the group, as the paper has it;
            long attempts weigh more in it. "trajectory": every attempt weighs the same.
        agents: names of the agents that learn; other agents' turns get NaN, are in no baseline
            and get no gradient. None = all.
        turn_rewards: added to the call's own worth (our choice: to no other call's).
        scale, ddof, eps: as in `group_advantages`.
    Returns:
        G arrays of shape (K,), NaN where the reward is.
    Raises:
        ValueError: for shapes that do not fit, an unknown baseline or scale, or if nobody in the
            group is called by one of the names in `agents`.
    Source: Luo et al. 2025 (Agent Lightning, arXiv:2508.03680).
    """
    if baseline not in ("transition", "trajectory"):
        raise ValueError(f'baseline: expected "transition" or "trajectory", got {baseline!r}')
    rewards = checked_rewards(group, rewards)
    worth = rewards_of_turns(group, 0.0 * rewards, turn_rewards)
    worth = [w + reward for w, reward in zip(worth, rewards)]
    if agents is not None:
        worth = _only(group, worth, agents)
    if baseline == "trajectory":
        return _against_trajectories(worth, scale=scale, ddof=ddof, eps=eps)
    pooled = group_advantages(np.concatenate(worth)[None], scale=scale, ddof=ddof, eps=eps)[0]
    return np.split(pooled, np.cumsum([len(w) for w in worth])[:-1])


def _against_others(returns: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Returns minus the others' mean first return. Differences first: ties come out as exact 0."""
    first = np.array([r[0] for r in returns])
    credit = []
    for i, own in enumerate(returns):
        gaps = np.delete(first, i) - first[i]
        gaps = gaps[~np.isnan(gaps)]
        alone = len(gaps) == 0
        credit.append(own * 0.0 if alone else own - own[0] - gaps.mean())
    return credit


def _against_same_index(returns: Sequence[np.ndarray], **options) -> list[np.ndarray]:
    credit = [np.where(np.isnan(r), np.nan, 0.0) for r in returns]
    for k in range(max(map(len, returns))):
        reaching = [i for i, r in enumerate(returns) if k < len(r) and not np.isnan(r[k])]
        if len(reaching) > 1:
            found = group_advantages(np.array([[returns[i][k] for i in reaching]]), **options)[0]
            for i, value in zip(reaching, found):
                credit[i][k] = value
    return credit


def _against_trajectories(
    worth: Sequence[np.ndarray], *, scale: str, ddof: int, eps: float
) -> list[np.ndarray]:
    """Mean and variance over attempts of the mean over an attempt's calls."""
    if scale not in ("std", "none"):
        raise ValueError(f'scale: expected "std" or "none", got {scale!r}')
    judged = [w[~np.isnan(w)] for w in worth]
    judged = [w for w in judged if len(w)]
    if not judged or np.ptp(np.concatenate(judged)) == 0:
        return [w * 0.0 for w in worth]  # NaN stays NaN
    centre = np.mean([w.mean() for w in judged])
    credit = [w - centre for w in worth]
    if scale == "none":
        return credit
    squares = sum(((w - centre) ** 2).mean() for w in judged)
    return [c / (np.sqrt(squares / max(len(judged) - ddof, 1)) + eps) for c in credit]


def _only(group: Group, worth: Sequence[np.ndarray], agents: Collection[str]) -> list[np.ndarray]:
    if isinstance(agents, str):
        raise ValueError(f"agents: expected names such as {{{agents!r}}}, got the text {agents!r}")
    speakers = [[turn.agent for turn in t.turns] for t in group.trajectories]
    present = sorted({name for names in speakers for name in names})
    if not set(present) & set(agents):
        raise ValueError(f"agents: expected some of {present}, got {sorted(agents)}")
    return [
        np.where([name in agents for name in names], w, np.nan) for names, w in zip(speakers, worth)
    ]
