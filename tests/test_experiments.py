"""Comparisons: arms and seeds in processes of their own, paired by task."""

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from workbench.experiments import Arm, Comparison, compare
from workbench.experiments.jobs import Job, prepare
from workbench.learning import RLConfig, TrainConfig
from workbench.policies import CausalLMPolicy, build_model, build_tokenizer
from workbench.rewards import RewardDesign, turn_penalty
from workbench.runlog import load_run, write_json
from workbench.tasks import load_tasks


@pytest.fixture
def by_hand(tmp_path):
    """Two arms, two seeds, four tasks; the second arm solves one task more with each seed."""
    a = [[1, 0, 0, 0], [1, 1, 0, 0]]
    b = [[1, 1, 0, 0], [1, 1, 1, 0]]
    submitted, turns = np.array([[0.5, 0.75], [1.0, 0.5]]), np.array([[4.0, 5.0], [3.0, 4.5]])
    return Comparison(
        *(("a", "b"), (0, 1), ("t0", "t1", "t2", "t3"), np.array([a, b], float)),
        *(submitted, turns, tmp_path),
    )


def test_rates_and_means_have_the_worked_values(by_hand):
    assert by_hand.rates("a").tolist() == [0.25, 0.5]
    mean = by_hand.mean("a")
    # mean 0.375, standard error 0.125, t(0.975, 1) = 12.706
    assert mean.estimate == 0.375 and mean.low == pytest.approx(0.375 - 12.706 * 0.125, abs=1e-3)


def test_differences_are_paired(by_hand):
    by_task = by_hand.difference("b", "a")
    assert by_task.estimate == 0.25 and by_task.low >= 0  # per task: 0, .5, .5, 0
    by_seed = by_hand.difference_by_seed("b", "a")
    assert (by_seed.estimate, by_seed.low, by_seed.high) == (0.25, 0.25, 0.25)


def test_a_comparison_prints_as_a_table(by_hand):
    lines = repr(by_hand).splitlines()
    assert lines[0] == "4 unseen tasks, seeds [0, 1], 95 % intervals"
    assert (
        lines[2].startswith("  a ") and lines[3].startswith("  b ") and "+25.0 points" in lines[3]
    )


def test_an_unknown_arm_is_named(by_hand):
    with pytest.raises(ValueError, match=r"expected one of \['a', 'b'\], got 'c'"):
        by_hand.rates("c")


def wanted(**changes):
    tasks = load_tasks("bugfix", split="train", count=2)
    return dict(arms=[Arm("a")], seeds=[0], tasks=tasks, unseen=tasks) | changes


def local_component(trajectory, task):
    return 0.0


local_component.__module__ = "__main__"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (dict(arms=[Arm("a"), Arm("a")]), "expected different names and seeds"),
        (dict(seeds=[1, 1]), "expected different names and seeds"),
        (dict(seeds="0"), "seeds: expected a whole number from 0 up, got '0'"),
        (dict(seeds=[0, -1]), "seeds: expected a whole number from 0 up, got -1"),
        (
            dict(seeds=3),
            r"seeds: expected a list of whole numbers, got 3; one alone is given as \[0\]",
        ),
        (dict(arms=Arm("a")), r"arms: expected a list of arms, got Arm.*given as \[arm\]"),
        (dict(arms=["a"]), r"arms: expected a list of arms, got 'a'; write Arm\(\"name\""),
        (dict(arms=[Arm("a", config=RLConfig())]), "config: expected a TrainConfig, got RLConfig"),
        (
            dict(arms=[Arm("a", config=TrainConfig(rl=RLConfig(group_size=1)))]),
            "rl.group_size: expected at least 2, got 1",
        ),
        (dict(arms=[Arm("a", reward=len)]), "reward of arm 'a': expected a RewardDesign"),
        (dict(unseen="bugfix"), "unseen: expected a list of tasks, got 'bugfix'"),
        (dict(seeds=[]), "expected arms, seeds and unseen tasks"),
        (dict(unseen=[]), "expected arms, seeds and unseen tasks"),
        (
            dict(arms=[Arm("a", reward=RewardDesign(mine=(local_component, 1.0)))]),
            "another process can't import",
        ),
    ],
)
def test_what_cannot_work_is_refused_before_anything_starts(tmp_path, changes, message):
    with pytest.raises(ValueError, match=message):
        compare(**wanted(**changes), folder=tmp_path / "all")
    assert not (tmp_path / "all").exists()


def test_a_setting_that_is_off_voids_no_run_that_was_finished_before_there_was_one(tmp_path):
    (task,) = load_tasks("bugfix", split="train", count=1)
    job = Job(Arm("a", tasks=(task,)), 0, (task,), False, tmp_path / "a")
    prepare(job)
    stored = json.loads((job.folder / "job.json").read_text())
    assert stored["config"]["rl"].pop("evidence") is None
    assert stored["config"]["max_turns"] == 8  # as when this was every task's number
    write_json(job.folder / "job.json", stored)
    prepare(job)
    write_json(job.folder / "job.json", stored | {"greedy": True})
    with pytest.raises(ValueError, match="expected the run of these settings"):
        prepare(job)


@pytest.mark.slow
def test_arms_are_trained_evaluated_and_read_again(tmp_path):
    tasks = load_tasks("bugfix", split="train", count=4)
    texts = [t.statement for t in tasks] + [f for t in tasks for f in t.files.values()]
    tokenizer = build_tokenizer(texts)
    model = build_model(tokenizer, hidden=32, layers=1, heads=2, intermediate=64)
    CausalLMPolicy(model, tokenizer).save(tmp_path / "policy")
    config = TrainConfig(
        rl=RLConfig(iterations=1, tasks_per_iteration=2, group_size=2), max_turns=2, dtype="float32"
    )
    reward = RewardDesign(brevity=(turn_penalty(0, 4), 1.0))
    trained = Arm("rl", "rl", config, reward, policy=str(tmp_path / "policy"))
    arms = [replace(trained, name="base", recipe=None), trained, replace(trained, name="again")]
    settings = dict(tasks=tasks, unseen=tasks[:3], folder=tmp_path / "all")
    seen = []
    found = compare(arms, [5], **settings, workers=2, on_progress=seen.append)
    assert found.solved.shape == (3, 1, 3) and not np.isnan(found.solved).any()
    assert seen[-1].num_done == seen[-1].num_total == 3
    first, second = (load_run(tmp_path / "all" / arm / "seed-5" / "run") for arm in ("rl", "again"))
    # the second in a process that had worked on another arm before
    assert first.status["policy_version"] == second.status["policy_version"]
    assert (
        json.loads((tmp_path / "all/rl/seed-5/run/status.json").read_text())["state"] == "finished"
    )
    seen.clear()
    again = compare(arms, [5], **settings, on_progress=seen.append)
    assert seen == [] and np.array_equal(again.solved, found.solved)  # nothing ran
    with pytest.raises(ValueError, match="found another one under the same name"):
        compare([replace(arms[1], recipe="rft")], [5], **settings)


@pytest.mark.slow
def test_a_run_ends_when_the_process_that_started_it_does():
    code = "from workbench.experiments.jobs import given_on_stdin; next(given_on_stdin())"
    process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(2)
    process.stdin.close()  # as the system does when the owner of the pipe is gone
    assert process.wait(60) == 1


@pytest.mark.slow
def test_a_run_that_fails_says_where_its_output_is(tmp_path):
    with pytest.raises(RuntimeError, match="(?s)a/seed-0 ended with status 1.*no-such-policy"):
        compare(**wanted(arms=[Arm("a", policy="no-such-policy")]), folder=tmp_path / "all")
