"""Schemes that know only the rewards; expected values are the handbook's and by hand."""

from functools import partial

import numpy as np
import pytest

from workbench.credit import (
    broadcast,
    gigpo,
    group_advantages,
    leave_one_out,
    per_token,
    return_to_go,
    tool_status_rewards,
    transitions,
)

NAN = float("nan")


def same(credit, expected, **tolerance):
    assert [len(c) for c in credit] == [len(e) for e in expected]
    for got, want in zip(credit, expected):
        assert np.allclose(got, want, equal_nan=True, **tolerance), (credit, expected)


def test_broadcast_puts_the_group_advantage_on_every_turn(by_hand):
    group = by_hand.of_lengths(3, 1, 2, 2)
    credit = broadcast(group, [1, 0, 0, 0], eps=0.0)
    same(credit, [[1.5] * 3, [-0.5], [-0.5] * 2, [-0.5] * 2])


def test_a_list_of_groups_in_the_place_of_one_is_refused(by_hand):
    with pytest.raises(ValueError, match=r"group: expected a Group, got \[Group.*once a group"):
        broadcast([by_hand.of_lengths(1, 2)], [1, 0])


def test_broadcast_is_the_group_advantage_bit_for_bit_also_of_a_whole_batch(by_hand):
    rewards = np.random.default_rng(0).normal(size=(16, 8))
    for row, expected in zip(rewards, group_advantages(rewards)):
        credit = broadcast(by_hand.of_lengths(*range(1, 9)), row)
        assert all((c == e).all() for c, e in zip(credit, expected))


@pytest.mark.parametrize("scheme", [broadcast, return_to_go, transitions])
def test_what_could_not_be_judged_is_nan_and_in_no_baseline(by_hand, scheme):
    with_gap = scheme(by_hand.of_lengths(2, 3, 1), [1.0, NAN, 0.0])
    without = scheme(by_hand.of_lengths(2, 1), [1.0, 0.0])
    assert np.isnan(with_gap[1]).all() and len(with_gap[1]) == 3
    same([with_gap[0], with_gap[2]], without)


@pytest.mark.parametrize("scheme", [broadcast, return_to_go, transitions])
@pytest.mark.parametrize("value", [0.0, 0.1, 1.0])
def test_a_tied_group_gets_exact_zeros(by_hand, scheme, value):
    credit = scheme(by_hand.of_lengths(2, 3, 1), [value] * 3)
    assert all((c == 0.0).all() for c in credit)


@pytest.mark.parametrize("scheme", [broadcast, return_to_go, transitions])
def test_rewards_must_be_one_a_trajectory(by_hand, scheme):
    with pytest.raises(ValueError, match=r"shape \(2,\), got shape \(1, 2\)"):
        scheme(by_hand.of_lengths(1, 1), [[1.0, 0.0]])


def test_a_row_filled_up_to_larger_groups_is_to_be_cut(by_hand):
    filled, group = np.array([1.0, 0.0, NAN]), by_hand.of_lengths(1, 2)
    with pytest.raises(ValueError, match=r"filled up .*\(as totals does\) is cut.* row\[:2\]"):
        broadcast(group, filled)
    same(broadcast(group, filled[:2], scale="none"), [[0.5], [-0.5, -0.5]])


@pytest.mark.parametrize("scheme", [broadcast, return_to_go, transitions, gigpo])
@pytest.mark.parametrize("value", [float("inf"), -float("inf")])
def test_an_infinite_reward_is_refused(by_hand, scheme, value):
    with pytest.raises(ValueError, match="rewards: expected finite numbers"):
        scheme(by_hand.of_lengths(2, 3, 1), [value, 1.0, 0.0])


@pytest.mark.parametrize(
    "scheme",
    [broadcast, return_to_go, partial(return_to_go, baseline="turn_index"), transitions, gigpo],
)
@pytest.mark.parametrize("lengths", [(), (2, 0, 1)])
def test_a_group_without_attempts_or_an_attempt_without_turns_is_refused(by_hand, scheme, lengths):
    with pytest.raises(ValueError, match=r"each of one turn or more, got turns \["):
        scheme(by_hand.of_lengths(*lengths), [1.0, 0.0, 0.0][: len(lengths)])


def test_return_to_go_without_turn_rewards_is_leave_one_out(by_hand):
    rewards = np.random.default_rng(0).normal(size=5)
    credit = return_to_go(by_hand.of_lengths(1, 4, 2, 3, 2), rewards)
    expected = leave_one_out(rewards[None])[0]
    same(credit, [[e] * k for e, k in zip(expected, (1, 4, 2, 3, 2))])


def test_return_to_go_by_hand(by_hand):
    """Rewards a turn: (0, -.1, 1) and (0, 0). Returns at gamma .5: (.2, .4, 1) and (0, 0)."""
    group = by_hand.of_lengths(3, 2)
    own = {3: [0, -0.1, 0], 2: [0, 0]}
    options = dict(gamma=0.5, turn_rewards=lambda t: own[len(t.turns)])
    same(return_to_go(group, [1, 0], baseline="none", **options), [[0.2, 0.4, 1.0], [0, 0]])
    same(return_to_go(group, [1, 0], **options), [[0.2, 0.4, 1.0], [-0.2, -0.2]])
    spread = ((0.04 + 0.16 + 1.0) / 3 + 0.04) ** 0.5  # root of the sum over G - 1 = 1 of squares
    scaled = return_to_go(group, [1, 0], scale="std", eps=0.0, **options)
    same(scaled, [np.array([0.2, 0.4, 1.0]) / spread, np.array([-0.2, -0.2]) / spread])


@pytest.mark.parametrize("baseline", ["others", "none"])
def test_attempts_that_all_earn_the_same_are_not_divided_by_nothing(by_hand, baseline):
    """Their returns from the first turn on have no spread; those of later turns are not it."""
    group = by_hand.of_lengths(4, 4, 3)
    shaped = {4: [0.3, -0.3, 0.1, -0.1], 3: [0.1, 0.2, -0.3]}  # sums to 0, but for rounding
    for options in ({"gamma": 0.9}, {"turn_rewards": lambda t: shaped[len(t.turns)]}):
        credit = return_to_go(group, [1, 1, 1], baseline=baseline, scale="std", **options)
        squares = [np.mean(np.square(c)) for c in credit]
        assert sum(squares) == pytest.approx(2.0, rel=0.01)  # G - 1, of whatever group


def test_scaled_return_to_go_of_one_reward_is_a_broadcast(by_hand):
    rewards = np.random.default_rng(2).normal(size=4)
    group = by_hand.of_lengths(1, 3, 2, 2)
    same(return_to_go(group, rewards, scale="std", eps=0.0), broadcast(group, rewards, eps=0.0))


def test_a_turn_is_not_praised_for_what_was_earned_before_it(by_hand):
    group = by_hand.of_lengths(2, 2)
    rewards_of = iter([[1.0, 0.0], [0.0, 0.0]])
    credit = return_to_go(group, [0, 0], turn_rewards=lambda t: next(rewards_of), baseline="none")
    same(credit, [[1.0, 0.0], [0.0, 0.0]])


def test_the_same_index_is_compared_among_those_who_reach_it(by_hand):
    group = by_hand.of_lengths(1, 2, 3)
    credit = return_to_go(group, [0, 1, 0.5], baseline="turn_index")
    same(credit, [[-0.5], [0.5, 0.25], [0.0, -0.25, 0.0]])  # the third turn has nobody beside it


def test_transitions_weigh_long_attempts_more_unless_told_otherwise(by_hand):
    """The handbook's case: returns 1 (3 calls) and 0 (5 calls): means .375 and .5."""
    group = by_hand.of_lengths(3, 5)
    same(transitions(group, [1, 0], scale="none"), [[0.625] * 3, [-0.375] * 5])
    same(transitions(group, [1, 0], eps=0.0), [[1.207615] * 3, [-0.724569] * 5], atol=1e-6)
    by_attempt = transitions(group, [1, 0], baseline="trajectory", scale="none")
    same(by_attempt, [[0.5] * 3, [-0.5] * 5])
    scaled = transitions(group, [1, 0], baseline="trajectory", eps=0.0)
    same(scaled, [[0.5**0.5] * 3, [-(0.5**0.5)] * 5])


def test_transitions_of_one_call_each_are_a_broadcast(by_hand):
    rewards = np.random.default_rng(1).normal(size=4)
    group = by_hand.of_lengths(1, 1, 1, 1)
    for baseline in ("transition", "trajectory"):
        same(transitions(group, rewards, baseline=baseline), broadcast(group, rewards))


@pytest.mark.parametrize("baseline", ["transition", "trajectory"])
def test_only_the_chosen_agents_learn_and_are_compared(by_hand, baseline):
    planner, coder = by_hand.turn(agent="planner"), by_hand.turn(agent="coder")
    group = by_hand.group(
        by_hand.trajectory(planner, coder), by_hand.trajectory(planner, planner, coder)
    )
    credit = transitions(group, [1, 0], agents={"coder"}, scale="none", baseline=baseline)
    same(credit, [[NAN, 0.5], [NAN, NAN, -0.5]])
    with pytest.raises(ValueError, match=r"some of \['coder', 'planner'\], got \['critic'\]"):
        transitions(group, [1, 0], agents={"critic"})
    with pytest.raises(ValueError, match="names such as {'coder'}, got the text 'coder'"):
        transitions(group, [1, 0], agents="coder")


@pytest.mark.parametrize("bad", [NAN, float("inf")])
def test_turn_rewards_that_are_no_numbers_are_refused_where_the_attempt_was_judged(by_hand, bad):
    """NaN in one attempt would leave the other without anybody to be compared with."""
    group = by_hand.of_lengths(2, 1)
    rewarded = dict(turn_rewards=lambda t: [bad, 0.0] if len(t.turns) == 2 else [0.0])
    with pytest.raises(ValueError, match="turn_rewards: expected finite numbers, got"):
        return_to_go(group, [1.0, 0.0], **rewarded)
    left_out, alone = return_to_go(group, [NAN, 0.0], **rewarded)
    assert np.isnan(left_out).all() and alone.tolist() == [0.0]


def test_tool_status_becomes_rewards_of_turns(by_hand):
    good = by_hand.turn(command="run", observation="FAIL f(1) got 2 want 3")
    lost = by_hand.turn(command="cat no.py", observation="error: no such file no.py")
    malformed = by_hand.turn(command=None, observation="error: unknown command")
    found = tool_status_rewards(by_hand.trajectory(good, lost, malformed))
    assert found.tolist() == [0.0, -0.05, -0.1]


def test_intermediate_rewards_join_the_worth_of_their_own_call_only(by_hand):
    group = by_hand.group(
        by_hand.trajectory(by_hand.turn(), by_hand.turn(command=None)),
        by_hand.trajectory(by_hand.turn(), by_hand.turn()),
    )
    options = dict(turn_rewards=tool_status_rewards, scale="none")
    worth = np.array([1.0, 0.9, 0.0, 0.0])
    same(transitions(group, [1, 0], **options), np.split(worth - worth.mean(), 2))
    by_attempt = transitions(group, [1, 0], baseline="trajectory", **options)
    same(by_attempt, np.split(worth - 0.475, 2))


def test_rewards_of_turns_must_be_one_a_turn(by_hand):
    with pytest.raises(ValueError, match=r"turn_rewards: .* shape \(2,\), got shape \(1,\)"):
        return_to_go(by_hand.of_lengths(2, 2), [1, 0], turn_rewards=lambda t: [0.0])


@pytest.mark.parametrize(
    "scheme, options, message",
    [
        (return_to_go, {"baseline": "mean"}, "got 'mean'"),
        (return_to_go, {"scale": "batch"}, "got 'batch'"),
        (transitions, {"baseline": "mean"}, "got 'mean'"),
        (transitions, {"baseline": "trajectory", "scale": "batch"}, "got 'batch'"),
    ],
)
def test_unknown_options_are_refused(by_hand, scheme, options, message):
    with pytest.raises(ValueError, match=message):
        scheme(by_hand.of_lengths(1, 2), [1, 0], **options)


def test_every_token_of_a_turn_gets_the_number_of_its_turn(by_hand):
    long, short = by_hand.turn(num_tokens=3), by_hand.turn(num_tokens=1)
    group = by_hand.group(by_hand.trajectory(long, short), by_hand.trajectory(short))
    credit = per_token(group, [np.array([0.5, -1.0]), np.array([2.0])])
    same(credit, [[0.5, 0.5, 0.5, -1.0], [2.0]])
    with pytest.raises(ValueError, match=r"\[\(2,\), \(1,\)\], got \[\(1,\), \(1,\)\]"):
        per_token(group, [np.array([0.5]), np.array([2.0])])
