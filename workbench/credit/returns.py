"""Returns: what is still to be earned from each turn on.

Stage: credit. One trajectory's rewards, one a turn, in; as many returns out. Left out: values
and generalised advantages.
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
    if not 0.0 <= gamma <= 1.0:
        raise ValueError(f"gamma: expected a number in [0, 1], got {gamma!r}")
    returns = np.array(rewards, dtype=float)
    for k in range(returns.shape[-1] - 2, -1, -1):
        returns[..., k] += gamma * returns[..., k + 1]
    return returns
