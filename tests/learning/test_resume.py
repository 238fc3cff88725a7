"""A run that is killed at any moment, and resumed, ends like one that never was."""

import json
import math
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from workbench.learning import RLConfig, TrainConfig, train
from workbench.learning.checkpoint import (
    Place,
    derive_seed,
    load_checkpoint,
    restore,
    save_checkpoint,
    snapshot,
)
from workbench.learning.folder import first_difference, open_log
from workbench.runlog import LogPosition, RunLog, load_run

TOP = Path(__file__).parents[2]
SCRIPT = Path(__file__).with_name("killed_run.py")


@pytest.fixture(scope="module")
def run_script():
    """(folder, moment, number) -> (exit code, output) of a run in a process of its own."""
    process = subprocess.Popen(
        [sys.executable, SCRIPT],
        env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(TOP)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )

    def run(folder, moment="never", number=0):
        process.stdin.write(json.dumps([str(folder), moment, number]) + "\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline())

    yield run
    process.communicate()  # ends at the end of its input


def content(folder):
    """Everything a run has logged, but for the seconds."""
    run = load_run(folder)
    rows = [{k: v for k, v in row.items() if k != "seconds"} for row in run.metrics]
    said = [
        (s.stage, s.iteration, s.rewards, str(s.advantages))
        + tuple(turn.action for g in s.groups for t in g.trajectories for turn in t.turns)
        for s in run.iterations
    ]
    return rows, said


@pytest.fixture(scope="module")
def whole(run_script, tmp_path_factory):
    """Final weights and log of the run that nobody interrupts."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    code, printed = run_script(folder)
    assert code == 0, printed
    return printed, content(folder)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("moment", "number"), [("sampling", 15), ("update", 12), ("checkpoint rename", 5)]
)
def test_a_killed_run_continues_bit_equal(run_script, whole, tmp_path, moment, number):
    code, printed = run_script(tmp_path / "run", moment, number)
    assert code == -signal.SIGKILL, printed
    assert content(tmp_path / "run")[0]  # readable as it lies there
    assert run_script(tmp_path / "run") == [0, whole[0]]
    assert content(tmp_path / "run") == whole[1]


@pytest.mark.slow
def test_a_run_killed_again_and_again_continues_bit_equal(run_script, whole, tmp_path):
    moments = [
        ("sampling", 3),  # rejection fine-tuning samples
        ("rollouts written", 3),  # the log is ahead of the checkpoint
        ("checkpoint file", 6),
        ("old checkpoint", 2),
        ("re-rolls", 2),  # of the first RL iteration
        ("optimiser", 2),  # between two updates of one iteration
    ]
    for moment, number in moments:
        code, printed = run_script(tmp_path / "run", moment, number)
        assert code == -signal.SIGKILL, printed
    assert run_script(tmp_path / "run") == [0, whole[0]]
    assert content(tmp_path / "run") == whole[1]


def test_a_stopped_run_continues_bit_equal(make_policy, tasks, sandbox, brevity, tmp_path):
    config = TrainConfig(
        rl=RLConfig(iterations=4, tasks_per_iteration=2, group_size=3),
        max_turns=2,
        dtype="float32",
        checkpoint_every=3,
    )
    settings = dict(config=config, reward=brevity, folder=tmp_path / "stopped")
    never = make_policy()
    train(never, tasks, sandbox, "rl", **(settings | dict(folder=tmp_path / "never"))).wait()

    policy, handle = make_policy(), []

    def stop_after_two(row):
        if row["iteration"] == 1:
            handle[0].stop()

    import threading

    started = threading.Event()
    run = train(
        policy,
        tasks,
        sandbox,
        "rl",
        **settings,
        on_metrics=lambda row: started.wait() and stop_after_two(row),
    )
    handle.append(run)
    started.set()
    assert run.wait().state == "stopped" and len(run.metrics) == 2
    resumed = train(make_policy(), tasks, sandbox, "rl", **settings, resume=True)
    assert resumed.wait().state == "finished"
    assert resumed.result.policy.version == never.version
    assert content(tmp_path / "stopped") == content(tmp_path / "never")
    again = train(make_policy(), tasks, sandbox, "rl", **settings, resume=True)
    assert again.wait().policy.version == never.version  # nothing left to do


def test_another_run_is_not_resumed_by_mistake(make_policy, tasks, sandbox, brevity, tmp_path):
    config = TrainConfig(
        rl=RLConfig(iterations=1, tasks_per_iteration=2, group_size=2), max_turns=1, dtype="float32"
    )
    settings = dict(config=config, reward=brevity, folder=tmp_path / "run")
    train(make_policy(), tasks, sandbox, "rl", **settings).wait()
    with pytest.raises(ValueError, match="already holds a run"):
        train(make_policy(), tasks, sandbox, "rl", **settings)
    other = dict(config=replace(config, max_turns=2))
    with pytest.raises(ValueError, match=r"but config\.max_turns: stored 1, got 2"):
        train(make_policy(), tasks, sandbox, "rl", **(settings | other), resume=True)
    with pytest.raises(ValueError, match=r"but tasks\.num: stored 16, got 4"):
        train(make_policy(), tasks[:4], sandbox, "rl", **settings, resume=True)
    with pytest.raises(ValueError, match=r"expected the run's folder too.*folder=run\.folder"):
        train(make_policy(), tasks, sandbox, "rl", config=config, reward=brevity, resume=True)
    with pytest.raises(ValueError, match="found none at"):
        train(
            make_policy(),
            tasks,
            sandbox,
            "rl",
            **(settings | dict(folder=tmp_path / "nowhere")),
            resume=True,
        )


def test_a_folder_of_other_files_stays_as_it_is(make_policy, tasks, sandbox, tmp_path):
    (tmp_path / "page.md").write_text("mine")
    with pytest.raises(ValueError, match=r"expected a new one, but .* holds page\.md and no run"):
        train(make_policy(), tasks, sandbox, "rl", folder=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["page.md"]


def test_a_run_begins_where_one_was_killed_before_its_settings_were_written(tmp_path):
    RunLog.create(tmp_path, {})
    (tmp_path / "config.json").unlink()
    assert open_log(tmp_path, {"seed": 3}, resume=False) and load_run(tmp_path).config["seed"] == 3


@pytest.mark.parametrize(
    ("stored", "got", "where"),
    [
        ({"rl": {"lr": 1, "iterations": 2}}, {"rl": {"lr": 1, "iterations": 3}},
         "x.rl.iterations: stored 2, got 3"),
        ([{"name": "a"}, {"weight": 1.0}], [{"name": "a"}, {"weight": 0.5}],
         "x.1.weight: stored 1.0, got 0.5"),
        ([1], [1, 2], "x.1: stored 'nothing', got 2"),
        ({"a": None}, {}, "x.a: stored None, got 'nothing'"),
        ("long" * 99, {"a": 1}, f"x: stored {('long' * 99)!r:.200}, got {{'a': 1}}"),
    ],
)  # fmt: skip
def test_what_differs_first_is_named(stored, got, where):
    assert first_difference("x", stored, got) == where


def test_settings_that_json_writes_differently_are_still_the_same_run(
    make_policy, tasks, sandbox, brevity, tmp_path
):
    rl = RLConfig(
        iterations=1, tasks_per_iteration=2, group_size=2, clip_high=math.inf, betas=(0.9, 0.9)
    )
    settings = dict(
        config=TrainConfig(rl=rl, max_turns=1, dtype="float32"),
        reward=brevity,
        folder=tmp_path / "run",
    )
    first = train(make_policy(), tasks, sandbox, "rl", **settings).wait()
    again = train(make_policy(), tasks, sandbox, "rl", **settings, resume=True).wait()
    assert again.policy.version == first.policy.version


@pytest.fixture
def trained(make_policy):
    """A policy and an optimiser that has made one update."""
    policy = make_policy()
    optimiser = torch.optim.AdamW(policy.model.parameters(), lr=1e-3)
    policy.model(torch.tensor([[1, 2, 3]])).logits.sum().backward()
    optimiser.step()
    return policy, optimiser


def test_a_checkpoint_comes_back_bit_equal(trained, make_policy, tmp_path):
    policy, optimiser = trained
    place, position = Place("rl", 7), LogPosition(10, 20)
    save_checkpoint(tmp_path, snapshot(policy.model, optimiser), place, position)
    saved, *rest = load_checkpoint(tmp_path)
    other = make_policy(seed=1)
    fresh = torch.optim.AdamW(other.model.parameters(), lr=9.0)
    restore(saved, other.model, fresh)
    assert rest == [place, position] and other.version == policy.version
    moments = zip(optimiser.state_dict()["state"].values(), fresh.state_dict()["state"].values())
    assert all(torch.equal(a["exp_avg_sq"], b["exp_avg_sq"]) for a, b in moments)


def test_the_last_two_checkpoints_are_kept_and_unfinished_ones_ignored(trained, tmp_path):
    policy, optimiser = trained
    for number in range(4):
        save_checkpoint(
            tmp_path, snapshot(policy.model, None), Place("rl", number), LogPosition(0, 0)
        )
    shutil.copytree(tmp_path / "000003", tmp_path / ".writing-000004")
    assert load_checkpoint(tmp_path)[1] == Place("rl", 3)
    assert sorted(p.name for p in tmp_path.glob("0*")) == ["000002", "000003"]


def test_a_snapshot_is_a_copy(trained):
    policy, optimiser = trained
    saved, before = snapshot(policy.model, optimiser), policy.version
    optimiser.step()
    assert policy.version != before
    restore(saved, policy.model, optimiser)
    assert policy.version == before


def test_a_policy_with_other_parameters_is_refused(trained, make_policy):
    saved = snapshot(trained[0].model, None)
    with pytest.raises(ValueError, match="expected the parameters this policy trains"):
        restore(saved, make_policy(layers=1).model)


def test_seeds_differ_by_purpose_and_repeat():
    seeds = {
        derive_seed(run, stage, i, what)
        for run in (0, 1)
        for stage in ("rft", "rl")
        for i in range(50)
        for what in ("sample", "minibatches")
    }
    assert len(seeds) == 400 and all(0 <= s < 2**63 for s in seeds)
    assert derive_seed(0, "rl", 1) == derive_seed(0, "rl", 1)
