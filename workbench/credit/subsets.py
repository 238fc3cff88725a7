"""Credit by leaving turns out: what is the attempt worth without them?

Stage: credit. In: what an attempt earns when only some of its turns are played again
(`group.subset_values`, made by `workbench.counterfactuals`); out: a number a turn. Deletion asks
for each turn what is lost without it and over-counts turns that need each other; the Shapley value
asks the same after every possible set of the others, and its numbers sum to what there is to share.
Left out: interactions (pairs of turns). Games between agents are in `agents`.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import numpy as np

from workbench.credit.turns import checked_rewards
from workbench.records import Group

Player = TypeVar("Player")
"""Who joins: the index of a turn, or the name of an agent."""


def shapley_values(
    value: Callable[[frozenset[Player]], float],
    players: Sequence[Player],
    orders: Iterable[Sequence[Player]] | None = None,
) -> dict[Player, float]:
    """Each player's gain when the players join one after the other, averaged over orders.

    Args:
        value: set of players -> what that set earns.
        orders: the orders to average over; None = all, exact, of which there are factorially many.
            Whichever they are, the numbers sum to value(all) - value(nobody).

    >>> worth = {(): 0, (0,): 0, (1,): 0, (0, 1): 1}  # both are needed
    >>> shapley_values(lambda kept: worth[tuple(sorted(kept))], (0, 1))
    {0: 0.5, 1: 0.5}
    """
    players = tuple(players)
    if orders is None:
        return _exact_shapley(value, players)
    gains: dict[Player, list[float]] = {player: [] for player in players}
    for order in orders:
        kept = frozenset()
        for player in order:
            gains[player].append(value(kept | {player}) - value(kept))
            kept |= {player}
    return {player: float(np.mean(found)) for player, found in gains.items()}


def lost_without(
    value: Callable[[frozenset[Player]], float], players: Sequence[Player]
) -> dict[Player, float]:
    """What is lost without each player, all others there.

    >>> worth = {(): 0, (0,): 0, (1,): 0, (0, 1): 1}  # both are needed
    >>> lost_without(lambda kept: worth[tuple(sorted(kept))], (0, 1))
    {0: 1, 1: 1}
    """
    everyone = frozenset(players)
    return {player: value(everyone) - value(everyone - {player}) for player in players}


def draw_orders(players: Sequence[int], num_orders: int, seed: int) -> list[tuple[int, ...]]:
    """`num_orders` random orders of the players; same arguments, same orders.

    Every second one is the one before it turned round: the gains of a pair of turns that need each
    other then average out at once. Raises ValueError if num_orders < 1.
    """
    if num_orders < 1:
        raise ValueError(f"num_orders: expected at least 1, got {num_orders}; None = exact")
    rng = np.random.default_rng(seed)
    orders: list[tuple[int, ...]] = []
    while len(orders) < num_orders:
        order = tuple(int(player) for player in rng.permutation(list(players)))
        orders += [order, order[::-1]]
    return orders[:num_orders]


def shapley(
    group: Group,
    rewards: Sequence[float] | np.ndarray,
    *,
    num_orders: int | None = None,
    seed: int = 0,
) -> list[np.ndarray]:
    """Each turn's Shapley value in the game "which turns were played"; 0 for turns always kept.

    Args:
        num_orders: None = exact, every subset's value must be there. A number: averaged over as
            many random orders, whose subsets `counterfactuals.replay_subsets` has replayed with
            the same number and seed.
    Returns:
        G arrays of shape (K,). They sum to the reward minus what the attempt earns without any
        turn that can be left out. NaN where the reward is, or the attempt has no values.
    Raises:
        ValueError: if the group has no subset values, one is missing that is needed, or they were
            made with another reward.
    Source: Shapley 1953; sampled as in Castro et al. 2009.
    """

    def share(value: Callable[[frozenset[int]], float], players: tuple[int, ...]):
        orders = None if num_orders is None else draw_orders(players, num_orders, seed)
        return shapley_values(value, players, orders)

    return _for_each_trajectory(group, rewards, share)


def deletion(group: Group, rewards: Sequence[float] | np.ndarray) -> list[np.ndarray]:
    """What is lost without each turn, all others kept; 0 for turns that are always kept.

    Does not sum to anything: of two turns that need each other each gets all of the credit.

    Returns G arrays of shape (K,), NaN as in `shapley`; raises ValueError as `shapley` does.
    """
    return _for_each_trajectory(group, rewards, lost_without)


def _exact_shapley(
    value: Callable[[frozenset[Player]], float], players: tuple[Player, ...]
) -> dict[Player, float]:
    """Over subsets in the place of orders: 2^n values, each with the share of its orders."""
    num = len(players)
    worth = {
        frozenset(kept): value(frozenset(kept))
        for size in range(num + 1)
        for kept in itertools.combinations(players, size)
    }
    shares = np.zeros(num + 1)  # of all orders, those in which a given set of this size is first
    shares[0] = 1.0
    for size in range(1, num + 1):
        shares[size] = shares[size - 1] * size / (num - size + 1)
    return {
        player: float(
            sum(
                (worth[kept | {player}] - worth[kept]) * shares[len(kept)] / (num - len(kept))
                for kept in worth
                if player not in kept
            )
        )
        for player in players
    }


def _for_each_trajectory(group: Group, rewards, share) -> list[np.ndarray]:
    """`share(value, players)` for every attempt that was judged and replayed."""
    rewards = checked_rewards(group, rewards)
    if not group.subset_values:
        raise ValueError(
            "the group has no subset values; make them with counterfactuals.replay_subsets(group, "
            "task, sandbox)"
        )
    credit = []
    for i, (trajectory, reward) in enumerate(zip(group.trajectories, rewards)):
        known = {frozenset(v.kept): v.value for v in group.subset_values if v.trajectory_index == i}
        if np.isnan(reward) or not known:
            credit.append(np.full(len(trajectory.turns), np.nan))
            continue
        always = frozenset.intersection(*known)
        everything = frozenset(range(len(trajectory.turns)))
        _require_same_reward(known.get(everything), reward, i)
        players = tuple(sorted(everything - always))
        shares = share(functools.partial(_look_up, known, always, i), players)
        credit.append(np.array([shares.get(k, 0.0) for k in range(len(trajectory.turns))]))
    return credit


def _look_up(
    known: dict[frozenset[int], float], always: frozenset[int], i: int, kept: frozenset[int]
) -> float:
    if kept | always not in known:
        raise ValueError(
            f"subset_values: trajectory {i} has none for the turns {sorted(kept | always)}; replay "
            "that subset, or ask for the orders that were replayed"
        )
    return known[kept | always]


def _require_same_reward(value: float | None, reward: float, i: int) -> None:
    if value is not None and not np.isclose(value, reward):
        raise ValueError(
            f"rewards: trajectory {i} has reward {reward}, its replay of all turns earned {value}; "
            "give replay_subsets the design that made the rewards"
        )
