"""What each scheme's gradient is on average, counted out on a process small enough for it.

The policy first chooses between "stop" (reward 1/2) and "go"; after "go" between "hit" (reward 1)
and "miss" (reward 0). With P(go) = p = 1/2 and P(hit) = q = 1/4, each a sigmoid of its own
parameter, the reward expected is (1 - p) / 2 + p q, so its gradient is
(p (1 - p) (q - 1/2), p q (1 - q)) = (-1/16, 3/32). A group of two has nine outcomes.
"""

import itertools

import numpy as np
import pytest

from workbench.credit import (
    broadcast,
    gigpo,
    reroll_advantage,
    return_to_go,
    transitions,
    turn_gae,
)
from workbench.records import TurnValue

P, Q = 1 / 2, 1 / 4
TRUE = np.array([-1 / 16, 3 / 32])
PATHS = {("stop",): (1 - P, 0.5), ("go", "hit"): (P * Q, 1.0), ("go", "miss"): (P * (1 - Q), 0.0)}
"""Path -> (probability, reward)."""
SCORE = {"stop": (-P, 0), "go": (1 - P, 0), "hit": (0, 1 - Q), "miss": (0, -Q)}
"""Gradient of the choice's logprob."""
VALUE = {0: (1 - P) / 2 + P * Q, 1: Q}
"""Expected reward before the first and before the second choice."""


@pytest.fixture
def mean_gradient(by_hand):
    """A function: scheme and options -> its gradient, averaged over every possible group."""

    def mean(scheme, **options):
        total = np.zeros(2)
        for pair in itertools.product(PATHS, repeat=2):
            paths = [[by_hand.turn(after=word, command=word) for word in path] for path in pair]
            values = tuple(
                TurnValue(i, k - 1, VALUE[k], 0.0, 0, "exact")
                for i, path in enumerate(pair)
                for k in range(len(path))
            )
            group = by_hand.group(*(by_hand.trajectory(*p) for p in paths), turn_values=values)
            credit = scheme(group, [PATHS[path][1] for path in pair], **options)
            probability = np.prod([PATHS[path][0] for path in pair])
            for path, numbers in zip(pair, credit):
                for word, number in zip(path, numbers):
                    total += probability / 2 * number * np.array(SCORE[word])
        return total

    return mean


@pytest.mark.parametrize(
    "scheme, options, factor",
    [
        (return_to_go, {"baseline": "none"}, (1, 1)),
        (return_to_go, {"baseline": "others"}, (1, 1)),
        (reroll_advantage, {}, (1, 1)),
        # centred on a mean that includes the attempt itself: (G - 1) / G, the same everywhere
        (broadcast, {"scale": "none"}, (1 / 2, 1 / 2)),
        (transitions, {"baseline": "trajectory", "scale": "none"}, (1 / 2, 1 / 2)),
        # the second turn has a companion half of the time only, and counts for half as much
        (return_to_go, {"baseline": "turn_index"}, (1 / 2, 1 / 4)),
        (gigpo, {"gamma": 1.0, "scale": "none"}, (1 / 2 + 1 / 2, 1 / 2 + 1 / 4)),
    ],
)
def test_the_mean_gradient_is_the_true_one_times_a_known_factor(
    mean_gradient, scheme, options, factor
):
    assert np.allclose(mean_gradient(scheme, **options), np.array(factor) * TRUE, atol=1e-12)


def test_trusting_only_the_rewards_any_values_will_do_and_trusting_values_only_true_ones(
    mean_gradient,
):
    def gae(group, rewards, *, values, lam):
        return turn_gae(group, rewards, values=[values[: len(t.turns)] for t in group.trajectories],
                        lam=lam)  # fmt: skip

    wrong, true = np.array([0.9, -0.3]), np.array([VALUE[0], VALUE[1]])
    assert np.allclose(mean_gradient(gae, values=wrong, lam=1.0), TRUE)
    assert np.allclose(mean_gradient(gae, values=true, lam=0.0), TRUE)
    biased = mean_gradient(gae, values=wrong, lam=0.0)
    # before "go" the wrong value after it enters: p (1 - p) (-0.3 - 1/2) instead of q - 1/2
    assert np.allclose(biased, [0.25 * (-0.3 - 0.5), TRUE[1]])


def test_pooling_calls_bends_the_mean_gradient(mean_gradient):
    """By hand. Second choice: the deviation from the pooled mean is half of the companion's gap if
    that went on, too, and a third if it stopped; half of the time each: 5/12. First choice: "go"
    gets (1/4 - 1/2) / 3 beside a stop and 0 beside a go, "stop" gets 0 and 1/3 - (2/3) / 4; so
    1/4 of (-1/24 - 1/12) = -1/32."""
    assert np.allclose(mean_gradient(transitions, scale="none"), [-1 / 32, 5 / 12 * 3 / 32])
