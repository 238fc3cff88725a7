"""Trajectories and a task made by hand: what a reward may look at, and nothing that ran."""

import pytest

from tests.by_hand import TASK, attempt, outcomes, turn
from workbench.records import Evidence, Group, Verdict


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
    """A trajectory of TASK; "ppw" are three tests, of which the last one failed (LETTERS)."""
    found = outcomes(hidden=hidden, visible_as_left=as_left, agent_on_base=on_base)
    return attempt(
        turns=(turn(),) * num_turns,
        final_files=TASK.files,
        verdict=Verdict("call", status, found),
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
