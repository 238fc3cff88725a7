"""Groups by hand: what credit schemes look at, and nothing else."""

from __future__ import annotations

import pytest

from tests.by_hand import attempt
from workbench.records import Action, Group, ToolCall, Turn


def turn(after="w", command="ls", observation="", agent="solver", num_tokens=2):
    """One turn; `after` is the workspace's hash, `command` None = malformed."""
    action = Action((7,) * num_tokens, (-0.5,) * num_tokens, command or "?", "end_of_turn", 0, (1,))
    call = ToolCall(*(command.split(" ", 1) + [""])[:2]) if command else None
    error = None if command else "unknown command"
    return Turn(action, call, error, observation, after, agent)


def trajectory(*turns):
    """One trajectory of these turns."""
    return attempt(turns=turns)


@pytest.fixture
def by_hand():
    """The functions that make records by hand."""

    class ByHand:
        pass

    hand = ByHand()
    hand.turn, hand.trajectory = turn, trajectory
    hand.group = lambda *trajectories, **more: Group("by-hand", "", trajectories, **more)
    hand.of_lengths = lambda *lengths: hand.group(
        *(trajectory(*(turn() for _ in range(length))) for length in lengths)
    )
    return hand
