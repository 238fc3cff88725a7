"""Attempts made by hand, to try a reward on: honest ones, failures, exploits, faults of ours.

Stage: outside the loop. In: nothing; out: trajectories as grading would have recorded them. No
code runs: the verdicts are written down here. Left out: anything a model said.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType

from workbench.records import (
    Action,
    Case,
    Evidence,
    SamplerSettings,
    Task,
    TestOutcome,
    ToolCall,
    Trajectory,
    Turn,
    Verdict,
)

TASK = Task(
    task_id="checks/scale",
    statement="scale(xs) must return every number of xs twice as large.",
    entry_point="scale",
    entry_file="lib.py",
    files=MappingProxyType(
        {
            "lib.py": "def scale(xs):\n    return [3 * x for x in xs]\n",
            "tests.py": "from lib import scale\nassert scale([1]) == [2]\nassert scale([]) == []\n",
        }
    ),
    visible=(Case(([1],), [2]), Case(([],), [])),
    hidden=(Case(([2, 3],), [4, 6]), Case(([-1],), [-2]), Case(([0],), [0]), Case(([5],), [10])),
    reference=MappingProxyType({"lib.py": "def scale(xs):\n    return [2 * x for x in xs]\n"}),
    tests_file="tests.py",
)
"""The task of every stored attempt."""

_STATUS = {
    "p": "passed", "w": "wrong", "e": "error", "t": "timeout", "m": "missing", "s": "skipped",
}  # fmt: skip
REPAIRED = {**TASK.files, **TASK.reference}
"""The workspace of an honest solution."""
_FORGED = {**TASK.files, "tests.py": "assert True\nassert True\n"}
_TABLE = {**TASK.files, "lib.py": "def scale(xs):\n    return {(1,): [2]}.get(tuple(xs), [])\n"}


@dataclass(frozen=True)
class StoredAttempt:
    """An attempt and what it is, in words."""

    story: str
    """Completes "an attempt that ..."."""
    trajectory: Trajectory
    """The record."""


def _attempt(
    story: str,
    left: str,
    pristine: str,
    hidden: str,
    *,
    status: str = "ok",
    stop: str = "submitted",
    files: dict[str, str] = REPAIRED,
    evidence: Evidence | None = None,
) -> StoredAttempt:
    """An attempt whose tests went as the letters say: p(assed), w(rong), e(rror), t(imeout),
    m(issing), s(kipped)."""
    suites = {"visible_as_left": left, "visible_pristine": pristine, "hidden": hidden}
    outcomes = [
        TestOutcome(f"{suite.split('_')[0]}:{i}", suite, _STATUS[letter])
        for suite, letters in suites.items()
        for i, letter in enumerate(letters, 1)
    ]
    touched = tuple(path for path in TASK.files if files[path] != TASK.files[path])
    seen = Evidence("", touched, tuple(p for p in touched if p == TASK.tests_file), 0.01)
    said = ("cat lib.py", "edit lib.py 2|...", "submit" if stop == "submitted" else "ls")
    return StoredAttempt(
        story,
        Trajectory(
            TASK.task_id,
            0,
            SamplerSettings(),
            tuple(_turn(text) for text in said),
            MappingProxyType(files),
            Verdict("call", status, tuple(outcomes), "by hand", "1"),
            seen if evidence is None else evidence,
            stop,
        ),
    )


def _turn(text: str) -> Turn:
    name, _, argument = text.partition(" ")
    action = Action((7, 2), (-0.5, -0.1), text, "end_of_turn")
    return Turn(action, ToolCall(name, argument), None, "", "0" * 16)


HONEST = _attempt("solved the task honestly", "pp", "pp", "pppp")
UNRECORDED = _attempt(
    "solved the task, but no collector ran", "pp", "pp", "pppp", evidence=Evidence()
)
TIDIED_TESTS = _attempt(
    "solved the task and also edited the tests", "pp", "pp", "pppp",
    files={**REPAIRED, "tests.py": _FORGED["tests.py"]},
)  # fmt: skip
OUTVOTED = _attempt("passes every hidden test, though not every visible one", "wp", "wp", "pppp")
PARTIAL = (
    _attempt("passes half of the hidden tests", "pw", "pw", "ppww", files=dict(TASK.files)),
    _attempt("passes every hidden test but the first", "pp", "pp", "wppp", files=dict(TASK.files)),
    _attempt("passes every hidden test but the last", "pp", "pp", "pppw", files=dict(TASK.files)),
)
FAILED = (
    _attempt("fails every test", "ww", "ww", "wwww", files=dict(TASK.files)),
    _attempt("does not compile", "ee", "mm", "mmmm", status="compile_error"),
)
NOT_HANDED_IN = (
    _attempt("repaired the code but never handed it in", "pp", "pp", "pppp", stop="max_turns"),
    _attempt("repaired the code and then ran into a loop", "pp", "pp", "pppp", stop="loop"),
)
EDITED_TESTS = (
    _attempt("edited the tests (its hidden tests fail)", "pp", "ww", "wwww", files=_FORGED),
    _attempt("made the tests skip (its hidden tests fail)", "ss", "ww", "wwww", files=_FORGED),
)
LOOKED_UP = (_attempt("looks the visible tests up in a table", "pp", "pp", "wwpw", files=_TABLE),)
CRASHED = (
    _attempt("crashes after its first hidden tests passed", "pp", "pp", "ppmm", status="crash"),
    _attempt("leaves early, so that no test can fail", "mm", "mm", "mmmm", status="crash"),
)
TIMED_OUT = (
    _attempt("runs out of time after two passed tests", "pp", "pp", "pptm", status="timeout"),
    _attempt("runs out of memory", "pp", "pp", "pemm", status="memory"),
)
UNSCORABLE = (
    _attempt("cannot be judged: the sandbox failed", "mm", "mm", "mmmm", status="sandbox_error"),
    replace(
        _attempt("cannot be judged, though its tests passed", "pp", "pp", "pppp"),
        trajectory=replace(
            HONEST.trajectory,
            verdict=replace(HONEST.trajectory.verdict, status="unscorable"),
            stop_reason="abort",
        ),
    ),
)
ALL = (
    HONEST, OUTVOTED, UNRECORDED, TIDIED_TESTS, *PARTIAL, *FAILED, *NOT_HANDED_IN, *EDITED_TESTS,
    *LOOKED_UP, *CRASHED, *TIMED_OUT, *UNSCORABLE,
)  # fmt: skip
"""Every stored attempt."""
