"""From trajectories to tensors: nothing changes on the way, and masks are made, not guessed."""

import math

import numpy as np
import pytest
import torch

from workbench.credit import broadcast, group_advantages, per_token
from workbench.learning.batch import Batch, microbatch_rows, pack, split_minibatches


@pytest.fixture
def two_turns(by_hand):
    """bos task . end act | SAMPLED | obs . end act | SAMPLED; pad's id 0 occurs as a real token."""
    return by_hand.trajectory(
        [
            by_hand.turn([20, 0, 2], [-0.5, -0.25, -0.125], [1, 3, 10, 2, 4], 0),
            by_hand.turn([21, 2], [-1.0, -2.0], [5, 11, 0, 2, 4], 8),
        ]
    )


def test_sampled_ids_and_logprobs_reach_the_batch_unchanged(by_hand, two_turns):
    batch = pack([by_hand.group(two_turns)], [[1.0]])
    assert batch.ids[0, :15].tolist() == [1, 3, 10, 2, 4, 20, 0, 2, 5, 11, 0, 2, 4, 21, 2]
    assert batch.ids[batch.loss_mask].tolist() == [20, 0, 2, 21, 2]
    assert batch.old_logprobs[batch.loss_mask].tolist() == [-0.5, -0.25, -0.125, -1.0, -2.0]


def test_masks_come_from_places_not_from_token_values(by_hand, two_turns):
    batch = pack([by_hand.group(two_turns)], [[1.0]])
    places = batch.loss_mask[0].nonzero()[:, 0].tolist()
    assert places == [5, 6, 7, 13, 14]  # id 0 and id 2 are inside and outside of it
    assert batch.attention_mask[0].tolist() == [True] * 15 + [False] * 17
    assert batch.ids.shape == (1, 32)


def test_an_advantage_covers_its_attempt_and_one_a_turn_covers_its_turn(by_hand, two_turns):
    group = by_hand.group(two_turns, two_turns)
    batch = pack([group], [[0.5, np.array([1.0, -1.0])]])
    assert batch.advantages[0][batch.loss_mask[0]].tolist() == [0.5] * 5
    assert batch.advantages[1][batch.loss_mask[1]].tolist() == [1.0] * 3 + [-1.0] * 2
    assert batch.advantages[~batch.loss_mask].abs().sum() == 0


def test_an_attempt_with_a_nan_advantage_is_left_out(by_hand, two_turns):
    batch = pack([by_hand.group(two_turns, two_turns)], [[math.nan, 1.0]])
    assert len(batch) == 1


def test_a_turn_with_a_nan_advantage_stays_in_the_context(by_hand, two_turns):
    batch = pack([by_hand.group(two_turns, two_turns)], [[[math.nan, 1.0], [math.nan] * 2]])
    whole = pack([by_hand.group(two_turns)], [[1.0]])
    assert torch.equal(batch.ids, whole.ids) and len(batch) == 1
    assert batch.ids[batch.loss_mask].tolist() == list(two_turns.turns[1].action.ids)
    assert not batch.advantages.isnan().any()


def test_the_same_number_on_every_turn_is_the_same_batch_bit_for_bit(by_hand, two_turns):
    group = by_hand.group(two_turns, two_turns, two_turns, two_turns)
    rewards = np.array([1.0, 0.0, 0.1, 0.0])
    one_each = pack([group], group_advantages(rewards[None]))
    a_turn = pack([group], [broadcast(group, rewards)])
    for name in Batch.__dataclass_fields__:
        assert torch.equal(getattr(one_each, name), getattr(a_turn, name)), name


def test_the_tokens_of_a_batch_have_the_numbers_of_per_token(by_hand, two_turns):
    group = by_hand.group(two_turns, two_turns)
    credit = [np.array([0.5, -0.25]), np.array([1.0, 2.0])]
    batch = pack([group], [credit])
    for row, expected in enumerate(per_token(group, credit)):
        assert batch.advantages[row][batch.loss_mask[row]].tolist() == expected.tolist()


def test_turns_that_are_not_learned_stay_in_the_context(by_hand, two_turns):
    learned = pack([by_hand.group(two_turns)], [[1.0]], learns=lambda t: 21 in t.action.ids)
    whole = pack([by_hand.group(two_turns)], [[1.0]])
    assert torch.equal(learned.ids, whole.ids)
    assert learned.ids[learned.loss_mask].tolist() == [21, 2]


def test_a_turn_that_keeps_less_of_the_prefix_begins_a_new_row(by_hand):
    shortened = by_hand.trajectory(
        [
            by_hand.turn([20, 2], [-0.5, -0.5], [1, 3, 10, 2, 4], 0),
            by_hand.turn([21, 2], [-1.0, -1.0], [5, 11, 2, 4], 4),  # keeps 1 3 10 2
        ]
    )
    batch = pack([by_hand.group(shortened)], [[1.0]])
    assert batch.ids[0][batch.attention_mask[0]].tolist() == [1, 3, 10, 2, 4, 20, 2]
    assert batch.ids[1][batch.attention_mask[1]].tolist() == [1, 3, 10, 2, 5, 11, 2, 4, 21, 2]
    assert batch.ids[batch.loss_mask].tolist() == [20, 2, 21, 2]  # each once


def test_missing_logprobs_are_refused(by_hand):
    broken = by_hand.trajectory([by_hand.turn([20, 2], [-0.5], [1, 4], 0)])
    with pytest.raises(ValueError, match="as many logprobs as sampled ids, got 1 and 2"):
        pack([by_hand.group(broken)], [[1.0]])


def test_advantages_must_fit_the_groups(by_hand, two_turns):
    with pytest.raises(ValueError, match=r"rows of \[2\], got \[1\]"):
        pack([by_hand.group(two_turns, two_turns)], [[1.0]])


def test_no_attempt_at_all_is_an_empty_batch(by_hand, two_turns):
    batch = pack([by_hand.group(two_turns)], [[math.nan]])
    assert len(batch) == 0 and split_minibatches(batch, 2, np.random.default_rng(0)) == []


@pytest.fixture
def uneven(by_hand):
    """Nine attempts of 10 to 90 tokens."""
    attempts = [
        by_hand.trajectory([by_hand.turn([7] * 5, [-1.0] * 5, [1] * (10 * i - 5), 0)])
        for i in range(1, 10)
    ]
    return pack([by_hand.group(*attempts)], [list(range(1, 10))])


def test_minibatches_hold_every_row_once(uneven):
    parts = split_minibatches(uneven, 2, np.random.default_rng(0))
    assert sorted(len(part) for part in parts) == [4, 5]
    seen = [float(a.max()) for part in parts for a in part.advantages]
    assert sorted(seen) == list(range(1, 10))


def test_microbatches_hold_every_row_once_and_keep_to_the_token_limit(uneven):
    pieces = microbatch_rows(uneven.lengths.tolist(), tokens=160)
    assert sorted(row for piece in pieces for row in piece) == list(range(9))
    taken = [uneven.take(piece) for piece in pieces]
    assert all(t.ids.numel() <= 160 for t in taken)
    assert all(t.ids.shape[1] % 32 == 0 for t in taken)
    # widths 32 32 32 | 64 64 | 64 | 96 | 96 | 96: a third 64 or a second 96 would exceed 160
    assert pieces == [[0, 1, 2], [3, 4], [5], [6], [7], [8]]


def test_taking_rows_trims_the_width(uneven):
    assert uneven.ids.shape == (9, 96)
    assert uneven.take([0, 2]).ids.shape == (2, 32)


def test_a_batch_moves_to_another_device_as_a_whole(uneven):
    assert uneven.to("cpu") is uneven
    moved = uneven.to("meta")
    assert all(getattr(moved, name).device.type == "meta" for name in vars(uneven))
    assert moved.ids.shape == uneven.ids.shape


def test_what_was_said_without_token_ids_is_refused(by_hand):
    spoken = by_hand.trajectory([by_hand.turn([], [], [], 0, text="submit")])
    with pytest.raises(ValueError, match="expected the token ids of what was said, got none"):
        pack([by_hand.group(spoken)], [[1.0]])
