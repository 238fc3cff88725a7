"""Finished attempts made by hand, so that collectors have something to look at."""

import pytest

from tests.by_hand import attempt, outcomes, turn
from workbench.records import Evidence, Group, Verdict


def _attempt(task, files):
    return attempt(
        task_id=task.task_id,
        turns=(turn("submit"),),
        final_files={task.entry_file: files} if isinstance(files, str) else files,
        verdict=Verdict("call", "ok", outcomes(hidden="p")),
        evidence=Evidence(diff=""),
    )


@pytest.fixture
def group_of():
    """A function from a task and attempts, final files or the entry file's text, to a group."""
    return lambda task, *attempts: Group(
        task.task_id, "", tuple(_attempt(task, files) for files in attempts)
    )
