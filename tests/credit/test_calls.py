"""Calls one by one: what each agent had before it, and what it is given."""

from dataclasses import replace

import numpy as np
import pytest

from workbench.credit import Call, calls_of, transitions


def spoken(by_hand, agent, ids, new_ids, kept):
    """A turn with these tokens."""
    turn = by_hand.turn(agent=agent)
    action = replace(turn.action, ids=ids, new_ids=new_ids, kept_prefix=kept)
    return replace(turn, action=action)


@pytest.fixture
def group(by_hand):
    """A locator and an editor; the editor's last turn keeps only three tokens of its context."""
    return by_hand.group(
        by_hand.trajectory(
            spoken(by_hand, "locator", (20, 2), (1, 10), 0),
            spoken(by_hand, "editor", (21, 2), (1, 11), 0),
            spoken(by_hand, "locator", (22, 2), (12,), 4),
            spoken(by_hand, "editor", (23, 2), (13,), 3),
        )
    )


def test_a_calls_input_is_all_that_its_agent_had_before_it(group):
    assert calls_of(group, [np.array([0.5, 1.0, -0.5, 2.0])]) == [
        Call("locator", (1, 10), (20, 2), 0.5),
        Call("editor", (1, 11), (21, 2), 1.0),
        Call("locator", (1, 10, 20, 2, 12), (22, 2), -0.5),
        Call("editor", (1, 11, 21, 13), (23, 2), 2.0),
    ]


def test_only_those_are_given_who_learn(group, by_hand):
    both = by_hand.group(*group.trajectories * 2)
    credit = transitions(both, [1.0, 0.0], agents={"editor"}, scale="none")
    calls = calls_of(both, credit)
    assert [(call.agent, call.credit) for call in calls] == [("editor", 0.5)] * 2 + [
        ("editor", -0.5)
    ] * 2
    assert calls == calls_of(both, [np.array([9, 0.5] * 2), np.array([9, -0.5] * 2)], {"editor"})
    with pytest.raises(ValueError, match=r"one number a turn, shapes \[\(4,\)\], got \[\(3,\)\]"):
        calls_of(group, [np.zeros(3)])


def test_a_turn_in_which_nothing_was_said_is_no_call(by_hand):
    said = spoken(by_hand, "solver", (20, 2), (1, 10), 0)
    nothing = spoken(by_hand, "solver", (), (), 4)
    group = by_hand.group(by_hand.trajectory(said, nothing))
    assert calls_of(group, [np.ones(2)]) == [Call("solver", (1, 10), (20, 2), 1.0)]
