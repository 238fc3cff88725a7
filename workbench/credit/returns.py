"""Returns: what is still to be earned from each turn on.

Stage: credit. One trajectory's rewards, one a turn, in; as many returns, or advantages over given
values, out. Left out: learning the values.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def discounted_returns(rewards: Sequence[float] | np.ndarray, gamma: float = 1.0) -> np.ndarray:
    """Return-to-go of each turn: its reward plus gamma times the next turn's return.

    Args:
        rewards: (..., K) rewards, one a turn.
        gamma: discount a turn (not a token), in [0, 1].
    Returns:
        (..., K) float array.
    Raises:
        ValueError: if gamma is outside [0, 1].

    >>> discounted_returns([0, 0, 0, 1], 0.9).round(3).tolist()
    [0.729, 0.81, 0.9, 1.0]
    """
    expect_share("gamma", gamma)
    returns = np.array(rewards, dtype=float)
    for k in range(returns.shape[-1] - 2, -1, -1):
        returns[..., k] += gamma * returns[..., k + 1]
    return returns


def generalised_advantages(
    rewards: Sequence[float] | np.ndarray,
    values: Sequence[float] | np.ndarray,
    gamma: float = 1.0,
    lam: float = 1.0,
) -> np.ndarray:
    """Advantage of each turn over the value before it: GAE, with turns in the place of tokens.

    A turn's surprise is its reward plus gamma times the next value, minus its own value; a turn's
    advantage is its surprise plus gamma * lam times the next turn's advantage. So lam = 0 trusts
    the values and looks one turn ahead, lam = 1 trusts only the rewards: return minus value.

    Args:
        rewards: (K,) rewards, one a turn.
        values: (K,) expected return before each turn; after the last one it is 0.
        gamma: discount a turn, in [0, 1].
        lam: in [0, 1].
    Returns:
        (K,) float array.
    Raises:
        ValueError: if the shapes differ, or gamma or lam is outside [0, 1].
    Source: Schulman et al. 2015 (arXiv:1506.02438), eq. 16.

    >>> generalised_advantages([0, 0, 1], [0.5, 0.25, 0.75], lam=0).tolist()
    [-0.25, 0.5, 0.25]
    >>> generalised_advantages([0, 0, 1], [0.5, 0.25, 0.75], lam=1).tolist()
    [0.5, 0.75, 0.25]
    """
    rewards, values = np.asarray(rewards, dtype=float), np.asarray(values, dtype=float)
    if rewards.ndim != 1 or rewards.shape != values.shape:
        raise ValueError(
            f"expected as many values as rewards, (K,) and (K,), got shapes {values.shape} and "
            f"{rewards.shape}; a value is what is expected before a turn"
        )
    expect_share("gamma", gamma)
    expect_share("lam", lam)
    surprises = rewards - values
    surprises[:-1] += gamma * values[1:]
    return discounted_returns(surprises, gamma * lam)


def expect_share(name: str, value: float) -> None:
    """Raises ValueError unless `value`, given as the argument `name`, is in [0, 1]."""
    if not 0.0 <= value <= 1.0:
        raise ValueError(f"{name}: expected a number in [0, 1], got {value!r}")
