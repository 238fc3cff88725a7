"""Credit as the change of a value: the handbook's numbers, and sums that telescope."""

import numpy as np
import pytest

from workbench.credit import (
    broadcast,
    discounted_returns,
    generalised_advantages,
    over_spread,
    potential_shaping,
    reroll_advantage,
    reroll_standard_errors,
    return_to_go,
    rudder,
    seen_passing,
    shaping_rewards,
    turn_gae,
    values_before_turns,
)
from workbench.records import TurnValue

NAN = float("nan")


def value(i, k, estimate):
    return TurnValue(i, k, estimate, 0.1, 9, "reroll")


def test_gae_gives_the_numbers_of_the_handbook(by_hand):
    rewards, values = [0, -0.1, 0, 1], [0.3, 0.4, 0.35, 0.7]
    plain = generalised_advantages(rewards, values, lam=0.9)
    assert np.allclose(plain, [0.4672, 0.408, 0.62, 0.3])
    options = dict(values=[values], lam=0.9, turn_rewards=lambda t: [0, -0.1, 0, 0])
    [credit] = turn_gae(by_hand.of_lengths(4), [1.0], gamma=0.95, **options)
    assert np.allclose(credit, [0.354568, 0.321132, 0.5715, 0.3], atol=1e-6)


def test_gae_at_its_ends_trusts_the_values_or_the_rewards():
    rng = np.random.default_rng(0)
    rewards, values = rng.normal(size=6), rng.normal(size=6)
    nearest = rewards + 0.9 * np.append(values[1:], 0.0) - values
    assert np.allclose(generalised_advantages(rewards, values, 0.9, lam=0.0), nearest)
    farthest = discounted_returns(rewards, 0.9) - values
    assert np.allclose(generalised_advantages(rewards, values, 0.9, lam=1.0), farthest)


def test_gae_refuses_values_that_do_not_fit(by_hand):
    with pytest.raises(ValueError, match=r"got shapes \(3,\) and \(2,\)"):
        generalised_advantages([0, 1], [0, 0, 0])
    with pytest.raises(ValueError, match="lam: .* got 1.5"):
        generalised_advantages([0, 1], [0, 0], lam=1.5)
    with pytest.raises(ValueError, match="values: expected 2 arrays, got 1"):
        turn_gae(by_hand.of_lengths(1, 1), [1, 0], values=[[0.5]])


def test_reroll_advantages_are_differences_of_the_values_of_the_handbook(by_hand):
    """Nine re-rolls from before each turn, 3, 4 and 7 of them solved; then it was solved."""
    estimates = [value(0, k, solved / 9) for k, solved in ((-1, 3), (0, 4), (1, 7))]
    group = by_hand.group(*by_hand.of_lengths(3).trajectories, turn_values=tuple(estimates))
    [credit] = reroll_advantage(group, [1.0])
    assert np.allclose(credit, [0.111111, 0.333333, 0.222222], atol=1e-6)
    assert np.isclose(credit.sum(), 1 - 3 / 9)


def test_values_are_found_by_their_place_and_the_end_needs_none(by_hand):
    lengths = by_hand.of_lengths(2, 1).trajectories
    stored = (value(1, -1, 0.5), value(0, 0, 0.2), value(0, -1, 0.1), value(1, 0, 77.0))
    group = by_hand.group(*lengths, turn_values=stored)
    assert [v.tolist() for v in values_before_turns(group)] == [[0.1, 0.2], [0.5]]
    credit = reroll_advantage(group, [0.0, 1.0])
    assert np.allclose(credit[0], [0.1, -0.2]) and np.allclose(credit[1], [0.5])


def test_turn_rewards_and_discount_enter_the_reroll_advantage(by_hand):
    stored = (value(0, -1, 0.4), value(0, 0, 0.6))
    group = by_hand.group(*by_hand.of_lengths(2).trajectories, turn_values=stored)
    [credit] = reroll_advantage(group, [1.0], gamma=0.5, turn_rewards=lambda t: [-0.1, -0.2])
    assert np.allclose(credit, [-0.1 + 0.5 * 0.6 - 0.4, 0.8 - 0.6])


def test_a_trajectory_without_a_value_or_a_reward_is_left_out(by_hand):
    stored = (value(0, -1, 0.4), value(1, -1, 0.4), value(1, 0, 0.4), value(2, -1, 0.4))
    group = by_hand.group(*by_hand.of_lengths(2, 2, 1).trajectories, turn_values=stored)
    credit = reroll_advantage(group, [1.0, 1.0, NAN])
    assert np.isnan(credit[0]).all() and np.isnan(credit[2]).all()
    assert np.allclose(credit[1], [0.0, 0.6])


def test_a_group_without_values_or_with_two_for_one_place_is_refused(by_hand):
    with pytest.raises(ValueError, match="expected turn values, got none; make them with .*reroll"):
        reroll_advantage(by_hand.of_lengths(2), [1.0])
    twice = (value(0, -1, 0.1), value(0, -1, 0.2))
    with pytest.raises(ValueError, match="two for trajectory 0 after turn -1"):
        reroll_advantage(
            by_hand.group(*by_hand.of_lengths(1).trajectories, turn_values=twice), [1.0]
        )


def test_predicted_returns_hand_out_the_reward_as_in_the_handbook(by_hand):
    [credit] = rudder(by_hand.of_lengths(5), [1.0], predictions=[[0.1, 0.1, 0.7, 0.9, 1.0]])
    assert np.allclose(credit, [0.1, 0, 0.6, 0.2, 0.1])


def test_what_a_prediction_misses_goes_to_the_last_turn_so_that_nothing_is_lost(by_hand):
    rng = np.random.default_rng(0)
    group, rewards = by_hand.of_lengths(1, 4, 3), rng.normal(size=3)
    credit = rudder(group, rewards, predictions=[rng.normal(size=k) for k in (1, 4, 3)])
    assert np.allclose([c.sum() for c in credit], rewards)
    assert np.allclose(credit[0], rewards[:1])


def test_predictions_that_do_not_fit_are_called_predictions(by_hand):
    for predictions in ([[0.5, 0.6]], [[0.5, 0.6], [0.5, 0.6]], [0.5, 0.6]):
        with pytest.raises(ValueError, match=r"predictions: .* shapes \[\(2,\), \(1,\)\], got"):
            rudder(by_hand.of_lengths(2, 1), [1, 0], predictions=predictions)


def test_a_value_that_is_missing_leaves_its_turn_and_those_before_it_without_credit(by_hand):
    for lam in (0.0, 0.5, 1.0):
        values = [[0.1, 0.2, NAN, 0.4]]
        [credit] = turn_gae(by_hand.of_lengths(4), [1.0], values=values, lam=lam)
        assert np.isnan(credit[:3]).all() and credit[3] == pytest.approx(0.6)


def test_a_potential_cancels_out_along_the_attempt(by_hand):
    """The handbook's potentials 0, .3, .5, .8 and then the end: .3, .2, .3, -.8."""
    phi = [0, 0.3, 0.5, 0.8]
    [change] = potential_shaping(by_hand.of_lengths(4), [0.0], potential=lambda t, k: phi[k])
    assert np.allclose(change, [0.3, 0.2, 0.3, -0.8])
    [shaped] = potential_shaping(by_hand.of_lengths(4), [1.0], potential=lambda t, k: phi[k])
    assert np.allclose(shaped, [0.3, 0.2, 0.3, 0.2]) and np.isclose(shaped.sum(), 1.0)


@pytest.mark.parametrize("forgotten", [None, NAN])
def test_a_potential_that_says_nothing_is_refused(by_hand, forgotten):
    """A function without `return` would take every turn of the group out of training."""
    options = dict(potential=lambda trajectory, k: forgotten)
    with pytest.raises(ValueError, match="potential: expected a finite number before each turn"):
        potential_shaping(by_hand.of_lengths(2), [1.0], **options)
    with pytest.raises(ValueError, match="does the function `return` one"):
        shaping_rewards(by_hand.of_lengths(2).trajectories[0], **options)


def test_returns_of_shaped_rewards_only_gain_a_baseline(by_hand):
    """Ng's theorem for gradients: shaping shifts every return-to-go by the state's potential."""
    rng = np.random.default_rng(0)
    group, rewards = by_hand.of_lengths(5, 3), np.array([1.0, 0.0])
    phi = {5: rng.normal(size=5), 3: rng.normal(size=3)}
    shaped = potential_shaping(
        group, rewards, potential=lambda t, k: phi[len(t.turns)][k], gamma=0.9
    )
    plain = return_to_go(group, rewards, gamma=0.9, baseline="none")
    for shaped_rewards, returns in zip(shaped, plain):
        shift = discounted_returns(shaped_rewards, 0.9) - returns
        assert np.allclose(shift, -phi[len(returns)])


def test_tests_that_were_seen_to_pass_are_a_potential_until_the_workspace_changes(by_hand):
    path = by_hand.trajectory(
        by_hand.turn("a", "run", "FAIL f(1) got 2 want 3"),
        by_hand.turn("b", "edit lib.py 1|x", "1|x"),
        by_hand.turn("b", "run", "ok 2 passed"),
        by_hand.turn("b", "cat lib.py", "1|x"),
        by_hand.turn("c", "edit lib.py 1|y", "1|y"),
        by_hand.turn("c", "submit"),
    )
    assert [seen_passing(path, k) for k in range(6)] == [0, 0, 0, 1, 1, 0]


@pytest.mark.parametrize(
    "scheme, options",
    [
        (turn_gae, {"values": [[0.1, 0.2], [0.3]]}),
        (rudder, {"predictions": [[0.1, 0.2], [0.3]]}),
        (potential_shaping, {"potential": lambda t, k: 0.5 * k}),
    ],
)
def test_what_could_not_be_judged_stays_nan(by_hand, scheme, options):
    credit = scheme(by_hand.of_lengths(2, 1), [NAN, 1.0], **options)
    assert np.isnan(credit[0]).all() and not np.isnan(credit[1]).any()


def test_divided_by_its_spread_credit_has_the_size_of_normalised_rewards(by_hand):
    """Mean squares 1/4 and 0 of two attempts, one taken off: spread 1/2, so everything doubles."""
    credit = [np.array([0.5, -0.5]), np.array([0.0])]
    doubled = over_spread(credit, scale="std", eps=0.0)
    assert np.allclose(doubled[0], [1.0, -1.0]) and np.allclose(doubled[1], [0.0])
    population = over_spread(credit, scale="std", ddof=0, eps=0.0)
    assert np.allclose(population[0], np.array([0.5, -0.5]) / np.sqrt(1 / 8))
    group, rewards = by_hand.of_lengths(1, 3, 2, 1), [1.0, 0.0, 0.0, NAN]
    plain = over_spread(broadcast(group, rewards, scale="none"), scale="std")
    for one, other in zip(plain, broadcast(group, rewards)):
        assert np.allclose(one, other, equal_nan=True)


def test_credit_that_is_missing_is_in_no_spread_and_an_unknown_scale_is_refused():
    credit = [np.array([0.5, NAN]), np.array([NAN])]
    divided = over_spread(credit, scale="std", eps=0.0)
    assert np.array_equal(divided[0], [1.0, NAN], equal_nan=True) and np.isnan(divided[1]).all()
    assert np.isnan(over_spread([np.array([NAN])], scale="std")[0]).all()
    with pytest.raises(ValueError, match="scale: .* got 'max'"):
        over_spread(credit, scale="max")


def test_a_group_whose_attempts_all_failed_still_teaches_what_they_threw_away(by_hand):
    """Half of the re-rolls from the start were solved, three quarters from after the first turn."""
    stored = (value(0, -1, 0.5), value(0, 0, 0.75), value(1, -1, 0.5))
    group = by_hand.group(*by_hand.of_lengths(2, 1).trajectories, turn_values=stored)
    credit = reroll_advantage(group, [0.0, 0.0])
    assert np.allclose(credit[0], [0.25, -0.75]) and np.allclose(credit[1], [-0.5])
    # mean squares (1/16 + 9/16) / 2 and 1/4, together 9/16: the spread is 3/4
    divided = reroll_advantage(group, [0.0, 0.0], scale="std", ddof=1, eps=0.0)
    assert np.allclose(divided[0], [1 / 3, -1.0]) and np.allclose(divided[1], [-2 / 3])
    assert not any(numbers.any() for numbers in broadcast(group, [0.0, 0.0]))


def test_gae_takes_the_values_that_are_stored_in_the_group(by_hand):
    stored = tuple(value(0, k - 1, v) for k, v in enumerate([0.3, 0.4, 0.35, 0.7]))
    group = by_hand.group(*by_hand.of_lengths(4).trajectories, turn_values=stored)
    [credit] = turn_gae(group, [1.0], lam=0.9, turn_rewards=lambda t: [0, -0.1, 0, 0])
    assert np.allclose(credit, [0.4672, 0.408, 0.62, 0.3])
    with pytest.raises(ValueError, match="expected turn values, got none"):
        turn_gae(by_hand.of_lengths(4), [1.0])


def test_shaping_as_rewards_of_turns_leaves_the_return_less_the_potential(by_hand):
    """The handbook's potentials; what is still to be earned from turn k on is 1 - Phi(k)."""
    phi, group = [0, 0.3, 0.5, 0.8], by_hand.of_lengths(4)

    def shaped(trajectory):
        return shaping_rewards(trajectory, potential=lambda t, k: phi[k])

    assert np.allclose(shaped(group.trajectories[0]), [0.3, 0.2, 0.3, -0.8])
    [credit] = return_to_go(group, [1.0], turn_rewards=shaped, baseline="none")
    assert np.allclose(credit, [1.0, 0.7, 0.5, 0.2])
    discounted = shaping_rewards(group.trajectories[0], potential=lambda t, k: phi[k], gamma=0.5)
    assert np.allclose(discounted, [0.15, -0.05, -0.1, -0.8])


@pytest.mark.parametrize("gamma", [2, -1])
def test_a_discount_outside_0_and_1_is_refused_whatever_lambda_makes_of_it(by_hand, gamma):
    group, options = by_hand.of_lengths(2), dict(potential=lambda t, k: 0.5, gamma=gamma)
    says = rf"gamma: expected a number in \[0, 1\], got {gamma}$"
    for lam in (0.0, 0.5, 0.9):
        with pytest.raises(ValueError, match=says):
            turn_gae(group, [1.0], values=[[0.5, 0.5]], gamma=gamma, lam=lam)
    with pytest.raises(ValueError, match=says):
        potential_shaping(group, [1.0], **options)
    with pytest.raises(ValueError, match=says):
        shaping_rewards(group.trajectories[0], **options)


@pytest.mark.parametrize("i, k", [(0, -2), (0, 2), (2, -1), (-1, -1)])
def test_values_of_turns_that_are_not_there_are_refused(by_hand, i, k):
    """A negative index would count from the end, and credit a turn that nobody has valued."""
    known = (value(0, -1, 0.5), value(i, k, 0.5))
    group = by_hand.group(*by_hand.of_lengths(2, 1).trajectories, turn_values=known)
    for asks in (values_before_turns, reroll_standard_errors):
        with pytest.raises(ValueError, match=f"trajectory {i} after turn {k}, which"):
            asks(group)
