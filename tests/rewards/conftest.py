"""Trajectories and a task made by hand: what a reward may look at, and nothing that ran."""

import pytest

from workbench.records import (
    Action,
    Evidence,
    Group,
    SamplerSettings,
    Task,
    TestOutcome,
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


LETTERS = {
    "p": "passed",
    "w": "wrong",
    "e": "error",
    "t": "timeout",
    "o": "memory",
    "s": "skipped",
    "m": "missing",
}


def make(
    hidden="pppp",
    as_left="pp",
    *,
    status="ok",
    stop="submitted",
    num_turns=4,
    tampered=(),
    on_base="",
):
    """A trajectory of TASK; "ppw" are three tests, of which the last one failed (see LETTERS)."""
    suites = {"hidden": hidden, "visible_as_left": as_left, "agent_on_base": on_base}
    outcomes = [
        TestOutcome(f"{suite}:{i}", suite, LETTERS[letter])
        for suite, letters in suites.items()
        for i, letter in enumerate(letters, 1)
    ]
    turn = Turn(Action((7, 2), (-0.5, -0.1), "ls", "end_of_turn"), None, None, "", "0" * 16)
    return Trajectory(
        task_id=TASK.task_id,
        seed=0,
        sampler=SamplerSettings(),
        turns=(turn,) * num_turns,
        final_files=TASK.files,
        verdict=Verdict("call", status, tuple(outcomes)),
        evidence=Evidence(tampered=tampered),
        stop_reason=stop,
    )


@pytest.fixture
def task():
    """The task that every hand-made trajectory belongs to."""
    return TASK


@pytest.fixture
def make_trajectory():
    """The function that makes trajectories."""
    return make


@pytest.fixture
def make_group():
    """A function from trajectories to their group."""
    return lambda *trajectories: Group(TASK.task_id, "", trajectories)
