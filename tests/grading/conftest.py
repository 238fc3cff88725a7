"""Finished attempts made by hand, so that collectors have something to look at."""

import pytest

from workbench.records import (
    Action,
    Evidence,
    Group,
    SamplerSettings,
    TestOutcome,
    Trajectory,
    Turn,
    Verdict,
)


def _attempt(task, files):
    turn = Turn(Action((7, 2), (-0.5, -0.1), "submit", "end_of_turn"), None, None, "", "0" * 16)
    verdict = Verdict("call", "ok", (TestOutcome("hidden:1", "hidden", "passed"),))
    files = {task.entry_file: files} if isinstance(files, str) else files
    return Trajectory(
        task.task_id, 0, SamplerSettings(), (turn,), files, verdict, Evidence(diff=""), "submitted"
    )


@pytest.fixture
def group_of():
    """A function from a task and attempts, final files or the entry file's text, to a group."""
    return lambda task, *attempts: Group(
        task.task_id, "", tuple(_attempt(task, files) for files in attempts)
    )
