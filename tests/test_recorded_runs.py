"""The runs that come with the project: what made them, and that they are of the shipped policy."""

import numpy as np
import pytest

from workbench.credit import reroll_advantage, reroll_standard_errors, shapley
from workbench.plots.crediting import solved_rewards
from workbench.policies import open_policy
from workbench.reproduce import CLAIMS
from workbench.rewards import RewardDesign, all_pass, tampered
from workbench.runlog import RECORDED, load_run

RUNS = sorted(path.name for path in RECORDED.iterdir())


def test_there_are_some():
    assert "bugfix-before-after" in RUNS


@pytest.mark.parametrize("name", RUNS)
def test_a_recorded_run_is_small_and_says_which_command_makes_it(name):
    run = load_run(name)
    assert run.state == "finished"
    assert run.config["command"].split()[:4] == ["python3", "-m", "workbench", "reproduce"]
    assert run.config["command"].split()[4] in CLAIMS
    assert sum(file.stat().st_size for file in run.folder.iterdir()) <= 3_000_000


@pytest.mark.parametrize("name", RUNS)
def test_a_recorded_run_is_of_the_shipped_policy(name):
    assert load_run(name).config["policy_hash"] == open_policy("tiny").version


def test_the_reward_bench_can_tell_its_stages_apart(before_after):
    rewards = RewardDesign(
        paid=(all_pass("visible_as_left"), 1.0),
        edited=(tampered, 0.0),
        true=(all_pass("hidden"), 0.0),
    )
    means = {
        stage: rewards.score_many(before_after.groups(stage=stage), before_after.tasks)[
            ["paid", "edited", "true"]
        ].mean()
        for stage in before_after.config["stages"]
    }
    assert means["cheating"]["edited"] > 0.9 and means["cheating"]["true"] < 0.02
    assert means["cheating"]["paid"] > 0.8 > 0.3 > means["base"]["paid"]
    assert means["honest"]["true"] > 0.5 and means["honest"]["edited"] == 0
    assert 0.4 < means["halfway"]["edited"] < 0.6


def test_the_credit_lab_knows_what_every_turn_changed_and_what_every_subset_earns():
    run = load_run("credit-groups")
    assert {stage: len(run.groups(stage=stage)) for stage in run.config["stages"]} == {
        "base": 4, "trained": 4, "planted": 4,
    }  # fmt: skip
    for group in run.groups:
        rewards = solved_rewards(group)
        assert 0 < rewards.sum() < len(rewards)
        start = group.turn_values[0].estimate
        for reward, truth in zip(rewards, reroll_advantage(group, rewards)):
            assert truth.sum() == pytest.approx(reward - start)
        assert np.nanmax(np.concatenate(reroll_standard_errors(group))) < 0.07
        assert not any(np.isnan(numbers).any() for numbers in shapley(group, rewards))
    exact = [value for group in run.groups(stage="planted") for value in group.turn_values]
    assert {value.how for value in exact} == {"exact"}


def test_in_most_solved_attempts_of_the_recording_one_turn_stands_out():
    shares = []
    for group in load_run("credit-groups").groups(stage="base"):
        rewards = solved_rewards(group)
        truth = reroll_advantage(group, rewards)
        shares += [truth[i].max() / truth[i].sum() for i in np.flatnonzero(rewards == 1.0)]
    assert len(shares) == 10 and np.median(shares) > 0.5
