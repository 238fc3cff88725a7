"""Components about what was changed: how much, where, how much like the reference.

Stage: rewards. They compare the final files with the task's and with its reference. Tests are no
part of the change: an agent may add some. Left out: how good the new code is (`quality`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from fnmatch import fnmatchcase

from workbench.records import Task, Trajectory
from workbench.rewards.components import Component, configured, evidence
from workbench.rewards.outcomes import syntax_tree
from workbench.workspaces import is_test_file

_TOKEN = re.compile(r"\w+|[^\w\s]")


@configured
def diff_size(free: int, limit: int) -> Component:
    """Component: 0.0 up to `free` changed lines, then in a line to -1.0 at `limit` and beyond.

    Lines added plus lines taken away; a changed line is both. Tests are not counted. Never None.

    Raises ValueError unless 0 <= free < limit.
    """
    if not 0 <= free < limit:
        raise ValueError(f"diff_size: expected 0 <= free < limit, got {free} and {limit}")

    def component(trajectory: Trajectory, task: Task) -> float:
        too_many = max(num_changed_lines(trajectory.final_files, task) - free, 0)
        return -min(too_many / (limit - free), 1.0)

    return component


@configured
def diff_within(times: float = 3.0) -> Component:
    """Component: 1.0 if at most `times` as many lines are changed as in the reference, else 0.0.

    Lines as in `diff_size`. Three times is the limit of a mergeability rubric (`rubrics`).

    Raises ValueError unless times > 0, or if the task has no reference.
    """
    if not times > 0:
        raise ValueError(f"diff_within: expected times > 0, got {times}")

    def component(trajectory: Trajectory, task: Task) -> float:
        gold = num_changed_lines({**task.files, **_reference(task, "diff_within")}, task)
        return float(num_changed_lines(trajectory.final_files, task) <= times * gold)

    return component


@configured
def scope(allowed: Sequence[str] | None = None) -> Component:
    """Component: share of the touched files that were to be touched, in [0, 1]; 1.0 if none was.

    Args:
        allowed: paths or patterns such as "lib/*" (which covers folders inside as well); None =
            the files that the reference changes. New test files are welcome and not counted.
    Raises ValueError if the collector "diff" did not run, or the task has no reference where one
        is needed.
    """
    if isinstance(allowed, str):
        raise ValueError(f'scope: expected a tuple of paths, ("{allowed}",), got a text')

    def component(trajectory: Trajectory, task: Task) -> float:
        touched = evidence(trajectory, "files_touched", "diff", "scope")
        touched = [p for p in touched if p in task.files or not is_tests(task, p)]
        expected = allowed
        if expected is None:
            reference = _reference(task, "scope")
            expected = [p for p, text in reference.items() if text != task.files.get(p)]
            inside = [path in expected for path in touched]
        else:
            inside = [any(fnmatchcase(path, e) for e in expected) for path in touched]
        return sum(inside) / len(inside) if inside else 1.0

    return component


def similarity(trajectory: Trajectory, task: Task) -> float | None:
    """How much the files of the reference look like it, in [0, 1]; 1.0 = the same code.

    Twice the tokens in common over all tokens (difflib), comments and layout left out where the
    text is Python. Right code may look different: for analysis, or with a small weight. Never
    None. Raises ValueError if the task has no reference.
    """
    reference = _reference(task, "similarity")
    wanted = [_tokens(reference[path]) for path in sorted(reference)]
    found = [_tokens(trajectory.final_files.get(path, "")) for path in sorted(reference)]
    matcher = SequenceMatcher(None, sum(found, []), sum(wanted, []), autojunk=False)
    return matcher.ratio()


def changed_sources(files: Mapping[str, str], task: Task) -> list[str]:
    """Paths, tests left out, whose text differs from the task's; sorted."""
    paths = sorted(set(files) | set(task.files))
    return [p for p in paths if files.get(p) != task.files.get(p) and not is_tests(task, p)]


def num_changed_lines(files: Mapping[str, str], task: Task) -> int:
    """Lines added plus lines taken away from the task's files, tests left out."""
    total = 0
    for path in changed_sources(files, task):
        before, after = (f.get(path, "").splitlines() for f in (task.files, files))
        for kind, i, j, k, m in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
            total += 0 if kind == "equal" else (j - i) + (m - k)
    return total


def is_tests(task: Task, path: str) -> bool:
    """True for the task's own tests and, in a repository, for every test file."""
    own = path == task.tests_file or path in task.hidden_tests
    return own or (task.is_repository and is_test_file(path))


def _reference(task: Task, component: str) -> Mapping[str, str]:
    reference = {p: text for p, text in task.reference.items() if not is_tests(task, p)}
    if not reference:
        raise ValueError(
            f"task {task.task_id}: `{component}` compares with the task's reference, and it has "
            "none; leave it out of the design for such tasks"
        )
    return reference


def _tokens(text: str) -> list[str]:
    tree = syntax_tree(text)
    try:
        return _TOKEN.findall(text if tree is None else ast.unparse(tree))
    except RecursionError:  # it can be read, but is nested too deep to be written
        return _TOKEN.findall(text)
