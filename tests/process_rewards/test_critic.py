"""A critic says first what it expects and learns afterwards what came of it."""

import numpy as np
import pytest

from workbench.episodes import RolloutStopped
from workbench.process_rewards import Critic, FitConfig
from workbench.rewards import RewardDesign, all_pass

QUICK = FitConfig(epochs=2, batch_size=4, lr=1e-2)


@pytest.fixture
def groups(by_hand):
    """Two attempts of two turns: one says the good word and is solved, one the bad and is not."""
    good = by_hand.attempt([by_hand.good] * 2)
    return [by_hand.group(good, by_hand.attempt([by_hand.bad] * 2, hidden="w"))]


def expected(groups):
    """The values of all turns."""
    return [value.estimate for group in groups for value in group.turn_values]


def test_it_predicts_before_it_learns(policy, groups, task, sandbox):
    critic = Critic(QUICK)
    first, cost = critic(policy, groups, [task], sandbox, seed=0)
    assert expected(first) == [0.5] * 4 and cost.num_rollouts == 0
    assert {value.how for value in first[0].turn_values} == {"critic"}
    for number in range(20):
        critic(policy, groups, [task], sandbox, seed=number)
    last, _ = critic(policy, groups, [task], sandbox, seed=99)
    start, after_good, same_start, after_bad = expected(last)
    assert after_good > 0.9 and after_bad < 0.1
    assert start == same_start == pytest.approx(0.5, abs=0.2)  # nothing has been said yet


def test_each_run_has_one_of_its_own(policy, groups, task, sandbox):
    critic = Critic(QUICK)
    for _ in range(3):
        known, _ = critic(policy, groups, [task], sandbox, seed=0)
    assert expected(known) != [0.5] * 4
    fresh = critic.fresh()
    assert fresh == critic and fresh is not critic
    assert expected(fresh(policy, groups, [task], sandbox, seed=0)[0]) == [0.5] * 4
    assert repr(critic) == f"Critic(fitting={QUICK!r}, turn_rewards=None)"
    assert Critic(turn_rewards=first_turn_pays).fresh().turn_rewards is first_turn_pays


def test_a_reward_below_nothing_counts_as_nothing(policy, groups, task, sandbox):
    penalised = RewardDesign(solved=(all_pass("hidden"), 1.0), lost=(lost, -3.0))
    plain, other = Critic(QUICK), Critic(QUICK)
    for _ in range(2):
        a, _ = plain(policy, groups, [task], sandbox, seed=0)
        b, _ = other(policy, groups, [task], sandbox, seed=0, reward=penalised)
    assert expected(a) == expected(b) != [0.5] * 4


def lost(trajectory, task):
    """Component: 1 where a hidden test failed."""
    return float(any(o.status != "passed" for o in trajectory.verdict.outcomes))


def nobody_knows(trajectory, task):
    """Component: cannot be judged."""
    return None


def first_turn_pays(trajectory):
    """Half a point on the first turn, nothing later."""
    return [0.5] + [0.0] * (len(trajectory.turns) - 1)


def test_what_turns_earn_is_expected_until_it_has_been_earned(policy, groups, task, sandbox):
    """Nobody solves it for a reward: before the first turn 0.5 is to come, afterwards nothing."""
    nothing = RewardDesign(solved=(all_pass("hidden"), 0.0))
    critic = Critic(QUICK, turn_rewards=first_turn_pays)
    for number in range(30):
        known, _ = critic(policy, groups, [task], sandbox, seed=number, reward=nothing)
    start, after_good, same_start, after_bad = expected(known)
    assert start == same_start == pytest.approx(0.5, abs=0.2)
    assert after_good < 0.05 and after_bad < 0.05


def test_what_nobody_could_judge_teaches_nothing(policy, groups, task, sandbox):
    critic, unjudged = Critic(QUICK), RewardDesign(unknown=(nobody_knows, 1.0))
    for _ in range(2):
        known, _ = critic(policy, groups, [task], sandbox, seed=0, reward=unjudged)
    assert expected(known) == [0.5] * 4


def test_it_stops_before_it_learns(policy, groups, task, sandbox):
    critic = Critic(QUICK)
    with pytest.raises(RolloutStopped):
        critic(policy, groups, [task], sandbox, seed=0, stop=lambda: True)
    assert np.allclose(expected(critic.model.annotate(groups)), 0.5)
