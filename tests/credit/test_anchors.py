import numpy as np

from workbench.credit import broadcast, gigpo, workspace_and_last_command

NAN = float("nan")


def two_paths(by_hand):
    """The handbook's example: both go s0 -> s1, then one goes to s2 and the other to s3."""
    to_s1 = by_hand.turn(after="s1", command="ls")
    one = by_hand.trajectory(to_s1, by_hand.turn(after="s2"), by_hand.turn(after="end"))
    other = by_hand.trajectory(to_s1, by_hand.turn(after="s3"), by_hand.turn(after="end"))
    return by_hand.group(one, other)


def test_anchor_states_give_the_numbers_of_the_handbook(by_hand):
    credit = gigpo(two_paths(by_hand), [10, 0], scale="none")
    assert np.allclose(credit, [[9.5125, 9.75, 5.0], [-9.5125, -9.75, -5.0]])


def test_without_the_second_part_it_is_a_broadcast(by_hand):
    group = two_paths(by_hand)
    assert np.array_equal(gigpo(group, [10, 0], omega=0.0), broadcast(group, [10, 0]))
    half = gigpo(group, [10, 0], omega=0.5, scale="none")
    assert np.allclose(half[0], [5 + 9.025 / 4, 5 + 9.5 / 4, 5])


def test_the_anchor_is_the_workspace_and_the_name_of_the_last_command(by_hand):
    looked, garbled = by_hand.turn("a", "cat lib.py"), by_hand.turn("a", None)
    path = by_hand.trajectory(looked, garbled, looked)
    assert [workspace_and_last_command(path, k) for k in range(3)] == [
        "start", ("a", "cat"), ("a", ""),
    ]  # fmt: skip


def test_a_state_visited_twice_by_one_attempt_is_compared_with_itself(by_hand):
    """Returns at gamma .5 from the state after `ls`: .5 and 1 in one attempt, 0 in the other."""
    ls = by_hand.turn("w", "ls")
    group = by_hand.group(by_hand.trajectory(ls, ls, ls), by_hand.trajectory(ls, ls))
    credit = gigpo(group, [1, 0], gamma=0.5, scale="none")
    assert np.allclose(credit[0], [0.5 + 0.125, 0.5 + 0.0, 0.5 + 0.5])
    assert np.allclose(credit[1], [-0.5 - 0.125, -0.5 - 0.5])


def test_what_could_not_be_judged_anchors_nothing(by_hand):
    group = two_paths(by_hand)
    three = by_hand.group(*group.trajectories, group.trajectories[0])
    credit = gigpo(three, [10, 0, NAN], scale="none")
    assert np.isnan(credit[2]).all()
    assert np.allclose(credit[:2], gigpo(group, [10, 0], scale="none"))


def test_another_notion_of_state_can_be_given(by_hand):
    group = two_paths(by_hand)
    lone = gigpo(group, [10, 0], anchor=lambda t, k: (id(t), k), scale="none")
    assert np.allclose(lone, [[5] * 3, [-5] * 3])


def test_at_equal_rewards_the_shorter_way_is_better(by_hand):
    ls = by_hand.turn("w", "ls")
    group = by_hand.group(by_hand.trajectory(ls), by_hand.trajectory(ls, ls))
    credit = gigpo(group, [1, 1], gamma=0.5, scale="none")
    assert np.allclose(credit[0], [0.25]) and np.allclose(credit[1], [-0.25, 0.0])
