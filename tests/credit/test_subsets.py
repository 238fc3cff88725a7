"""Shapley values and deletion: the handbook's numbers, and the axioms."""

import itertools

import numpy as np
import pytest

from workbench.credit import deletion, draw_orders, shapley, shapley_values
from workbench.records import SubsetValue

NAN = float("nan")
WORTH = {"": 0, "a": 0.2, "b": 0, "c": 0, "ab": 0.6, "ac": 0.2, "bc": 0.1, "abc": 0.9}
"""The handbook's game: locate (a), fix (b), test (c)."""


def worth(kept):
    return WORTH["".join("abc"[player] for player in sorted(kept))]


def stored(game, num_turns, i=0, always=()):
    """Every subset's value as records; turns in `always` are in each."""
    players = [k for k in range(num_turns) if k not in always]
    return tuple(
        SubsetValue(i, tuple(sorted((*kept, *always))), float(game(frozenset(kept))))
        for size in range(len(players) + 1)
        for kept in itertools.combinations(players, size)
    )


def test_shapley_values_of_the_handbook():
    phi = shapley_values(worth, (0, 1, 2))
    assert np.allclose([phi[k] for k in range(3)], [0.466667, 0.316667, 0.116667], atol=1e-6)


def test_exact_values_are_the_mean_over_all_orders():
    rng = np.random.default_rng(0)
    game = {frozenset(s): rng.normal() for n in range(5) for s in itertools.combinations("wxyz", n)}
    exact = shapley_values(game.__getitem__, "wxyz")
    averaged = shapley_values(game.__getitem__, "wxyz", itertools.permutations("wxyz"))
    assert all(np.isclose(exact[p], averaged[p]) for p in "wxyz")
    total = game[frozenset("wxyz")] - game[frozenset()]
    assert np.isclose(sum(exact.values()), total)
    few = shapley_values(game.__getitem__, "wxyz", [tuple("wxyz"), tuple("zxyw")])
    assert np.isclose(sum(few.values()), total)  # whichever orders were drawn


def test_the_axioms_dummy_and_symmetry():
    """Turn 0 does nothing; turns 1 and 2 can stand in for each other; turn 3 adds a quarter."""
    phi = shapley_values(lambda kept: max(1 in kept, 2 in kept) + 0.25 * (3 in kept), range(4))
    assert np.allclose([phi[k] for k in range(4)], [0.0, 0.5, 0.5, 0.25])


def test_random_orders_come_in_pairs_and_from_the_seed():
    orders = draw_orders((2, 5, 7), 5, seed=3)
    assert orders == draw_orders((2, 5, 7), 5, seed=3) != draw_orders((2, 5, 7), 5, seed=4)
    assert orders[1] == orders[0][::-1] and all(sorted(o) == [2, 5, 7] for o in orders)
    assert len(orders) == 5


def test_the_scheme_reads_the_group_and_leaves_the_turns_that_are_always_kept_at_zero(by_hand):
    values = stored(worth, 4, always=(3,)) + stored(lambda kept: len(kept), 2, i=1)
    group = by_hand.group(*by_hand.of_lengths(4, 2).trajectories, subset_values=values)
    first, second = shapley(group, [0.9, 2.0])
    assert np.allclose(first, [0.466667, 0.316667, 0.116667, 0.0], atol=1e-6)
    assert np.isclose(first.sum(), 0.9) and np.allclose(second, [1.0, 1.0])


def test_deletion_over_counts_what_turns_do_together(by_hand):
    values = stored(worth, 4, always=(3,))
    group = by_hand.group(*by_hand.of_lengths(4).trajectories, subset_values=values)
    [lost] = deletion(group, [0.9])
    assert np.allclose(lost, [0.8, 0.7, 0.3, 0.0]) and lost.sum() > 0.9


def test_deletion_needs_only_what_is_left_without_each_turn(by_hand):
    values = tuple(SubsetValue(0, kept, v) for kept, v in (((0, 1), 1.0), ((0,), 0.25), ((1,), 1)))
    group = by_hand.group(*by_hand.of_lengths(2).trajectories, subset_values=values)
    assert np.allclose(deletion(group, [1.0]), [[0.0, 0.75]])
    with pytest.raises(ValueError, match=r"trajectory 0 has none for the turns \[\]"):
        shapley(group, [1.0])


def test_sampled_orders_need_only_their_own_subsets(by_hand):
    orders = draw_orders(range(3), 2, seed=5)
    chains = {frozenset(o[:n]) for o in orders for n in range(4)}
    values = tuple(SubsetValue(0, tuple(sorted(kept)), float(worth(kept))) for kept in chains)
    group = by_hand.group(*by_hand.of_lengths(3).trajectories, subset_values=values)
    [credit] = shapley(group, [0.9], num_orders=2, seed=5)
    by_order = [
        {p: worth(o[: n + 1]) - worth(o[:n]) for n, p in enumerate(o)} for o in orders
    ]
    assert np.allclose(credit, [np.mean([gains[k] for gains in by_order]) for k in range(3)])


def test_what_was_not_judged_or_not_replayed_is_nan(by_hand):
    values = stored(lambda kept: len(kept), 2, i=1)
    group = by_hand.group(*by_hand.of_lengths(3, 2, 2).trajectories, subset_values=values)
    for scheme in (shapley, deletion):
        credit = scheme(group, [1.0, 2.0, NAN])
        assert np.isnan(credit[0]).all() and np.isnan(credit[2]).all()
        assert np.allclose(credit[1], [1.0, 1.0])


def test_values_of_another_reward_and_groups_without_values_are_refused(by_hand):
    lengths = by_hand.of_lengths(2).trajectories
    group = by_hand.group(*lengths, subset_values=stored(lambda kept: len(kept), 2))
    with pytest.raises(ValueError, match="has reward 1.0, its replay of all turns earned 2.0"):
        shapley(group, [1.0])
    with pytest.raises(ValueError, match=r"counterfactuals\.replay_subsets"):
        deletion(by_hand.group(*lengths), [1.0])


def test_no_orders_are_no_average():
    with pytest.raises(ValueError, match="num_orders: expected at least 1, got 0"):
        draw_orders(range(3), 0, seed=0)
