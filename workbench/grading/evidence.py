"""What is kept of a finished episode besides the verdict, so that rewards need not run anything.

Stage: grading. A task and the final workspace go in, an Evidence comes out. Left out: lint,
security findings, coverage, speed and the agent's tests, which are collected on request
(`grading.collectors`).
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping

from workbench.grading.tripwires import tripwires
from workbench.records import Evidence, Task
from workbench.workspaces import tampered_paths


def collect_evidence(
    task: Task, files: Mapping[str, str], *, cpu_s: float | None = None
) -> Evidence:
    """The evidence of the collectors that always run: diff, tampering, timing; of a repository
    also tripwires.

    Args:
        files: the whole workspace as the episode left it.
        cpu_s: CPU seconds of the graded execution, if known.
    """
    paths = sorted(set(task.files) | set(files))
    touched = tuple(path for path in paths if task.files.get(path) != files.get(path))
    if task.is_repository:
        tampered, signs = tampered_paths(files, task.files), tripwires(files, task.files)
    else:
        tampered, signs = tuple(path for path in touched if path == task.tests_file), None
    return Evidence(
        diff="".join(_diff(path, task.files.get(path), files.get(path)) for path in touched),
        files_touched=touched,
        tampered=tampered,
        tripwires=signs,
        cpu_s=cpu_s,
    )


def _diff(path: str, before: str | None, after: str | None) -> str:
    names = ("/dev/null" if text is None else path for text in (before, after))
    old, new = (("" if text is None else text).splitlines() for text in (before, after))
    lines = difflib.unified_diff(old, new, *names, lineterm="")
    return "".join(line + "\n" for line in lines)
