import itertools

import numpy as np
import pytest

from workbench.credit import decoupled_advantages, group_advantages, leave_one_out, tied

ONE_OF_FOUR = np.array([[1.0, 0.0, 0.0, 0.0]])


def test_centring_alone_gives_the_advantages_of_dr_grpo():
    assert np.allclose(group_advantages(ONE_OF_FOUR, scale="none"), [[0.75, -0.25, -0.25, -0.25]])


def test_sample_and_population_deviation_differ_as_computed_by_hand():
    sample = group_advantages(ONE_OF_FOUR, eps=0.0)
    population = group_advantages(ONE_OF_FOUR, ddof=0, eps=0.0)
    assert np.allclose(sample, [[1.5, -0.5, -0.5, -0.5]])
    assert np.allclose(population, [[1.732051, -0.57735, -0.57735, -0.57735]])


def test_the_default_epsilon_is_the_one_of_trl():
    assert abs(group_advantages(ONE_OF_FOUR)[0, 0] - 0.75 / (0.5 + 1e-4)) < 1e-12


def test_the_one_failure_of_a_nearly_solved_task_weighs_most():
    rewards = np.array([[1.0] * 7 + [0.0]])
    assert abs(group_advantages(rewards, eps=0.0)[0, 7] + 2.474874) < 1e-5
    assert abs(group_advantages(rewards, ddof=0, eps=0.0)[0, 7] + 2.645751) < 1e-5


def test_leave_one_out_compares_with_the_mean_of_the_others():
    assert np.allclose(leave_one_out(ONE_OF_FOUR), [[1, -1 / 3, -1 / 3, -1 / 3]])
    rewards = np.random.default_rng(0).normal(size=(5, 8))
    assert np.allclose(leave_one_out(rewards), group_advantages(rewards, scale="none") * 8 / 7)


@pytest.mark.parametrize("value", [0.0, 1.0, 0.1, 1e9 + 0.1])
@pytest.mark.parametrize("estimator", [group_advantages, leave_one_out])
def test_a_tied_group_has_exactly_zero_advantage(estimator, value):
    assert (estimator(np.full((1, 3), value)) == 0.0).all()


def test_what_is_left_out_enters_no_mean_and_stays_nan():
    rewards = np.array([[1.0, np.nan, 0.0, 0.0, 0.0]])
    for estimator in (group_advantages, leave_one_out):
        got = estimator(rewards)
        assert np.isnan(got[0, 1])
        assert np.allclose(np.delete(got, 1, axis=1), estimator(ONE_OF_FOUR))


@pytest.mark.parametrize("of_rows", [group_advantages, leave_one_out, tied])
def test_an_infinite_reward_is_refused(of_rows):
    with pytest.raises(ValueError, match="expected finite numbers.*infinite"):
        of_rows(np.array([[1.0, np.inf], [np.nan, 0.0]]))


def test_a_row_with_one_or_no_judged_reward_teaches_nothing():
    rewards = np.array([[1.0, np.nan], [np.nan, np.nan], [1.0, 0.0]])
    for estimator in (group_advantages, leave_one_out):
        got = estimator(rewards)
        assert got[0, 0] == 0.0 and np.isnan(got[0, 1]) and np.isnan(got[1]).all()
    assert tied(rewards).tolist() == [True, True, False]


def test_rows_do_not_see_each_other():
    both = np.array([[1.0, 0.0, 0.0, 0.0], [3.0, 5.0, 1.0, 0.0]])
    assert np.allclose(group_advantages(both)[:1], group_advantages(both[:1]))


def test_dropping_dead_groups_leaves_the_share_the_handbook_computes():
    p, size, num_groups = 0.1, 8, 20_000
    rewards = (np.random.default_rng(0).random((num_groups, size)) < p).astype(float)
    alive = 1 - tied(rewards).mean()
    assert abs(alive - (1 - p**size - (1 - p) ** size)) < 0.01  # .5695, standard error .0035


@pytest.mark.parametrize("rewards", [[1.0, 0.0], [[1.0]], [[[1.0, 0.0]]]])
def test_rewards_that_are_no_groups_are_refused(rewards):
    with pytest.raises(ValueError, match="expected .B, G. with G >= 2"):
        group_advantages(np.array(rewards))


def test_an_unknown_scale_is_refused():
    with pytest.raises(ValueError, match="got 'batch'"):
        group_advantages(ONE_OF_FOUR, scale="batch")


def test_decoupled_advantages_keep_apart_what_a_sum_collapses():
    """Two rollouts, two rewards: (0,0) against (1,0), and (0,0) against (1,1)."""
    rewards = np.array([[[0.0, 0.0], [1.0, 0.0]], [[0.0, 0.0], [1.0, 1.0]]])
    summed = group_advantages(rewards.sum(axis=2), eps=0.0)
    assert np.allclose(summed[0], summed[1])
    decoupled = decoupled_advantages(rewards, (1.0, 1.0), ddof=0, eps=1e-12)
    # each component -1 and 1 or 0 and 0, sums -1, 1, -2, 2, their deviation sqrt(10 / 4)
    assert np.allclose(decoupled, np.array([[-1, 1], [-2, 2]]) / 2.5**0.5)


def test_decoupled_advantages_weigh_components_of_any_size_alike():
    """By hand: sums (1, -1) - (0.5, -0.5) in the first group, (0, 0) + (0.5, -0.5) after it."""
    rewards = np.array([[[1.0, 0.0], [0.0, 400.0]], [[1.0, 2.0], [1.0, 0.0]]])
    advantages = decoupled_advantages(rewards, (1.0, 0.5), ddof=0, eps=1e-12)
    assert np.allclose(advantages, [[1, -1], [1, -1]])


def test_decoupled_advantages_agree_with_the_formula_of_trl_written_out():
    rng = np.random.default_rng(0)
    rewards = rng.normal(size=(3, 4, 2))
    normalised = (rewards - rewards.mean(1, keepdims=True)) / (
        rewards.std(1, ddof=1, keepdims=True) + 1e-4
    )
    summed = (normalised * [1.0, 0.3]).sum(axis=2)
    expected = (summed - summed.mean()) / (summed.std(ddof=1) + 1e-4)
    assert np.allclose(decoupled_advantages(rewards, (1.0, 0.3)), expected, atol=1e-12)


def test_decoupled_advantages_of_ties_are_zero_and_of_the_unjudged_nan():
    nan = np.nan
    rewards = np.array([[[1.0, 1.0], [1.0, 1.0]], [[1.0, nan], [0.0, 2.0]], [[nan, nan], [1, 1]]])
    advantages = decoupled_advantages(rewards, (1.0, 1.0))
    assert advantages[0].tolist() == [0.0, 0.0]
    assert advantages[1, 0] == -advantages[1, 1] > 0  # the second component has nothing to compare
    assert np.isnan(advantages[2, 0]) and advantages[2, 1] == 0.0
    assert decoupled_advantages(rewards[:1], (1.0, 1.0)).tolist() == [[0.0, 0.0]]


@pytest.mark.parametrize("shapes", [((2, 3), (3,)), ((2, 3, 2), (3,)), ((2, 3, 2), (2, 1))])
def test_decoupled_advantages_want_a_weight_a_component(shapes):
    with pytest.raises(ValueError, match="one weight a component, got shapes"):
        decoupled_advantages(np.zeros(shapes[0]), np.ones(shapes[1]))


def all_groups(size):
    """Every group of `size` rewards 0 or 1, and how many of them are 1."""
    groups = np.array(list(itertools.product((0.0, 1.0), repeat=size)))
    return groups, groups.sum(axis=1)


@pytest.mark.parametrize(
    ("chance", "size", "alive"),
    [
        (0.01, 8, 0.0773),
        (0.05, 8, 0.3366),
        (0.25, 8, 0.8999),
        (0.5, 8, 0.9922),
        (0.05, 10, 0.4013),
        (0.1, 4, 0.3438),
        (0.9, 8, 0.5695),
    ],
)
def test_the_share_of_groups_that_teach_is_one_minus_all_right_minus_all_wrong(chance, size, alive):
    groups, num_right = all_groups(size)
    probability = chance**num_right * (1 - chance) ** (size - num_right)
    assert abs(probability[~tied(groups)].sum() - alive) < 1e-4


@pytest.mark.parametrize(
    ("chance", "signal"), [(0.05, 1.8795), (0.1, 3.3519), (0.25, 6.0783), (0.5, 7.4226)]
)
def test_the_signal_of_a_group_is_largest_where_half_of_it_is_right(chance, signal):
    """Expected sum of the sizes of eight advantages, population deviation."""
    groups, num_right = all_groups(8)
    probability = chance**num_right * (1 - chance) ** (8 - num_right)
    sizes = np.abs(group_advantages(groups, ddof=0, eps=1e-12)).sum(axis=1)
    assert abs((probability * sizes).sum() - signal) < 1e-3
