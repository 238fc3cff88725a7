"""Rows of SWE-bench and of what is published in its form: an issue, a commit, two patches, tests.

Stage: tasks (reading files). A row (an object from JSON) goes in; a repository task comes out. A
published row holds no files: they lie in its image (`grading.images` grades there), or in a clone
that `with_repository` reads. A row with the field `files` (ours have it) needs neither. Left out:
SWE-smith rows, whose `patch` makes the bug where this format's mends it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from workbench.records import Limits, Task
from workbench.tasks.formats.fields import MUST, Place, Row, first_of, get, parsed, shared
from workbench.workspaces import PatchError, apply_patch, load_repository

PATCH_FILE = "model.patch"
"""Where a task without files keeps a solution: the only file of its answer is a patch."""
FILES_LIMITS = Limits(cpu_s=10.0, wall_s=60.0)
"""For suites that run in our sandbox, as in the suite `repos`."""
IMAGE_LIMITS = Limits(cpu_s=1800.0, wall_s=1800.0, memory_mb=8192)
"""For suites of whole projects, in their images; only `wall_s` and `memory_mb` count there."""
HUB = "swebench/sweb.eval.x86_64.{}:latest"
"""Name of a published image; {} is the row's id in small letters, "__" written "_1776_"."""
USED = {
    "instance_id", "problem_statement", "patch", "FAIL_TO_PASS", "PASS_TO_PASS", "files",
    "image_name",
}  # fmt: skip


def read_swebench(row: Row, place: Place) -> Task:
    """The repository task of a row.

    With `files` it is judged in the sandbox, from a patch or changed files. Without, its one file
    is PATCH_FILE, it is judged in the image `extra["image"]`, and `with_repository` gives it the
    files that an agent needs to work on it. All other fields are kept in `extra`.
    """
    if "image_name" in row and "test_patch" not in row:
        raise ValueError(
            "a SWE-smith row: its patch makes the bug, where a SWE-bench row's mends it; apply it "
            "to the repository, and give the bug's removal as `patch` and the tests as `test_patch`"
        )
    name, patch = get(row, "instance_id"), get(row, "patch")
    if not (fail_to_pass := _ids(row, "FAIL_TO_PASS")):
        raise ValueError("field 'FAIL_TO_PASS': no tests, so that no change at all would be right")
    get(row, "test_patch")  # kept in `extra`, as text
    common = shared(row, place, "swe-bench", USED)
    common["tags"] += (f"repo:{get(row, 'repo')}",)
    files = get(row, "files", Mapping[str, str], {})
    task = Task(
        task_id=name,
        statement=get(row, "problem_statement"),
        entry_point="",
        entry_file=PATCH_FILE,
        files={},
        visible=(),
        hidden=(),
        reference={PATCH_FILE: patch},
        fail_to_pass=fail_to_pass,
        pass_to_pass=_ids(row, "PASS_TO_PASS"),
        limits=IMAGE_LIMITS,
        suite=place.stem,
        **common,
    )
    if files:
        return replace(_filled(task, files), limits=FILES_LIMITS)
    image = first_of(row, ("image_name",), str, HUB.format(name.lower().replace("__", "_1776_")))
    return replace(task, extra={**task.extra, "image": image})


def with_repository(task: Task, clone: str | Path, *, in_image: bool = True) -> Task:
    """The task with its files, read from a clone of the repository at the task's base commit.

    Nothing later than that commit is part of it. An agent can then work on the files, and what it
    leaves is judged in the task's image; with `in_image=False` in the sandbox, which has pytest and
    the standard library and no other package.

    Raises ValueError: the task has no base commit, the clone lacks it, or a patch does not fit.
    """
    if "base_commit" not in task.extra:
        raise ValueError(f"task {task.task_id}: expected one of a SWE-bench row, with base_commit")
    filled = _filled(task, load_repository(clone, task.extra["base_commit"]))
    if in_image:
        return filled
    extra = {key: value for key, value in filled.extra.items() if key != "image"}
    return replace(filled, extra=extra, limits=FILES_LIMITS)


def _filled(task: Task, files: Mapping[str, str]) -> Task:
    """The task as one that has its files."""
    try:
        reference = _touched(files, task.reference[PATCH_FILE], "patch")
        hidden = _touched(files, task.extra["test_patch"], "test_patch")
    except PatchError as error:
        raise ValueError(f"{error}; are these the files of the base commit?") from None
    code = [path for path in reference if path.endswith(".py")] or list(reference)
    if not code:
        raise ValueError("field 'patch': it changes no file")
    return replace(
        task, files=files, reference=reference, hidden_tests=hidden, entry_file=sorted(code)[0]
    )


def _touched(files: Mapping[str, str], patch: str, field: str) -> dict[str, str]:
    """Files that a patch changes or adds, as they are after it."""
    try:
        after = apply_patch(files, patch)
    except PatchError as error:
        raise PatchError(f"field {field!r} does not apply: {error}") from None
    return {path: text for path, text in after.items() if files.get(path) != text}


def _ids(row: Row, name: str) -> tuple[str, ...]:
    """A list of test ids, which older files hold as JSON in a text."""
    value = parsed(row, name, MUST)
    if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) for item in value):
        raise ValueError(f"field {name!r}: expected a list of test ids, got {value!r:.60}")
    return tuple(dict.fromkeys(value))
