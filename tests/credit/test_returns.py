import numpy as np
import pytest

from workbench.credit import discounted_returns


def test_returns_match_the_hand_computed_episodes():
    assert np.allclose(discounted_returns([0, 0, 0, 1], 0.9), [0.729, 0.81, 0.9, 1])
    assert np.allclose(discounted_returns([0, -0.1, 0, 1], 0.9), [0.639, 0.71, 0.9, 1])
    assert np.allclose(discounted_returns([0, 0, 10], 0.95), [9.025, 9.5, 10])


def test_without_discount_every_turn_before_the_end_gets_the_final_reward():
    assert discounted_returns([0, 0, 1]).tolist() == [1.0, 1.0, 1.0]


def test_gamma_zero_gives_the_rewards_themselves():
    assert discounted_returns([3, 2, 1], 0.0).tolist() == [3.0, 2.0, 1.0]


def test_several_trajectories_at_once_and_the_input_stays_as_it_was():
    rewards = np.array([[0.0, 1.0], [1.0, 0.0]])
    assert np.allclose(discounted_returns(rewards, 0.5), [[0.5, 1.0], [1.0, 0.0]])
    assert rewards.tolist() == [[0.0, 1.0], [1.0, 0.0]]


def test_a_discount_above_one_is_refused():
    with pytest.raises(ValueError, match="gamma"):
        discounted_returns([1.0], 1.1)
