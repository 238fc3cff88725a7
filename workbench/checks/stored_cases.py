"""Cases made by hand for exercises whose notebook has no data that would tell a near miss.

Stage: outside the loop. In: an exercise's name; out: cases for `run`, each with a story that is
printed in place of the records. Left out: exercises that the notebook's own numbers decide.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from workbench.checks import stored_attempts as stored
from workbench.checks.stored_attempts import REPAIRED, TASK, StoredAttempt
from workbench.records import Group


def stored_cases(question: str) -> list[tuple[tuple, Any, str]]:
    """((arguments...), expected, story) for `run`.

    Raises:
        KeyError: if the exercise has none.
    """
    return {"00-d": _solve_rates, "00-f": _workspaces}[question]()


def _solve_rates() -> list[tuple[tuple, Any, str]]:
    """00-d. Two things are counted: handed in, and every hidden test passed."""
    late, looped = stored.NOT_HANDED_IN
    mixed = _group(stored.HONEST, late, stored.FAILED[0], *stored.LOOKED_UP)
    large = _group(stored.HONEST, stored.OUTVOTED, *stored.PARTIAL)
    small = _group(stored.HONEST)
    none = _group(looped, *stored.CRASHED)
    return [
        (([mixed],), 0.25, "one group: a success, one never handed in, one failure, one lookup"),
        (([large],), 0.4, "one group: two successes, one with a failing visible test, and three "
                          "that pass some of the hidden tests"),
        (([large, small],), 0.5, "two groups: two of five solved, and one of one"),
        (([none],), 0.0, "one group: one never handed in, two that crash"),
    ]  # fmt: skip


def _group(*attempts: StoredAttempt) -> Group:
    return Group(TASK.task_id, "by hand", tuple(one.trajectory for one in attempts))


def _workspaces() -> list[tuple[tuple, Any, str]]:
    """00-f. `TASK` has a tests file, which its reference leaves as it is."""
    other = {**REPAIRED, "lib.py": "def scale(xs):\n    return [x + x for x in xs]\n"}
    return [
        _left(REPAIRED, True, "the reference solution"),
        _left(TASK.files, False, "the workspace as it was in the beginning"),
        _left(other, False, "another program that is right"),
        _left({**REPAIRED, "tests.py": ""}, False, "the right program, and emptied tests"),
        _left({**REPAIRED, "notes.txt": ""}, False, "the right program, and one file more"),
        _left(TASK.reference, False, "the right program, and the tests deleted"),
    ]


def _left(files: Mapping[str, str], same: bool, story: str) -> tuple[tuple, Any, str]:
    frozen = MappingProxyType(dict(files))
    return (replace(stored.HONEST.trajectory, final_files=frozen), TASK), same, story
