"""One matrix, many weights: the same numbers as a trajectory at a time."""

import random
from dataclasses import replace

import numpy as np
import pytest

from workbench.credit import decoupled_advantages, group_advantages
from workbench.records import Group
from workbench.rewards import RewardDesign, Scores, all_pass, pass_fraction, tampered, totals

HONEST = RewardDesign(tests=(all_pass("hidden"), 1.0), tampering=(tampered, -1.0))


def reading(column, calls=None):
    """A component that returns what a table says for a trajectory's seed."""

    def component(trajectory, task):
        if calls is not None:
            calls.append(trajectory.seed)
        return column[trajectory.seed]

    return component


def random_design(rng, num_rows):
    """A design with random values, None among them, and random rules."""
    names = "abcde"[: rng.randint(1, 5)]
    choices = (None, 0.0, 0.1, 0.25, 0.7, 1.0, 1.0)
    columns = {n: [rng.choice(choices) for _ in range(num_rows)] for n in names}
    optional = tuple(n for n in names[2:] if rng.random() < 0.5)
    pairs = {n: (reading(columns[n]), rng.choice((0.0, 0.0, 0.1, 0.3, 1.0))) for n in names}
    design = RewardDesign(optional=optional, **pairs)
    if rng.random() < 0.5:
        design = design.blockers("a", at_least=rng.choice((0.1, 1.0)))
    for name in names[1:]:
        if rng.random() < 0.5:
            design = design.gate(name, needs="a", at_least=rng.choice((0.25, 1.0)))
    if rng.random() < 0.5 and any(weight for _, weight in pairs.values()):
        return design.normalised()
    return design.with_weights(**{names[-1]: -0.3})


def test_any_design_gives_bit_for_bit_what_it_gives_one_at_a_time(make_trajectory, task):
    rng = random.Random(0)
    for _ in range(120):
        sizes = [rng.randint(1, 5) for _ in range(4)]
        seeds = iter(range(sum(sizes)))
        groups = [
            Group(task.task_id, "", tuple(replace(make_trajectory(), seed=next(seeds)) for _ in r))
            for r in map(range, sizes)
        ]
        design = random_design(rng, sum(sizes))
        scores = Scores.of(groups, [task], design)
        one_by_one = totals(design.score_groups(groups, [task]))
        assert np.array_equal(scores.grid(scores.rewards()), one_by_one, equal_nan=True)
        flat = [b for row in design.score_groups(groups, [task]) for b in row]
        assert [scores.breakdown(row) for row in range(sum(sizes))] == flat
        other = design.with_weights(a=0.7)
        one_by_one = totals(other.score_groups(groups, [task]))
        assert np.array_equal(scores.grid(scores.rewards({"a": 0.7})), one_by_one, equal_nan=True)


@pytest.fixture
def groups(make_trajectory, make_group):
    """Two groups: solved, partly solved, cheated; and a fault of ours beside a failure."""
    return [
        make_group(
            make_trajectory("pppp"),
            make_trajectory("pwww"),
            make_trajectory("wwww", tampered=("tests.py",)),
        ),
        make_group(make_trajectory("", "", status="unscorable"), make_trajectory("wwww")),
    ]


def test_rows_know_their_group_and_their_place(groups, task):
    scores = Scores.of(groups, [task], HONEST)
    assert scores.group.tolist() == [0, 0, 0, 1, 1]
    assert scores.trajectory.tolist() == [0, 1, 2, 0, 1]
    assert np.array_equal(scores.raw, [[1, 0], [0, 0], [0, 1], [np.nan, 0], [0, 0]], equal_nan=True)
    assert np.array_equal(scores.rewards(), [1, 0, -1, np.nan, 0], equal_nan=True)
    assert np.array_equal(scores.truth(), [1, 0, 0, np.nan, 0], equal_nan=True)


def test_values_go_to_groups_and_back(groups, task):
    scores = Scores.of(groups, [task], HONEST)
    grid = scores.grid(np.arange(5.0))
    assert np.array_equal(grid, [[0, 1, 2], [3, 4, np.nan]], equal_nan=True)
    assert scores.flat(grid).tolist() == [0, 1, 2, 3, 4]
    assert scores.grid(scores.raw).shape == (2, 3, 2)


def test_other_weights_call_nothing(groups, task):
    calls = []
    design = RewardDesign(tests=(reading({0: 0.5}, calls), 1.0))
    scores = Scores.of(groups, [task], design)
    assert len(calls) == 5
    assert scores.rewards({"tests": 4.0}).tolist() == [2.0] * 5
    assert scores.with_weights(tests=-1.0).rewards().tolist() == [-0.5] * 5
    assert len(calls) == 5


def test_a_design_of_the_same_components_is_scored_without_calling_them(groups, task):
    scores = Scores.of(groups, [task], HONEST)
    only_tests = RewardDesign(tests=(all_pass("hidden"), 2.0))
    assert scores.under(only_tests).rewards()[:3].tolist() == [2.0, 0.0, 0.0]
    blocked = HONEST.blockers("tests")
    assert scores.under(blocked).rewards()[:3].tolist() == [1.0, 0.0, 0.0]
    for other in (pass_fraction("hidden"), all_pass("visible_as_left")):
        with pytest.raises(ValueError, match="components .'tests'. were not computed here"):
            scores.under(RewardDesign(tests=(other, 1.0)))


def test_advantages_are_those_of_the_groups_rewards(groups, task):
    scores = Scores.of(groups, [task], HONEST)
    assert np.array_equal(scores.advantages("none"), [1.0, 0.0, -1.0, np.nan, 0.0], equal_nan=True)
    assert np.allclose(scores.advantages("leave_one_out")[:3], [1.5, 0.0, -1.5])
    by_hand = np.array([1, 0, -1]) / (2 / 3) ** 0.5  # population
    assert np.allclose(scores.advantages("std", ddof=0)[:3], by_hand, atol=1e-3)
    assert np.allclose(scores.advantages()[:3], [1, 0, -1], atol=1e-3)
    with pytest.raises(ValueError, match='expected "std", "none", "leave_one_out" or "gdpo"'):
        scores.advantages("mean")


def test_component_by_component_a_rollout_without_a_reward_is_in_no_mean(groups, task):
    scores = Scores.of(groups, [task], HONEST)
    raw = scores.grid(scores.raw)
    raw[1, 0] = np.nan  # the fault of ours, although its tampering is known
    expected = decoupled_advantages(raw, [1.0, -1.0])
    assert np.array_equal(scores.grid(scores.advantages("gdpo")), expected, equal_nan=True)
    # by hand, population: tests (2, -1, -1) / sqrt 2, tampering (-1, -1, 2) / sqrt 2 with weight -1
    summed = np.array([3.0, 0.0, -3.0]) / 2**0.5
    by_hand = summed / np.sqrt((summed**2).sum() / 4)  # four rollouts have a reward
    assert np.allclose(scores.advantages("gdpo", ddof=0)[:3], by_hand, atol=1e-3)


def test_a_blocker_counts_component_by_component_as_well(groups, task):
    design = RewardDesign(
        tests=(all_pass("hidden"), 1.0), partial=(pass_fraction("hidden"), 1.0)
    ).blockers("tests")
    advantages = Scores.of(groups, [task], design).advantages("gdpo")
    assert advantages[1] == advantages[2]  # a quarter of the tests buys nothing


def test_what_was_left_out_is_counted(groups, task):
    design = RewardDesign(
        tampering=(tampered, -1.0), tests=(all_pass("hidden"), 1.0), optional=("tests",)
    )
    scores = Scores.of(groups, [task], design)
    assert scores.omitted() == {"tests": 1}
    assert scores.rewards().tolist() == [1.0, 0.0, -1.0, 0.0, 0.0]


def test_groups_without_tasks_are_refused(groups, task):
    with pytest.raises(ValueError, match="tasks: expected the tasks of these groups"):
        Scores.of(groups, None, HONEST)
    with pytest.raises(ValueError, match="no task 'by-hand' among the 0 given"):
        Scores.of(groups, [], HONEST)


def test_no_rollouts_give_no_rewards(task):
    scores = Scores.of([], [task], HONEST)
    assert scores.raw.shape == (0, 2) and scores.rewards().shape == (0,)
    assert list(scores.table().columns)[-3:] == ["tests", "tampering", "reward"]


def test_ties_stay_ties_whatever_the_weights_add_up_to(make_trajectory, make_group, task):
    """0.1 + 0.2 + 0.3 is not 0.6 when it is added up from the left; rounded once it is."""
    columns = [(1, 0), (1, 0), (1, 0), (0, 1)]
    pairs = {
        name: (reading(column), weight)
        for name, column, weight in zip("abcd", columns, (0.1, 0.2, 0.3, 0.6))
    }
    assert 0.1 + 0.2 + 0.3 != 0.6
    group = make_group(*(replace(make_trajectory(), seed=seed) for seed in (0, 1)))
    scores = Scores.of([group], [task], RewardDesign(**pairs))
    assert group_advantages(scores.grid(scores.rewards())).tolist() == [[0.0, 0.0]]
