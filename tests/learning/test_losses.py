"""Losses against numbers worked out by hand."""

import math

import pytest
import torch

from workbench.learning.losses import (
    clipped_ratio_loss,
    constant_length_weights,
    reinforce_loss,
    sequence_mean_weights,
    sequence_ratio_loss,
    token_mean_weights,
    was_clipped,
)

YES = torch.ones(1, 1, dtype=torch.bool)


def objective(ratio, advantage, low=0.2, high=0.2):
    """The clipped objective (to be maximised) of one token, and its slope in the logprob."""
    new = torch.tensor([[math.log(ratio)]], requires_grad=True)
    old, advantages = torch.zeros(1, 1), torch.tensor([[float(advantage)]])
    loss = clipped_ratio_loss(new, old, advantages, YES, clip_low=low, clip_high=high)
    loss.sum().backward()
    return -loss.item(), -new.grad.item()


@pytest.mark.parametrize(
    ("ratio", "advantage", "expected"),
    [
        (0.5, 1, 0.5),
        (0.5, -1, -0.8),
        (0.9, 1, 0.9),
        (0.9, -1, -0.9),
        (1.25, 1, 1.2),
        (1.25, -1, -1.25),
        (1.5, 1, 1.2),
        (1.5, -1, -1.5),
    ],
)
def test_clipped_objective_has_the_worked_values(ratio, advantage, expected):
    assert objective(ratio, advantage)[0] == pytest.approx(expected, abs=1e-6)


def test_clip_higher_lets_the_ratio_rise_further():
    assert objective(1.25, 1, 0.2, 0.28)[0] == pytest.approx(1.25, abs=1e-6)
    assert objective(1.5, 1, 0.2, 0.28)[0] == pytest.approx(1.28, abs=1e-6)


@pytest.mark.parametrize("ratio", [0.5, 0.79, 0.81, 1.0, 1.27, 1.29, 2.0])
@pytest.mark.parametrize("advantage", [-1, 1])
def test_gradient_vanishes_exactly_where_the_objective_is_clipped(ratio, advantage):
    _, slope = objective(ratio, advantage, 0.2, 0.28)
    clipped = (advantage > 0 and ratio > 1.28) or (advantage < 0 and ratio < 0.8)
    expected = 0.0 if clipped else ratio * advantage  # elsewhere r A d(log pi)
    assert slope == pytest.approx(expected, abs=1e-6)
    slopes, advantages = torch.tensor([[-slope]]), torch.tensor([[float(advantage)]])
    assert was_clipped(slopes, advantages).item() == clipped
    assert not was_clipped(torch.zeros(1, 1), torch.zeros(1, 1))  # nothing there to take away


def test_token_sequence_and_constant_means_have_the_worked_values():
    mask = torch.tensor([[True, True, False, False], [True, True, True, True]])
    losses = torch.tensor([[1.0, 1.0, 9.0, 9.0], [0.5, 0.5, 0.5, 0.5]])
    assert (token_mean_weights(mask) * losses).sum() == pytest.approx(2 / 3)
    assert (sequence_mean_weights(mask) * losses).sum() == pytest.approx(0.75)
    assert (constant_length_weights(mask, length=10) * losses).sum() == pytest.approx(0.2)


def test_a_long_sequence_is_punished_less_per_token_only_by_the_sequence_mean():
    mask = torch.zeros(2, 1000, dtype=torch.bool)
    mask[0, :100], mask[1, :] = True, True
    by_sequence, by_token = sequence_mean_weights(mask), token_mean_weights(mask)
    assert by_sequence[0, 0] == pytest.approx(0.005) and by_sequence[1, 0] == pytest.approx(0.0005)
    assert by_token[0, 0] == by_token[1, 0] == pytest.approx(1 / 1100)


def test_sequence_ratio_is_the_geometric_mean_and_is_clipped_as_one():
    log_ratios = torch.tensor([[0.1, -0.05, 0.02, 0.03, 5.0]])
    mask = torch.tensor([[True, True, True, True, False]])
    advantages = torch.ones(1, 5)
    loss = sequence_ratio_loss(
        log_ratios, torch.zeros(1, 5), advantages, mask, clip_low=1.0, clip_high=1.0
    )
    assert -loss[0, 0].item() == pytest.approx(1.025315, abs=1e-6)
    small = torch.tensor([[0.002, -0.001, 0.0005, 0.0004, 5.0]])
    loss = sequence_ratio_loss(
        small, torch.zeros(1, 5), advantages, mask, clip_low=3e-4, clip_high=4e-4
    )
    assert -loss[0, 0].item() == pytest.approx(1.0004, abs=1e-6)


def test_one_reinforce_update_on_a_two_armed_bandit_has_the_worked_value():
    logits = torch.zeros(2, requires_grad=True)
    logprob = torch.log_softmax(logits, 0)[:1].reshape(1, 1)
    loss = reinforce_loss(logprob, torch.zeros(1, 1), torch.tensor([[1.0 - 0.5]]), YES)
    loss.sum().backward()
    assert (-0.1 * logits.grad).tolist() == pytest.approx([0.025, -0.025])
