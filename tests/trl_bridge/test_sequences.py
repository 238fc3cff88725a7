"""Trajectories as the lists TRL takes."""

from dataclasses import replace

import numpy as np
import pytest

from tests.trl_bridge.conftest import by_hand, group_of
from workbench.trl_bridge import as_rollout, sequences_of
from workbench.trl_bridge.sequences import TokenSequence


def test_a_trajectory_of_two_turns_by_hand():
    group = group_of(by_hand(([1, 2], [3, 4]), ([5], [6])), by_hand(([1, 2], [7])))
    two, one = sequences_of(group, [np.array([0.5, -1.0]), np.array([2.0])])
    assert two == TokenSequence(
        prompt_ids=[1, 2],
        completion_ids=[3, 4, 5, 6],
        env_mask=[1, 1, 0, 1],
        logprobs=[-1.0, -2.0, 0.0, -3.0],
        advantages=[0.5, 0.5, 0.0, -1.0],
    )
    assert (one.prompt_ids, one.completion_ids, one.advantages) == ([1, 2], [7], [2.0])


def test_a_turn_without_gradient_keeps_its_tokens():
    (sequence,) = sequences_of(
        group_of(by_hand(([1], [2]), ([3], [4, 5]))), [np.array([np.nan, 1.0])]
    )
    assert sequence.completion_ids == [2, 3, 4, 5] and sequence.env_mask == [1, 0, 1, 1]
    assert np.array_equal(sequence.advantages, [np.nan, 0.0, 1.0, 1.0], equal_nan=True)


def test_the_rollout_holds_one_list_a_trajectory():
    group = group_of(by_hand(([1], [2])), by_hand(([1], [3, 4])))
    rollout = as_rollout(sequences_of(group, [np.array([1.0]), np.array([-1.0])]))
    assert rollout["prompt_ids"] == [[1], [1]] and rollout["completion_ids"] == [[2], [3, 4]]
    assert rollout["env_mask"] == [[1], [1, 1]]
    assert rollout["token_advantages"] == [[1.0], [-1.0, -1.0]]


def test_a_history_that_was_cut_is_refused():
    cut = by_hand(([1, 2], [3]), ([4], [5]), kept=[0, 1])
    with pytest.raises(ValueError, match="one row of tokens, got 2; TRL has one .*shorten=True"):
        sequences_of(group_of(cut), [np.zeros(2)])


def test_an_attempt_that_never_spoke_is_refused():
    silent = by_hand(([1, 2], []))
    with pytest.raises(ValueError, match="no room in sampler.max_context, which is 768: raise it"):
        sequences_of(group_of(silent), [np.zeros(1)])
    with pytest.raises(ValueError, match="could not be sampled at all: a fault of ours"):
        sequences_of(group_of(replace(silent, stop_reason="abort")), [np.zeros(1)])


def test_credit_of_another_shape_is_refused():
    with pytest.raises(ValueError, match="one number a turn"):
        sequences_of(group_of(by_hand(([1], [2]))), [np.zeros(2)])
