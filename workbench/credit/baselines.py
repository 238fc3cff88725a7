"""Advantages from a group: each reward against the other attempts at the same task.

Stage: credit. (B, G) rewards in, (B, G) advantages out; numpy only. NaN marks a trajectory that
could not be judged: it is no part of any mean and stays NaN, so that nobody trains on it by
mistake. Left out: advantages per turn, learned values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from workbench.credit.turns import expect_finite


def group_advantages(
    rewards: np.ndarray,
    *,
    scale: Literal["std", "none"] = "std",
    ddof: int = 1,
    eps: float = 1e-4,
) -> np.ndarray:
    """Centre each reward on its group's mean, optionally dividing by the group's spread.

    Args:
        rewards: (B, G) float array; row b holds the G rewards for one task, NaN = left out.
        scale: "std" divides by the row's standard deviation; "none" only centres.
        ddof: 1 = sample (TRL, verl), 0 = population.
        eps: added to the standard deviation.
    Returns:
        (B, G) array. A row whose rewards are all equal comes back as zeros: it teaches nothing.
        NaN stays NaN.
    Raises:
        ValueError: if rewards are not (B, G), G < 2 (one sample has no group), one of them is
            infinite or scale is unknown.
    Source: Shao et al. 2024 (GRPO), outcome supervision; "none" follows Liu et al. 2025
        (Dr. GRPO).

    >>> group_advantages(np.array([[1.0, 0.0, 0.0, 1.0]]), scale="none").tolist()
    [[0.5, -0.5, -0.5, 0.5]]
    """
    if scale not in ("std", "none"):
        raise ValueError(f'scale: expected "std" or "none", got {scale!r}')
    rewards = _groups(rewards)
    present = ~np.isnan(rewards)
    count = present.sum(axis=1, keepdims=True)
    filled = np.where(present, rewards, 0.0)
    centred = np.where(present, rewards - filled.sum(1, keepdims=True) / np.maximum(count, 1), 0.0)
    if scale == "std":
        variance = (centred**2).sum(1, keepdims=True) / np.maximum(count - ddof, 1)
        centred = centred / (np.sqrt(variance) + eps)
    centred = np.where(tied(rewards)[:, None], 0.0, centred)  # exactly, whatever the rounding
    return np.where(present, centred, np.nan)


def leave_one_out(rewards: np.ndarray) -> np.ndarray:
    """Each reward minus the mean of the others in its row: REINFORCE with the best plain baseline.

    Equals G / (G - 1) times the centred reward. (B, G) to (B, G); NaN, tied rows and errors as in
    `group_advantages`; a reward without others gives 0.

    Source: Ahmadian et al. 2024 (RLOO, arXiv:2402.14740).

    >>> leave_one_out(np.array([[1.0, 0.0, 0.0, 1.0]])).round(3).tolist()
    [[0.667, -0.667, -0.667, 0.667]]
    """
    centred = group_advantages(rewards, scale="none")
    count = (~np.isnan(centred)).sum(axis=1, keepdims=True)
    return centred * count / np.maximum(count - 1, 1)


def decoupled_advantages(
    rewards: np.ndarray,
    weights: Sequence[float] | np.ndarray,
    *,
    ddof: int = 1,
    eps: float = 1e-4,
) -> np.ndarray:
    """Each component normalised in its group by itself, then weighted and summed: GDPO.

    Where the sum is normalised, as GRPO does, two components that disagree can cancel out, and a
    component of small spread is drowned by one of large spread; here each has the same spread
    before its weight. The sums are divided by their standard deviation over the whole batch, so
    that more components do not mean larger advantages. (The paper also subtracts the batch's
    mean, which is 0: every group's is.)

    Args:
        rewards: (B, G, C) float array, unweighted. NaN in one component leaves the trajectory out
            of that component's mean; NaN in all leaves it out altogether.
        weights: (C,) one a component.
        ddof: of both standard deviations: 1 = sample (TRL), 0 = population.
        eps: added to both standard deviations.
    Returns:
        (B, G) array; zeros where every component is tied, NaN where all are NaN.
    Raises:
        ValueError: if the shapes are not (B, G >= 2, C) and (C,).
    Source: Liu et al. 2026 (GDPO, arXiv:2601.05242); "normalize_then_sum" in TRL.

    >>> two = np.array([[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.0, 0.0]]])
    >>> decoupled_advantages(two, (1.0, 1.0), ddof=0, eps=0.0).round(3).tolist()
    [[0.0, 0.0, 1.414, -1.414]]
    """
    rewards, weights = np.asarray(rewards, dtype=float), np.asarray(weights, dtype=float)
    if rewards.ndim != 3 or weights.shape != rewards.shape[2:]:
        raise ValueError(
            f"expected rewards (B, G, C) and one weight a component, got shapes {rewards.shape} "
            f"and {weights.shape}"
        )
    total = np.zeros(rewards.shape[:2])
    for c, weight in enumerate(weights):
        normalised = group_advantages(rewards[:, :, c], ddof=ddof, eps=eps)
        total += weight * np.where(np.isnan(normalised), 0.0, normalised)
    judged = ~np.isnan(rewards).all(axis=2)
    spread = np.sqrt((total[judged] ** 2).sum() / max(judged.sum() - ddof, 1))
    return np.where(judged, total / (spread + eps) if spread else 0.0, np.nan)


def tied(rewards: np.ndarray) -> np.ndarray:
    """(B,) bool: rows with fewer than two different rewards, NaN aside; they teach nothing."""
    rewards = _groups(rewards)
    high = np.where(np.isnan(rewards), -np.inf, rewards).max(axis=1)
    low = np.where(np.isnan(rewards), np.inf, rewards).min(axis=1)
    return high <= low


def _groups(rewards: np.ndarray) -> np.ndarray:
    rewards = np.asarray(rewards, dtype=float)
    if rewards.ndim != 2 or rewards.shape[1] < 2:
        raise ValueError(
            f"rewards: expected (B, G) with G >= 2, got shape {rewards.shape}; one sample has no "
            "group, so sample each task at least twice"
        )
    expect_finite(rewards)
    return rewards
