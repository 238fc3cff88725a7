"""Repository tasks as SWE-bench rows, and predictions: patches as people hand them to a grader.

Stage: tasks. Tasks go out as rows that other tools read (and `load_tasks` reads back), final files
as predictions; predictions of any agent come in as {task id: patch}. Left out: running SWE-bench's
own harness, Harbor folders.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from workbench.records import Task, Trajectory
from workbench.tasks.formats.swebench import PATCH_FILE
from workbench.tasks.reading import read_json_rows
from workbench.workspaces import commit_id, make_patch
from workbench.workspaces.commits import DATE

PATCH_FIELDS = ("model_patch", "patch")
"""Where a prediction keeps its patch: as SWE-bench says, and as SWE-smith does."""


def swebench_row(task: Task) -> dict[str, Any]:
    """The row of a repository task that has its files. Raises ValueError for any other task.

    Fields as published, the two lists of tests as JSON in a text, and `files`, the whole repository
    at its base commit, which makes the row complete. The commit is the one that
    `workspaces.save_repository(task.files, folder)` makes. Mistakes and hacks have no place in it.
    """
    if not task.is_repository or not task.files:
        raise ValueError(f"task {task.task_id}: expected a repository task with its files")
    name = instance_id(task)
    commit = commit_id(task.files)
    return {
        "instance_id": name,
        "repo": name.rpartition("-")[0].replace("__", "/", 1),
        "base_commit": commit,
        "environment_setup_commit": commit,
        "version": "1",
        "created_at": DATE,
        "problem_statement": task.statement,
        "hints_text": "",
        "patch": make_patch(task.files, {**task.files, **task.reference}),
        "test_patch": make_patch(task.files, {**task.files, **task.hidden_tests}),
        "FAIL_TO_PASS": json.dumps(task.fail_to_pass),
        "PASS_TO_PASS": json.dumps(task.pass_to_pass),
        "files": dict(task.files),
        "licence": task.licence,
    }


def instance_id(task: Task) -> str:
    """The id of a task's row: its own if it came from one, else "OWNER__REPO-1".

    >>> from workbench.tasks import load_tasks
    >>> instance_id(load_tasks("repos", count=1)[0])
    'repos__calx-1'
    """
    if "base_commit" in task.extra:
        return task.task_id
    return re.sub(r"[^\w.-]", "__", task.task_id) + "-1"


def predictions(
    trajectories: Iterable[Trajectory], tasks: Iterable[Task], model_name: str
) -> list[dict[str, str]]:
    """One prediction for each trajectory: {instance_id, model_name_or_path, model_patch}.

    Raises ValueError for a trajectory of an unknown task, and for a second one of the same task: a
    file of predictions holds one attempt at each.
    """
    by_id = {task.task_id: task for task in tasks}
    rows: dict[str, dict[str, str]] = {}
    for trajectory in trajectories:
        task = by_id.get(trajectory.task_id)
        if task is None:
            raise ValueError(f"{trajectory.task_id!r} is none of the tasks {sorted(by_id)[:5]}")
        name = instance_id(task)
        if name in rows:
            raise ValueError(f"two attempts at {name!r}; give one trajectory for each task")
        patch = solution_patch(task, trajectory.final_files)
        rows[name] = {
            "instance_id": name, "model_name_or_path": model_name, "model_patch": patch
        }  # fmt: skip
    return list(rows.values())


def solution_patch(task: Task, files: Mapping[str, str]) -> str:
    """The patch that a whole workspace amounts to; where a task has no files, the one it holds."""
    return make_patch(task.files, files) if task.files else files.get(PATCH_FILE, "")


def save_predictions(rows: Iterable[Mapping[str, str]], path: str | Path) -> None:
    """Write predictions as one JSON object a line (.gz compresses)."""
    path = Path(path)
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "wt", encoding="utf-8") as out:
        out.writelines(json.dumps(dict(row)) + "\n" for row in rows)


def load_predictions(path: str | Path) -> dict[str, str]:
    """{instance id: patch} of a file of predictions: .jsonl, .json (one list), each also .gz.

    A patch that is null or missing is the empty patch: nothing was handed in. Raises ValueError
    for a row without an id, and for an id that comes twice.
    """
    found: dict[str, str] = {}
    for number, row in read_json_rows(Path(path)):
        where = f"{path}, row {number}"
        name = row.get("instance_id") if isinstance(row, Mapping) else None
        if not isinstance(name, str):
            raise ValueError(f"{where}: expected an object with instance_id and model_patch")
        if name in found:
            raise ValueError(f"{where}: a second prediction for {name!r}; keep one")
        patch = next((row[key] for key in PATCH_FIELDS if row.get(key) is not None), "")
        if not isinstance(patch, str):
            raise ValueError(f"{where}: model_patch: expected text, got {type(patch).__name__}")
        found[name] = patch
    return found
