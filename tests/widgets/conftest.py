"""Attempts at one task, written by hand."""

import pytest

from tests.by_hand import TASK, attempt, outcomes, turn
from workbench.records import Evidence, Finding, Group, ToolCall, Verdict


def make(hidden, as_left, tampered=(), *, said="submit", seen="", **changes):
    """An attempt at TASK; "ppw" are three tests, of which the last one failed."""
    found = outcomes("got 1 want 2", hidden=hidden, visible_as_left=as_left)
    values = {
        "turns": (turn(said, ToolCall(*said.partition(" ")[::2]), seen),),
        "final_files": TASK.files,
        "verdict": Verdict("call", "ok", found),
        "evidence": Evidence(diff="-return 0\n+return 1\n", tampered=tampered),
    }
    return attempt(**values | changes)


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
