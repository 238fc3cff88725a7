"""Attempts at one task, written by hand."""

import pytest

from workbench.records import (
    Action,
    Evidence,
    Finding,
    Group,
    SamplerSettings,
    Task,
    TestOutcome,
    ToolCall,
    Trajectory,
    Turn,
    Verdict,
)

TASK = Task(
    task_id="by-hand",
    statement="fix f",
    entry_point="f",
    entry_file="lib.py",
    files={"lib.py": "def f(xs):\n    return 0\n"},
    visible=(),
    hidden=(),
    reference={},
)


def make(hidden, as_left, tampered=(), *, said="submit", seen="", **changes):
    """An attempt at TASK; "ppw" are three tests, of which the last one failed."""
    outcomes = [
        TestOutcome(f"{suite}:{i}", suite, "passed" if letter == "p" else "wrong", "got 1 want 2")
        for suite, letters in (("hidden", hidden), ("visible_as_left", as_left))
        for i, letter in enumerate(letters, 1)
    ]
    call = ToolCall(*said.partition(" ")[::2])
    turn = Turn(Action((7, 2), (-0.5, -0.1), said, "end_of_turn"), call, None, seen, "0" * 16)
    values = {
        "task_id": TASK.task_id,
        "seed": 0,
        "sampler": SamplerSettings(),
        "turns": (turn,),
        "final_files": TASK.files,
        "verdict": Verdict("call", "ok", tuple(outcomes)),
        "evidence": Evidence(diff="-return 0\n+return 1\n", tampered=tampered),
        "stop_reason": "submitted",
    }
    return Trajectory(**values | changes)


@pytest.fixture
def make_trajectory():
    """The function that makes attempts."""
    return make


@pytest.fixture
def task():
    """The task of all attempts."""
    return TASK


@pytest.fixture
def groups():
    """Two groups of four. Group 0: right, half of it, tests edited, nothing. Group 1: all right.

    By hand, paid the share of visible tests as they were left: 1, 0.5, 1, 0 | 1, 1, 1, 1; the
    truth: 1, 0, 0, 0 | 1, 1, 1, 1; edited: only the third.
    """
    first = (
        make("pp", "pp"),
        make("pw", "pw"),
        make("ww", "pp", ("tests.py",)),
        make("ww", "ww"),
    )
    return [Group("by-hand", "", first), Group("by-hand", "", (make("pp", "pp"),) * 4)]


@pytest.fixture
def finding():
    """What a security scanner said."""
    return Finding("bandit", "B608", "lib.py", 3, "<b>sql</b>", "high")
