"""Credit from process scores: a turn is paid for what it changes in them.

Stage: credit. A group whose attempts a model of turns has scored, and rewards, in; a number a turn
out. The scores lie in the evidence, so nothing is computed here but differences. They cancel out
along an attempt, so a further turn is no gain in itself. Scores that are paid as they are
(`turn_rewards=turn_scores` of another scheme) do not: every further turn pays, and a policy learns
not to finish.
Left out: the model (`process_rewards`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from workbench.credit.turns import checked_rewards
from workbench.credit.values import turn_gae
from workbench.records import Group, Trajectory


def turn_scores(trajectory: Trajectory) -> np.ndarray:
    """(K,) scores at the ends of the turns; for `turn_rewards=` of any scheme.

    Raises ValueError if the attempt was not scored.
    """
    scores = trajectory.evidence.turn_scores
    if scores is None:
        raise ValueError(
            f"task {trajectory.task_id}: expected scores of the turns (collector 'turn_scores'), "
            "got none; make them with process_rewards.score_turns(model, groups), in training with "
            "RLConfig(evidence=Scoring(model))"
        )
    return np.array(scores, dtype=float)


def score_changes(
    group: Group,
    rewards: Sequence[float] | np.ndarray,
    *,
    lam: float = 1.0,
    scale: Literal["std", "none"] = "none",
    ddof: int = 1,
    eps: float = 1e-4,
) -> list[np.ndarray]:
    """The score as a potential: a turn is paid for what changes in it, and at the end the reward.

    The first turn is compared with the mean score after the first turns of the group's other judged
    attempts (with its own if there are none), the last one gets the reward minus the score before
    it. So the changes of an attempt sum to its reward minus that mean, whatever the model says in
    between.

    Args:
        lam: 1 = a turn gets all changes from itself on, which come to the reward minus the score
            before it: the score is a baseline, and however wrong it is, the gradient is right on
            average. 0 = a turn gets its own change alone: less noise where the model is right, but
            the turn that talks the score up is paid, and another is charged when it falls.
        scale, ddof, eps: as in `turns.over_spread`; "none" leaves units of reward.
    Returns:
        G arrays of shape (K,), NaN where the reward is.
    Raises:
        ValueError: for shapes that do not fit, an unknown scale, or an attempt without scores.
    Source: Ng et al. 1999, theorem 1, with scores for the potential; lam as in Schulman et al.
        2015 (arXiv:1506.02438).
    """
    rewards = checked_rewards(group, rewards)
    scores = [turn_scores(trajectory) for trajectory in group.trajectories]
    starts = _mean_of_others(np.where(np.isnan(rewards), np.nan, [s[0] for s in scores]))
    before = [np.append(start, s[:-1]) for start, s in zip(starts, scores)]
    return turn_gae(group, rewards, values=before, lam=lam, scale=scale, ddof=ddof, eps=eps)


def _mean_of_others(numbers: np.ndarray) -> np.ndarray:
    """(G,) to (G,): the mean of the others, NaN left out; of one that is alone, itself."""
    count = np.sum(~np.isnan(numbers))
    return (np.nansum(numbers) - numbers) / (count - 1) if count > 1 else numbers
