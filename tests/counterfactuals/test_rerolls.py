"""Re-rolls estimate what counting gives, share what attempts have in common, and keep to seeds."""

from dataclasses import replace

import numpy as np
import pytest

from workbench import RewardDesign, load_tasks, open_policy, rollout
from workbench.counterfactuals import (
    Rerolls,
    exact_turn_values,
    planted_policy,
    planted_team,
    play_agents,
    replay,
    replay_subsets,
    reroll,
    reroll_many,
)
from workbench.credit import reroll_advantage
from workbench.episodes import RolloutStopped
from workbench.evaluation import SOLVED
from workbench.policies import MenuPolicy
from workbench.records import SamplerSettings


def test_estimates_agree_with_exact_values_within_their_error(policy, group, task, sandbox):
    rerolled, _ = reroll(policy, group, task, sandbox, num_rerolls=40, seed=3, max_turns=5)
    exact, _ = exact_turn_values(policy, group, task, sandbox, max_turns=5)
    places = [(v.trajectory_index, v.turn_index) for v in rerolled.turn_values]
    assert places == [(v.trajectory_index, v.turn_index) for v in exact.turn_values]
    estimates, truth = (np.array([v.estimate for v in g.turn_values]) for g in (rerolled, exact))
    errors = np.sqrt(truth * (1 - truth) / 40)
    assert (np.abs(estimates - truth) <= 4 * errors + 1e-9).all()
    assert all(v.num_rerolls == 40 and v.how == "reroll" for v in rerolled.turn_values)
    said = np.array([v.standard_error for v in rerolled.turn_values])
    assert np.allclose(said, np.sqrt(estimates * (1 - estimates) / 39))


def test_credit_from_rerolls_sums_to_reward_minus_the_value_of_the_start(
    policy, group, task, sandbox
):
    rerolled, _ = reroll(policy, group, task, sandbox, num_rerolls=4, max_turns=5)
    rewards = np.array([SOLVED.score(t, task).total for t in group.trajectories])
    assert 0 < rewards.sum() < len(rewards)
    start = rerolled.turn_values[0].estimate
    credit = reroll_advantage(rerolled, rewards)
    assert np.allclose([c.sum() for c in credit], rewards - start)


def test_attempts_that_begin_alike_share_their_places(policy, group, task, sandbox):
    rerolled, cost = reroll(policy, group, task, sandbox, num_rerolls=2, max_turns=5)
    prefixes = {
        tuple(turn.action.text for turn in t.turns[:k])
        for t in group.trajectories
        for k in range(len(t.turns))
    }
    assert len(prefixes) < len(rerolled.turn_values)
    assert cost.num_rollouts == 2 * len(prefixes) and cost.cpu_s > 0
    assert len({v.estimate for v in rerolled.turn_values if v.turn_index == -1}) == 1


def test_the_same_seed_gives_the_same_values_and_another_one_others(policy, group, task, sandbox):
    def values(seed):
        rerolled, _ = reroll(policy, group, task, sandbox, 4, seed, max_turns=5)
        return rerolled.turn_values

    assert values(0) == values(0) != values(1)


def test_rerolls_do_not_repeat_the_rollouts_own_random_numbers(task, sandbox):
    def looked(trajectory, task):
        return float(trajectory.turns[0].action.text == "ls")

    policy = MenuPolicy(lambda observation: {"ls": 0.5, "submit": 0.5})
    options = dict(reward=RewardDesign(looked=(looked, 1.0)), max_turns=1)
    own, rerolled = [], []
    for seed in range(4):
        group = rollout(policy, task, sandbox, n=64, seed=seed, max_turns=1)
        own.append(np.mean([looked(t, task) for t in group.trajectories]))
        values = reroll(policy, group, task, sandbox, 64, seed, **options)[0].turn_values
        rerolled.append(values[0].estimate)
    assert own != rerolled  # 31, 33, 33, 32 and 30, 28, 31, 27 of 64


def test_a_group_that_does_not_replay_is_refused(policy, group, task, sandbox):
    other = load_tasks("bugfix", split="train", count=2)[1]
    with pytest.raises(ValueError, match="trajectory 0, turn 0: expected the recorded answer"):
        renamed = replace(other, statement=task.statement, task_id=task.task_id)
        reroll(policy, group, renamed, sandbox, 2, max_turns=5)
    with pytest.raises(ValueError, match=r"task: expected one task, got \[Task"):
        reroll(policy, group, [task], sandbox)
    with pytest.raises(ValueError, match="num_rerolls: expected at least 2"):
        reroll(policy, group, task, sandbox, 1)


@pytest.mark.parametrize(
    "play",
    [
        lambda policy, group, *rest: reroll(policy, group, *rest),
        lambda policy, group, *rest: exact_turn_values(policy, group, *rest),
        lambda policy, group, *rest: replay_subsets(group, *rest),
        lambda policy, group, *rest: replay(group.trajectories[0], *rest),
        lambda policy, group, *rest: play_agents(planted_team(rest[0]), {}, group, *rest),
    ],
)
def test_another_task_is_named_before_anything_is_played(policy, group, task, sandbox, play):
    other = load_tasks("bugfix", split="train", count=2)[1]
    why = f"task: expected '{task.task_id}', which was rolled out here, got '{other.task_id}'"
    with pytest.raises(ValueError, match=why):
        play(policy, group, other, sandbox)


def test_groups_share_a_session_and_not_their_places(policy, group, task, sandbox):
    twice, cost = reroll_many(policy, [group, group], [task, task], sandbox, 12, 3, max_turns=5)
    alone, cost_alone = reroll(policy, group, task, sandbox, 12, 3, max_turns=5)
    assert cost.num_rollouts == 2 * cost_alone.num_rollouts
    exact, _ = exact_turn_values(policy, group, task, sandbox, max_turns=5)
    truth = np.array([v.estimate for v in exact.turn_values])
    for known in twice:
        estimates = np.array([v.estimate for v in known.turn_values])
        assert (np.abs(estimates - truth) <= 4 * np.sqrt(truth * (1 - truth) / 12) + 1e-9).all()
    assert twice[0].turn_values != twice[1].turn_values  # each group has re-rolls of its own
    single, _ = reroll_many(policy, [group], [task], sandbox, 12, 3, max_turns=5)
    assert single[0].turn_values == alone.turn_values


def test_more_groups_than_a_session_holds_are_taken_one_session_after_the_other(task, sandbox):
    policy = planted_policy(task)
    groups = [rollout(policy, task, sandbox, n=40, seed=s, max_turns=2) for s in (1, 2)]
    known, _ = reroll_many(policy, groups, [task, task], sandbox, 2, max_turns=2)
    for before, after in zip(groups, known):
        assert len(after.turn_values) == sum(len(t.turns) for t in before.trajectories)


def test_evidence_for_a_run_is_paid_by_the_runs_own_reward_and_stops_when_asked(
    policy, group, task, sandbox
):
    design = RewardDesign(always=(always, 1.0))
    evidence, options = Rerolls(2), dict(seed=0, reward=design, max_turns=5)
    [known], cost = evidence(policy, [group], [task], sandbox, **options)
    assert {v.estimate for v in known.turn_values} == {0.25} and cost.num_rollouts > 0
    assert repr(evidence) == "Rerolls(num_rerolls=2)" and evidence == Rerolls(2) != Rerolls(4)
    asked = []

    def stop():
        asked.append(1)
        return len(asked) == 3

    with pytest.raises(RolloutStopped, match="re-rolls of 1 groups were under way"):
        evidence(policy, [group], [task], sandbox, **options, stop=stop)


def always(trajectory, task):
    """Component: a quarter, whatever happens."""
    return 0.25


@pytest.mark.slow
def test_a_model_rerolls_from_its_recorded_ids(task, sandbox):
    """Each place's first re-rolled turn continues exactly the recorded tokens."""
    policy = open_policy("tiny")
    sampler = SamplerSettings(max_action_tokens=48)
    group = rollout(policy, task, sandbox, n=2, seed=0, sampler=sampler)
    one, cost = reroll(policy, group, task, sandbox, 4, seed=0)
    two, _ = reroll(policy, group, task, sandbox, 4, seed=0)
    assert one.turn_values == two.turn_values
    assert len(one.turn_values) == sum(len(t.turns) for t in group.trajectories)
    assert cost.num_sampled_tokens > 0
    assert all(0 <= v.estimate <= 1 for v in one.turn_values)
