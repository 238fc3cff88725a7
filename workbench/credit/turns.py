"""What every credit scheme shares: rewards of turns in, numbers of turns and tokens out.

Stage: credit. A scheme is any function

    scheme(group, rewards, **options) -> [(K,) float array for each trajectory]

where rewards is (G,), one number a trajectory, NaN = could not be judged: such a trajectory is in
no baseline and each of its turns gets NaN. What the turns themselves earned on the way is an
option, a function `turn_rewards(trajectory) -> (K,)`.
Left out: tokens of one turn that deserve different credit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from workbench.records import Group, Trajectory
from workbench.records.arguments import expect

TurnRewards = Callable[[Trajectory], Sequence[float] | np.ndarray]
"""What each turn of a trajectory earned by itself: (K,) numbers."""


def checked_rewards(group: Group, rewards: Sequence[float] | np.ndarray) -> np.ndarray:
    """(G,) float array of the rewards. Raises ValueError unless `group` is a group with a turn in
    every trajectory, and there is one reward a trajectory, finite or NaN."""
    what_to_do = "call the scheme once a group, each time with that group's row of the rewards"
    expect("group", group, Group, "a Group", what_to_do)
    num_turns = [len(trajectory.turns) for trajectory in group.trajectories]
    if not min(num_turns, default=0):
        raise ValueError(
            "group: expected at least one trajectory, each of one turn or more, got turns "
            f"{num_turns}"
        )
    rewards = np.asarray(rewards, dtype=float)
    if rewards.shape != (len(num_turns),):
        raise ValueError(
            f"rewards: expected one a trajectory, shape ({len(num_turns)},), got shape "
            f"{rewards.shape}; one scheme call is for one group, and a row that was filled up to "
            f"the size of larger groups (as totals does) is cut first: row[:{len(num_turns)}]"
        )
    expect_finite(rewards)
    return rewards


def expect_finite(rewards: np.ndarray) -> None:
    """Raises ValueError if one of the rewards is infinite; NaN may be among them."""
    if np.isinf(rewards).any():
        raise ValueError(
            f"rewards: expected finite numbers, NaN for what could not be judged, got "
            f"{rewards.tolist()!s:.200}; no mean is the baseline of an infinite one"
        )


def expect_a_number_a_turn(group: Group, credit: Sequence[np.ndarray]) -> None:
    """Raises ValueError unless `credit` is G arrays of shape (K,), as a scheme returns them."""
    shapes = [np.shape(numbers) for numbers in credit]
    expected = [(len(t.turns),) for t in group.trajectories]
    if shapes != expected:
        raise ValueError(
            f"credit: expected one number a turn, shapes {expected}, got {shapes}; it may be "
            "another group's"
        )


def spread_over_turns(group: Group, values: np.ndarray) -> list[np.ndarray]:
    """The trajectory's number on each of its turns: (G,) to G arrays of shape (K,)."""
    return [
        np.full(len(trajectory.turns), value)
        for trajectory, value in zip(group.trajectories, values, strict=True)
    ]


def rewards_of_turns(
    group: Group, rewards: np.ndarray, turn_rewards: TurnRewards | None = None
) -> list[np.ndarray]:
    """What each turn earned: its own reward, and on the last turn the trajectory's as well.

    Returns G arrays of shape (K,), all NaN where the trajectory's reward is. Raises ValueError if
    `turn_rewards` does not return one finite number a turn of a trajectory that was judged.
    """
    earned = []
    for trajectory, reward in zip(group.trajectories, rewards, strict=True):
        num_turns = len(trajectory.turns)
        own = np.zeros(num_turns)
        if turn_rewards is not None:
            own = np.array(turn_rewards(trajectory), dtype=float)
        if own.shape != (num_turns,):
            raise ValueError(
                f"turn_rewards: expected one number a turn, shape ({num_turns},), got shape "
                f"{own.shape}"
            )
        if not (np.isfinite(own).all() or np.isnan(reward)):
            raise ValueError(
                f"turn_rewards: expected finite numbers, got {own.tolist()}; an attempt that could "
                "not be judged has the reward NaN, a turn that earned nothing has 0"
            )
        own[-1:] += reward
        earned.append(np.full(num_turns, np.nan) if np.isnan(reward) else own)
    return earned


def over_spread(
    credit: Sequence[np.ndarray],
    *,
    scale: Literal["std", "none"],
    ddof: int = 1,
    eps: float = 1e-4,
) -> list[np.ndarray]:
    """Credit whose mean is already right, divided by its own spread in the group, or as it is.

    For schemes that compare a turn with a value, not an attempt with its group. They need no other
    attempt to differ: a group of equal rewards still has turns that gained and lost. So the spread
    is that of the credit, not of the rewards: the root of the mean over attempts of the mean square
    of an attempt's turns, about zero and not about the mean, so that a turn that changed nothing
    keeps 0. Of credit that is the same on every turn of an attempt, such as `broadcast`'s, that
    is the group's standard deviation. Divided by it all groups pull alike; where little was at
    stake, that is mostly the error of the values.

    Args:
        scale: "std" divides, "none" returns the credit as it is.
        ddof: attempts taken off the number that the mean is over: 1 = as for rewards, 0 = none.
        eps: added to the spread.
    Returns:
        G arrays of the shapes given; NaN stays NaN.
    Raises:
        ValueError: if scale is unknown.
    """
    if scale not in ("std", "none"):
        raise ValueError(f'scale: expected "std" or "none", got {scale!r}')
    squares = [np.nanmean(np.square(c)) for c in credit if not np.isnan(c).all()]
    if scale == "none" or not squares:
        return list(credit)
    spread = np.sqrt(sum(squares) / max(len(squares) - ddof, 1))
    return [c / (spread + eps) for c in credit]


def tool_status_rewards(
    trajectory: Trajectory, *, malformed: float = -0.1, failed: float = -0.05, good: float = 0.0
) -> np.ndarray:
    """Turn rewards from what the environment said: (K,), a number for each kind of answer.

    Args:
        malformed: the message was no command.
        failed: the command met an error, such as a file that is not there.
        good: everything else, failing tests included: to have run them is no mistake.
    Source: automatic intermediate rewarding of Luo et al. 2025 (Agent Lightning, arXiv:2508.03680);
        the numbers are our choice.
    """
    return np.array(
        [
            malformed
            if turn.parse_error is not None
            else failed
            if turn.observation.startswith("error:")
            else good
            for turn in trajectory.turns
        ]
    )


def per_token(group: Group, credit: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The turn's number on each token that was sampled in it.

    Args:
        credit: G arrays of shape (K,), as a scheme returns them.
    Returns:
        G arrays of shape (action tokens of the trajectory,), prompts and observations left out.
    Raises:
        ValueError: if the shapes do not fit the group.
    """
    expect_a_number_a_turn(group, credit)
    return [
        np.repeat(c, [len(turn.action.ids) for turn in trajectory.turns])
        for c, trajectory in zip(credit, group.trajectories)
    ]
