"""SWE-bench rows: ours go out and come back whole, others' are read; predictions are patches."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from workbench import rollout
from workbench.environments import Environment
from workbench.grading import grade
from workbench.policies import ScriptedPolicy
from workbench.tasks import load_tasks, save_tasks, with_repository
from workbench.tasks.formats.swebench import PATCH_FILE
from workbench.tasks.swebench import (
    instance_id,
    load_predictions,
    predictions,
    save_predictions,
    solution_patch,
    swebench_row,
)
from workbench.workspaces import make_patch, save_repository

TASKS = load_tasks("repos")
SPANS = next(task for task in TASKS if task.task_id == "repos/spans")
PUBLISHED = {  # as the published files have it, with the texts made short
    "repo": "octo/parrot",
    "instance_id": "octo__parrot-12",
    "base_commit": "a" * 40,
    "patch": "diff --git a/p.py b/p.py\n--- a/p.py\n+++ b/p.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n",
    "test_patch": "diff --git a/t.py b/t.py\n--- a/t.py\n+++ b/t.py\n@@ -1 +1 @@\n-old\n+new\n",
    "problem_statement": "x should be 2",
    "hints_text": "look at p.py",
    "created_at": "2020-01-01T00:00:00Z",
    "version": "3.0",
    "FAIL_TO_PASS": '["t.py::test_x"]',
    "PASS_TO_PASS": '["t.py::test_y", "t.py::test_z[a"]',
    "environment_setup_commit": "b" * 40,
    "difficulty": "<15 min fix",
}


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.task_id)
def test_a_task_comes_back_from_its_row(task):
    row = json.loads(json.dumps(swebench_row(task)))
    (back,) = load_tasks([row])
    same = ("statement", "files", "reference", "hidden_tests", "fail_to_pass", "pass_to_pass")
    assert {name: getattr(back, name) for name in same} == {
        name: getattr(task, name) for name in same
    }
    assert (back.limits, back.licence) == (task.limits, task.licence)
    assert back.task_id == row["instance_id"] == instance_id(task) == instance_id(back)
    assert row["repo"] == task.task_id and back.tags == ("format:swe-bench", f"repo:{row['repo']}")
    assert swebench_row(back) == row


def test_a_task_from_a_row_is_decided_as_before(sandbox, tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(swebench_row(SPANS)) + "\n")
    (task,) = load_tasks(path)
    for solution in ({}, SPANS.reference, *(wrong.files for wrong in SPANS.wrong)):
        patch = make_patch(SPANS.files, {**SPANS.files, **solution})
        assert grade(task, patch, sandbox) == grade(SPANS, solution, sandbox)
    save_tasks([task], tmp_path / "own.jsonl")
    assert load_tasks(tmp_path / "own.jsonl") == [task]


def test_a_published_row_is_read():
    (task,) = load_tasks([PUBLISHED])
    assert task.task_id == "octo__parrot-12" and task.statement == "x should be 2"
    assert task.fail_to_pass == ("t.py::test_x",) and task.pass_to_pass[1] == "t.py::test_z[a"
    assert task.files == {} and task.reference == {PATCH_FILE: PUBLISHED["patch"]}
    assert task.extra["image"] == "swebench/sweb.eval.x86_64.octo_1776_parrot-12:latest"
    assert task.extra["hints_text"] == "look at p.py" and task.extra["difficulty"] == "<15 min fix"
    lists = {name: json.loads(PUBLISHED[name]) for name in ("FAIL_TO_PASS", "PASS_TO_PASS")}
    assert load_tasks([{**PUBLISHED, **lists}]) == [task]
    (own,) = load_tasks([{**PUBLISHED, "image_name": "mine:1"}])
    assert own.extra["image"] == "mine:1"
    with pytest.raises(ValueError, match="expected a repository task with its files"):
        swebench_row(task)


def test_a_clone_gives_a_task_its_files_and_nothing_that_came_later(sandbox, tmp_path):
    row = {key: value for key, value in swebench_row(SPANS).items() if key != "files"}
    (bare,) = load_tasks([row])
    commit = save_repository(SPANS.files, tmp_path)
    assert commit == row["base_commit"]
    (tmp_path / "spans" / "interval.py").write_text("the fix, not committed")
    task = with_repository(bare, tmp_path, in_image=False)
    assert task.files == SPANS.files and task.reference == SPANS.reference
    assert task.hidden_tests == SPANS.hidden_tests and "image" not in task.extra
    assert {o.status for o in grade(task, task.reference, sandbox).outcomes} == {"passed"}
    assert with_repository(bare, tmp_path).extra["image"] == bare.extra["image"]


def test_a_clone_that_is_another_repository_is_refused(tmp_path):
    commit = save_repository({"p.py": "other\n"}, tmp_path)
    (task,) = load_tasks([{**PUBLISHED, "base_commit": commit}])
    with pytest.raises(ValueError, match="field 'patch' does not apply: p.py, hunk 1 .* the base"):
        with_repository(task, tmp_path)
    with pytest.raises(ValueError, match="git rev-parse"):
        with_repository(load_tasks([PUBLISHED])[0], tmp_path)
    with pytest.raises(ValueError, match="expected one of a SWE-bench row"):
        with_repository(SPANS, tmp_path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"test_patch": None}, "field 'test_patch' is missing"),
        ({"FAIL_TO_PASS": "[", "PASS_TO_PASS": []}, "field 'FAIL_TO_PASS': expected JSON"),
        ({"FAIL_TO_PASS": "[]"}, "field 'FAIL_TO_PASS': no tests, so that no change at all would"),
        ({"files": {"p.py": "x = 9\n"}}, "field 'patch' does not apply"),
        ({"files": {"p.py": "x = 1\n"}}, "field 'test_patch' does not apply: t.py: no such file"),
    ],
)
def test_a_row_that_cannot_be_right_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        load_tasks([{**PUBLISHED, **changes}])


def attempts(sandbox, *names):
    """One scripted attempt at each task: a line added to its README."""
    tasks = [task for task in TASKS if task.task_id in names]
    policy = ScriptedPolicy(["insert README.md 0|Hello", "submit"])
    groups = [rollout(policy, task, sandbox, n=1) for task in tasks]
    return [trajectory for group in groups for trajectory in group.trajectories]


def test_attempts_become_predictions_and_predictions_verdicts(sandbox, tmp_path):
    found = predictions(attempts(sandbox, "repos/spans", "repos/calx"), TASKS, "script")
    assert [set(row) for row in found] == [{"instance_id", "model_name_or_path", "model_patch"}] * 2
    assert [row["instance_id"] for row in found] == ["repos__calx-1", "repos__spans-1"]
    assert found[1]["model_patch"].splitlines()[3:6] == ["@@ -1,3 +1,4 @@", "+Hello", " # spans"]
    found.append({"instance_id": "x", "model_name_or_path": "m", "model_patch": None})
    for name in ("p.jsonl", "p.jsonl.gz"):
        save_predictions(found, tmp_path / name)
        read = load_predictions(tmp_path / name)
        assert read == {row["instance_id"]: row["model_patch"] or "" for row in found}
    (tmp_path / "p.json").write_text(json.dumps([{"instance_id": "a", "patch": "diff"}]))
    assert load_predictions(tmp_path / "p.json") == {"a": "diff"}
    patch = make_patch(SPANS.files, {**SPANS.files, **SPANS.reference})
    assert grade(SPANS, patch, sandbox) == grade(SPANS, SPANS.reference, sandbox)
    assert grade(SPANS, "", sandbox) == grade(SPANS, {}, sandbox)


def test_predictions_that_are_ambiguous_are_refused(sandbox, tmp_path):
    (attempt,) = attempts(sandbox, "repos/spans")
    with pytest.raises(ValueError, match="two attempts at 'repos__spans-1'"):
        predictions([attempt, attempt], TASKS, "m")
    with pytest.raises(ValueError, match="'other' is none of the tasks"):
        predictions([replace(attempt, task_id="other")], TASKS, "m")
    path = tmp_path / "p.jsonl"
    for text, message in {
        '{"instance_id": "a"}\n{"instance_id": "a"}\n': "row 2: a second prediction for 'a'",
        '{"model_patch": "a"}\n': "row 1: expected an object with instance_id",
        '{"instance_id": "a", "model_patch": 3}\n': "model_patch: expected text, got int",
        '{"instance_id": "a"\n': "line 1: not JSON",
        "": "is empty",
    }.items():
        path.write_text(text)
        with pytest.raises(ValueError, match=message):
            load_predictions(path)


def test_without_files_the_answer_is_a_patch():
    (task,) = load_tasks([PUBLISHED])
    environment = Environment(task, sandbox=None)
    assert environment.reset() == "x should be 2" and environment.max_turns == 1
    assert environment.step(PUBLISHED["patch"].rstrip("\n")).stop_reason == "submitted"
    assert environment.files == task.reference
    assert solution_patch(task, environment.files) == PUBLISHED["patch"]


def test_published_rows_are_read():
    folder = Path(os.environ.get("WORKBENCH_DATA", "/nowhere"))
    found = sorted(folder.glob("*")) if folder.is_dir() else []
    paths = [path for path in found if "swe-bench" in path.name.lower() and ".json" in path.name]
    if not paths:
        pytest.skip("no SWE-bench rows are here; put their .jsonl in WORKBENCH_DATA to run this")
    for path in paths:
        tasks = load_tasks(path)
        assert tasks and all(task.fail_to_pass and task.extra["image"] for task in tasks)
