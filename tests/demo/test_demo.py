"""The headless runs: counts fixed before the start, lines while they go on, files at the end."""

import json
from dataclasses import replace
from itertools import count

import pytest

import workbench.demo
from workbench import commands
from workbench.__main__ import parser
from workbench.bootstrap import SetupError
from workbench.demo import cheat, demo
from workbench.demo.counts import (
    cheat_counts_for,
    counts_for,
    fixed_counts,
    timed_episode_s,
)
from workbench.demo.measured import table
from workbench.demo.telling import attempt_in_words, follow, row_in_words, run_folder
from workbench.episodes import rollout
from workbench.learning import RFTConfig, RLConfig, TrainConfig
from workbench.learning.folder import open_log
from workbench.learning.provenance import RESUME_NEEDS
from workbench.policies import ScriptedPolicy, open_policy
from workbench.runlog import RunLog
from workbench.tasks import load_tasks

SMALL = TrainConfig(
    rft=RFTConfig(num_tasks=4, group_size=2, tasks_per_iteration=4),
    rl=RLConfig(iterations=2, tasks_per_iteration=2, group_size=2),
    evaluate_every=1,
)


def begin(name, folder):
    """Leave in the folder what a run of that name does as soon as it is begun."""
    fixed_counts(folder, name, lambda: {"rl_iterations": 2})


def test_minutes_become_counts_that_a_slower_machine_gets_fewer_of():
    config = TrainConfig()
    slow, fast = (counts_for(600, seconds, config) for seconds in (0.06, 0.02))
    assert fast["rft_tasks"] == config.rft.num_tasks
    assert slow["rl_iterations"] < fast["rl_iterations"]
    # 0.02 s an episode: 30 + 28.2 s fixed, 41 s of RFT, 4.096 s an RL iteration
    assert fast["rl_iterations"] == int((600 - 30 - 1408 * 0.02 - 2048 * 0.02) / 4.096)


def test_too_few_minutes_say_how_many_more_are_needed():
    # 0.05 s an episode: 30 + 70.4 s fixed, 25.6 s of RFT, 41 s of RL are three minutes
    with pytest.raises(SetupError, match="expected at least about 3 on this machine"):
        counts_for(60, 0.05, TrainConfig())


def test_minutes_become_iterations_of_each_cheating_run():
    config = TrainConfig()
    # 0.01 s an episode: 30 s, 20.48 s of RFT, 7.68 s of evaluation; 2.048 s an RL iteration
    counts = cheat_counts_for(300, 0.01, config, num_test=256, num_arms=3)
    assert counts == {"rl_iterations": int((300 - 30 - 20.48 - 7.68) / 3 / 2.048)}
    with pytest.raises(SetupError, match="expected at least about 2 .* got 1;"):
        cheat_counts_for(60, 0.01, config, num_test=256, num_arms=3)


@pytest.mark.parametrize("run", [demo, cheat])
def test_too_few_minutes_are_refused_before_the_base_is_evaluated(
    run, tmp_path, monkeypatch, capsys
):
    def slow(*_):
        return 10.0  # seconds an episode

    monkeypatch.setattr(f"{run.__module__}.timed_episode_s", slow)
    with pytest.raises(SetupError, match="--minutes: expected at least about .*, got 3;"):
        run(minutes=3, out=tmp_path / "run", num_test=4)
    assert not (tmp_path / "run").exists() and capsys.readouterr().out == ""


@pytest.mark.slow
def test_a_few_attempts_are_timed(sandbox):
    policy, tasks = open_policy("tiny"), load_tasks("bugfix", "test", 40)
    assert 0.0 < timed_episode_s(policy, tasks, sandbox, seed=0) < 60.0


def test_counts_are_made_once_and_kept_for_a_resumed_run(tmp_path):
    numbers = count(7)
    for _ in range(2):
        counts = fixed_counts(tmp_path / "run", "demo-0", lambda: {"n": next(numbers)})
        assert counts == {"name": "demo-0", "n": 7}


def test_a_folder_with_something_in_it_is_not_written_over(tmp_path, monkeypatch):
    (tmp_path / "precious").write_text("kept")
    with pytest.raises(SetupError, match="is not empty"):
        run_folder("demo-0", tmp_path, resume=False)
    with pytest.raises(SetupError, match="expected a run of demo-0 in .*, found none"):
        run_folder("demo-0", tmp_path, resume=True)


def test_without_a_folder_the_first_free_name_is_taken_and_the_newest_resumed(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SetupError, match="expected a run of demo-0 in runs/demo-0, found none"):
        run_folder("demo-0", None, resume=True)
    first = run_folder("demo-0", None, resume=False)
    begin("demo-0", first)
    assert run_folder("demo-0", None, resume=False).name == "demo-0-2"
    assert run_folder("demo-0", None, resume=True) == first


def test_another_seed_s_run_is_not_resumed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("demo-1", "demo-1-2", "demo-10"):  # the last is the newest
        begin(name.removesuffix("-2"), tmp_path / "runs" / name)
    assert run_folder("demo-1", None, True).name == "demo-1-2"
    with pytest.raises(SetupError, match="expected a run of demo-1 in .*, found demo-10"):
        run_folder("demo-1", "runs/demo-10", True)


@pytest.mark.parametrize("run, name, other", [(demo, "demo", "cheat"), (cheat, "cheat", "demo")])
def test_a_run_of_the_other_demo_is_not_resumed(run, name, other, tmp_path, capsys):
    begin(f"{other}-0", tmp_path)
    with pytest.raises(SetupError, match=f"expected a run of {name}-0 in .*, found {other}-0"):
        run(out=tmp_path, resume=True)
    assert capsys.readouterr().out == ""


def test_how_long_a_run_takes_is_said_when_it_is_begun_and_not_again(capsys):
    with pytest.raises(SystemExit):
        parser().parse_args(["demo", "--resume", "--minutes", "3"])
    assert "--minutes: not allowed with argument --resume" in capsys.readouterr().err


@pytest.mark.parametrize("options", [[], ["--cheat"]])
def test_a_run_begun_where_its_numbers_would_differ_is_refused_in_a_line(
    options, tmp_path, monkeypatch
):
    def begun_elsewhere(**given):
        there, here = (
            dict.fromkeys(RESUME_NEEDS, 0) | {"config": {"dtype": dtype}}
            for dtype in ("bfloat16", "float32")
        )
        RunLog.create(tmp_path, there)
        open_log(tmp_path, here, resume=given["resume"])

    monkeypatch.setattr(workbench.demo, "cheat" if options else "demo", begun_elsewhere)
    arguments = parser().parse_args(["demo", "--resume", *options])
    with pytest.raises(SetupError, match="but config.dtype: stored 'bfloat16', got 'float32'"):
        commands.run(arguments)


class Interrupted:
    """A run while which Ctrl-C is pressed."""

    done = False

    def __init__(self, folder):
        self.folder = folder

    @property
    def metrics(self):
        raise KeyboardInterrupt

    def stop(self):
        self.done = True

    def wait(self):
        assert self.done


def test_an_interrupt_tells_how_to_go_on(tmp_path, capsys):
    with pytest.raises(KeyboardInterrupt):
        list(follow(Interrupted(tmp_path / "run")))
    assert f"--resume --out {tmp_path} goes on" in capsys.readouterr().out


def test_an_attempt_is_told_in_one_line(sandbox):
    script = ["grep view", "edit lib.py 12|    return sorted(x for x in xs if x)", "submit"]
    task = load_tasks("bugfix", "dev", 1)[0]
    (trajectory,) = rollout(ScriptedPolicy(script), task, sandbox, n=1).trajectories
    told = attempt_in_words(trajectory)
    assert told.startswith("bugfix/dev/0: grep view > edit lib.py 12|    return sorte… > submit = ")
    assert "hidden tests" in told


def test_a_row_is_told_in_one_line():
    row = {"kind": "iteration", "stage": "rl", "iteration": 11, "num_iterations": 60}
    row |= {"num_rollouts": 128, "solved_share": 0.43}
    assert row_in_words(row, 204.0) == "RL   12/60  128 attempts, 43% solved, 3.4 min left"
    tuned = {"kind": "fine_tuning", "num_examples": 176, "num_tasks_solved": 123}
    assert row_in_words(tuned, None) == "RFT  imitated 176 solved attempts at 123 tasks"


def test_the_table_has_a_row_for_each_stage_that_was_measured():
    cell = {"estimate": 0.0781, "low": 0.05, "high": 0.12}
    text = table({"base": {"sampled": cell, "greedy": cell}})
    assert text.splitlines()[1].split("  ")[0] == "base" and "7.8 % [5.0, 12.0]" in text
    assert len(text.splitlines()) == 2


@pytest.mark.slow
def test_a_small_demo_leaves_pictures_results_and_a_run_and_goes_on_from_there(tmp_path, capsys):
    sizes = {"config": SMALL, "num_test": 4, "num_dev": 2}
    folder = demo(out=tmp_path / "run", **sizes)
    out = capsys.readouterr().out
    assert "rejection fine-tuning" in out and "first picture" in out
    figures = {path.name for path in (folder / "figures").glob("*.png")}
    assert figures == {"base.png", "learning_curve.png", "actions.png", "episode.png"}
    results = json.loads((folder / "results.json").read_text())
    assert set(results) == {"base", "rft", "rl", "about"}
    demo(out=folder, resume=True, **sizes)
    again = json.loads((folder / "results.json").read_text())
    assert {name: again[name] for name in ("base", "rft")} == {
        name: results[name] for name in ("base", "rft")
    }


@pytest.mark.slow
def test_a_small_cheat_measures_its_three_arms(tmp_path):
    config = replace(SMALL, evaluate_every=0)
    folder = cheat(out=tmp_path / "run", config=config, num_test=4)
    results = json.loads((folder / "results.json").read_text())
    assert set(results) == {"base", "naive", "penalised", "naive_from_rft"}
    assert (folder / "figures" / "honesty.png").exists()
