"""Credit of agents: the handbook's numbers, and what must hold whatever the numbers."""

import itertools

import numpy as np
import pytest

from workbench.credit import (
    agent_shapley,
    broadcast,
    by_agent,
    difference_rewards,
    sum_by_agent,
    transitions,
)
from workbench.records import AgentsValue

NAN = float("nan")
WORTH = {"": 0, "a": 0.2, "b": 0, "c": 0, "ab": 0.6, "ac": 0.2, "bc": 0.1, "abc": 0.9}
"""The handbook's game: agent a locates, b fixes, c tests."""


def stored(worth, i=0):
    return tuple(AgentsValue(i, tuple(names), float(value)) for names, value in worth.items())


def two(alone_l, alone_e, both, i=0, neither=0.0):
    """Values of an attempt of a locator and an editor."""
    names = ((), ("locator",), ("editor",), ("editor", "locator"))
    return tuple(map(AgentsValue, [i] * 4, names, (neither, alone_l, alone_e, both)))


@pytest.fixture
def team(by_hand):
    """Attempts of a locator and an editor: 2 + 1 turns, 1 + 3 turns, 1 + 1 turns."""

    def attempt(looks, edits):
        turns = [by_hand.turn(agent="locator")] * looks + [by_hand.turn(agent="editor")] * edits
        return by_hand.trajectory(*turns)

    return lambda values=(), lengths=((2, 1), (1, 3), (1, 1)): by_hand.group(
        *(attempt(*pair) for pair in lengths), agents_values=values
    )


def test_shapley_values_of_the_handbook_with_agents_as_players(by_hand):
    turns = [by_hand.turn(agent=name) for name in "aabc"]
    group = by_hand.group(by_hand.trajectory(*turns), agents_values=stored(WORTH))
    shares = agent_shapley(group, [0.9])
    assert np.allclose(
        [shares[name][0] for name in "abc"], [0.466667, 0.316667, 0.116667], atol=1e-6
    )
    lost = difference_rewards(group, [0.9])
    assert np.allclose([lost[name][0] for name in "abc"], [0.8, 0.7, 0.3])  # sums to twice 0.9


def test_two_agents_by_hand(team):
    """Both needed; the editor could do it alone; the locator's work was in vain."""
    values = two(0, 0.2, 1, 0) + two(0, 1, 1, 1) + two(0.5, 0, 0, 2)
    group, rewards = team(values), [1.0, 1.0, 0.0]
    shares = agent_shapley(group, rewards)
    assert np.allclose(shares["locator"], [0.4, 0.0, 0.25])
    assert np.allclose(shares["editor"], [0.6, 1.0, -0.25])
    lost = difference_rewards(group, rewards)
    assert np.allclose(lost["locator"], [0.8, 0.0, 0.0])
    assert np.allclose(lost["editor"], [1.0, 1.0, -0.5])


def test_shares_sum_to_the_reward_less_what_the_stand_ins_earn(team):
    rng = np.random.default_rng(0)
    worth = {c: rng.normal() for n in range(4) for c in itertools.combinations("abc", n)}
    group = team(stored(worth), lengths=((1, 1),))
    shares = agent_shapley(group, [worth[tuple("abc")]])
    assert np.isclose(sum(s[0] for s in shares.values()), worth[tuple("abc")] - worth[()])


def test_any_scheme_can_be_summed_by_agent(team):
    group = team()
    credit = broadcast(group, [1.0, 0.0, 0.5], scale="none")
    sums = sum_by_agent(group, credit)
    assert list(sums) == ["locator", "editor"]
    assert np.allclose(sums["locator"], [1.0, -0.5, 0.0])
    assert np.allclose(sums["editor"], [0.5, -1.5, 0.0])
    only = sum_by_agent(group, transitions(group, [1.0, 0.0, 0.5], agents={"editor"}, scale="none"))
    assert np.isnan(only["locator"]).all()
    assert np.allclose(only["editor"], [0.7, 3 * -0.3, 0.2])  # mean over 5 editor's turns: 0.3


def test_as_a_scheme_each_agent_is_compared_with_itself(team):
    values = two(0, 0.2, 1, 0) + two(0, 1, 1, 1) + two(0.5, 0, 0, 2)
    credit = by_agent(team(values), [1.0, 1.0, 0.0], scale="none")
    look, edit = np.array([0.4, 0.0, 0.25]), np.array([0.6, 1.0, -0.25])
    look, edit = look - look.mean(), edit - edit.mean()
    assert np.allclose(credit[0], [look[0], look[0], edit[0]])
    assert np.allclose(credit[1], [look[1], edit[1], edit[1], edit[1]])
    scaled = by_agent(team(values), [1.0, 1.0, 0.0], shares=difference_rewards, eps=0.0)
    assert np.allclose(scaled[2], [-0.8 / 3 / np.std([0.8, 0, 0], ddof=1), -1.0 / 0.866025])


def test_with_one_share_for_all_it_is_broadcast(team):
    group, rewards = team(), np.array([1.0, 0.0, 0.25])

    def everybody(group, rewards):
        return {"locator": np.asarray(rewards), "editor": np.asarray(rewards)}

    for ours, plain in zip(by_agent(group, rewards, shares=everybody), broadcast(group, rewards)):
        assert np.array_equal(ours, plain)


def test_what_was_not_judged_or_not_played_is_nan_and_in_no_mean(team):
    group = team(two(0, 0, 1, 0) + two(0, 0, 0, 1))
    for shares in (agent_shapley, difference_rewards):
        found = shares(group, [1.0, 0.0, 1.0])
        assert np.isnan(found["editor"]).tolist() == [False, False, True]
        assert np.isnan(shares(group, [NAN, 0.0, 1.0])["locator"]).tolist() == [True, False, True]
    credit = by_agent(group, [1.0, 0.0, 1.0], scale="none")
    assert np.allclose(credit[0], 0.25) and np.isnan(credit[2]).all()


def test_values_that_do_not_fit_are_refused(team):
    with pytest.raises(ValueError, match="no agents_values; make them with"):
        agent_shapley(team(), [1.0, 0.0, 0.0])
    with pytest.raises(ValueError, match="4 in all, got .*'editor', 'locator'"):
        agent_shapley(team(two(0, 0, 1)[1:]), [1.0, 0.0, 0.0])
    with pytest.raises(ValueError, match="has reward 0.5, its agents_values say 1;"):
        agent_shapley(team(two(0, 0, 1)), [0.5, 0.0, 0.0])
    with pytest.raises(ValueError, match=r"expected one for \['editor'\]"):
        by_agent(team(), [1.0, 0, 0], shares=lambda g, r: {"locator": np.asarray(r)})
    with pytest.raises(ValueError, match="one number a turn, shapes .*, got"):
        sum_by_agent(team(), [np.zeros(3)] * 3)
