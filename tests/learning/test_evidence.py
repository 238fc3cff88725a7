"""Evidence in the loop: asked for before scoring, counted, stopped, resumed, and what it does."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from workbench.counterfactuals import Cost, Rerolls
from workbench.credit import reroll_advantage, turn_gae
from workbench.learning import RLConfig, TrainConfig, train
from workbench.learning.loop import require_credit
from workbench.process_rewards import Critic
from workbench.records import TurnValue
from workbench.rewards import RewardDesign, mergeability, own_tests_fail_on_base, totals
from workbench.runlog import load_run

REROLLED = TrainConfig(
    rl=RLConfig(
        iterations=2,
        tasks_per_iteration=2,
        group_size=3,
        lr=3e-3,
        evidence=Rerolls(2),
        credit=reroll_advantage,
    ),
    max_turns=2,
    dtype="float32",
)


def with_rl(**changes):
    return replace(REROLLED, rl=replace(REROLLED.rl, **changes))


def half(trajectory, task):
    """Component: everybody gets the same."""
    return 0.5


def test_what_the_reward_reads_is_collected_before_it_scores_also_rerolls(
    make_policy, tasks, sandbox, tmp_path
):
    settings = dict(config=with_rl(iterations=1, group_size=2), reward=mergeability())
    train(make_policy(), tasks, sandbox, "rl", folder=tmp_path / "run", **settings).wait()
    [stored] = load_run(tmp_path / "run").iterations
    for trajectory in (t for group in stored.groups for t in group.trajectories):
        assert trajectory.evidence.lint is not None and trajectory.evidence.security is not None
        assert trajectory.verdict.of_suite("agent_on_base")


def test_a_reward_that_reads_what_a_task_cannot_have_is_refused_before_anything_is_sampled(
    make_policy, tasks, sandbox, tmp_path
):
    without = [replace(tasks[0], reference={})]
    reward = RewardDesign(own=(own_tests_fail_on_base, 1.0))
    with pytest.raises(ValueError, match='leave out the collector "agent_on_base" or this task'):
        train(make_policy(), without, sandbox, "rl", reward=reward, folder=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_rerolls_are_counted_stored_and_turned_into_credit(
    make_policy, tasks, sandbox, brevity, tmp_path
):
    settings = dict(config=REROLLED, reward=brevity, folder=tmp_path / "run")
    run = train(make_policy(), tasks, sandbox, "rl", **settings)
    run.wait()
    for row, stored in zip(run.metrics, load_run(tmp_path / "run").iterations):
        places = {
            (task.task_id, tuple(turn.action.ids for turn in t.turns[:k]))
            for task, group in zip(stored.tasks, stored.groups)
            for t in group.trajectories
            for k in range(len(t.turns))
        }
        assert row["num_rollouts"] == 6 and row["num_extra_rollouts"] == 2 * len(places)
        assert row["num_extra_sampled_tokens"] > 0
        for group, rewards, said in zip(stored.groups, totals(stored.rewards), stored.advantages):
            # values are of the run's own reward: of brevity they are all below 0
            assert group.turn_values and all(v.estimate < 0 for v in group.turn_values)
            credit = reroll_advantage(group, rewards, scale="std", ddof=1)
            for one, other in zip(credit, said):
                assert np.allclose(one, other)


def test_a_run_without_evidence_counts_none(make_policy, tasks, sandbox, brevity, tmp_path):
    config = with_rl(iterations=1, evidence=None, credit=RLConfig().credit)
    run = train(make_policy(), tasks, sandbox, "rl", config=config, folder=tmp_path / "run",
                reward=brevity)  # fmt: skip
    run.wait()
    assert run.metrics[0]["num_extra_rollouts"] == run.metrics[0]["num_extra_sampled_tokens"] == 0


def first_turn_helped(policy, groups, tasks, sandbox, **options):
    """Evidence by hand: a quarter is to be expected at the start and a half after the first turn,
    of the first group alone."""
    values = [
        TurnValue(i, k - 1, 0.25 if k == 0 else 0.5, 0.0, 0, "by hand")
        for i, t in enumerate(groups[0].trajectories)
        for k in range(len(t.turns))
    ]
    flat = [
        TurnValue(i, k - 1, 0.5, 0.0, 0, "by hand")
        for i, t in enumerate(groups[1].trajectories)
        for k in range(len(t.turns))
    ]
    known = [replace(groups[0], turn_values=tuple(values))]
    return known + [replace(groups[1], turn_values=tuple(flat))], Cost(num_rollouts=7)


def test_a_group_of_equal_rewards_is_dropped_only_if_its_turns_learn_nothing(
    make_policy, tasks, sandbox, tmp_path
):
    config = with_rl(iterations=1, evidence=first_turn_helped, advantage_scale="none")
    policy = make_policy()
    before = policy.version
    run = train(policy, tasks, sandbox, "rl", config=config, folder=tmp_path / "run",
                reward=RewardDesign(half=(half, 1.0)))  # fmt: skip
    run.wait()
    assert run.metrics[0]["num_tied"] == 2 and run.metrics[0]["num_extra_rollouts"] == 7
    helped, flat = load_run(tmp_path / "run").iterations[0].advantages
    # a half is earned in the end: the first turn gained a quarter, the second nothing
    assert {tuple(np.atleast_1d(numbers)) for numbers in helped} <= {(0.25, 0.0), (0.25,)}
    assert all(np.isnan(numbers).all() for numbers in flat)  # half minus half: dropped
    assert run.metrics[0]["num_updates"] > 0 and policy.version != before


CALLS = []
RUNS = []


def stops_once(policy, groups, tasks, sandbox, *, stop, **options):
    """Re-rolls; at its second call the run is asked to stop while they are under way."""
    CALLS.append(1)
    if len(CALLS) == 2:
        RUNS[0].stop()
    return Rerolls(2)(policy, groups, tasks, sandbox, stop=stop, **options)


@pytest.mark.slow
def test_a_run_that_is_stopped_among_its_rerolls_continues_bit_equal(
    make_policy, tasks, sandbox, brevity, tmp_path
):
    config = with_rl(evidence=stops_once)
    settings = dict(config=config, reward=brevity)
    CALLS[:] = [1, 1]  # never the second
    whole = train(make_policy(), tasks, sandbox, "rl", **settings, folder=tmp_path / "whole")
    version, rows = whole.wait().policy.version, without_seconds(whole.metrics)
    CALLS.clear()
    run = train(make_policy(), tasks, sandbox, "rl", **settings, folder=tmp_path / "run")
    RUNS[:] = [run]
    assert run.wait().state == "stopped" and len(run.metrics) == 1
    resumed = train(make_policy(), tasks, sandbox, "rl", **settings, folder=tmp_path / "run",
                    resume=True)  # fmt: skip
    assert resumed.wait().policy.version == version
    assert without_seconds(resumed.metrics) == rows


def without_seconds(rows):
    return [{k: v for k, v in row.items() if k != "seconds"} for row in rows]


def test_a_critic_begins_anew_in_each_run_and_its_run_cannot_be_resumed(
    make_policy, tasks, sandbox, brevity, tmp_path
):
    critic = Critic()
    config = with_rl(evidence=critic, credit=partial(turn_gae, lam=1.0), advantage_scale="none")
    settings = dict(config=config, reward=brevity)
    versions = []
    for name in ("one", "two"):
        run = train(make_policy(), tasks, sandbox, "rl", **settings, folder=tmp_path / name)
        versions.append(run.wait().policy.version)
        first, second = load_run(tmp_path / name).iterations
        assert {v.estimate for group in first.groups for v in group.turn_values} == {0.5}
        assert {v.estimate for group in second.groups for v in group.turn_values} != {0.5}
        # what it has not learned yet is no harm to the sum: reward minus a half, on every turn
        for rewards, said in zip(totals(first.rewards), first.advantages):
            assert np.allclose([np.atleast_1d(s)[0] for s in said], rewards - 0.5)
    assert versions[0] == versions[1] and critic.model is None
    with pytest.raises(ValueError, match="resume: .*checkpoints hold whole, got Critic"):
        train(make_policy(), tasks, sandbox, "rl", **settings, folder=tmp_path / "one", resume=True)


def test_a_scheme_without_what_it_reads_is_refused_before_an_empty_update():
    unknown, known = np.full(3, np.nan), np.array([np.nan, 0.0])
    with pytest.raises(ValueError, match="got nan for every turn.*evidence=Rerolls"):
        require_credit([[unknown, unknown], [unknown]])
    require_credit([[unknown, known], [unknown]])
