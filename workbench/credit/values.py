"""Credit as the change of a value: four sources of values, one formula.

Stage: credit. If V says how much is to be expected before a turn, the turn's credit is what it
changed: its reward + gamma * V afterwards - V before. At the end there is nothing to expect, the
reward is there. V may come from re-rolls (`reroll_advantage`), from a model that predicts the
return (`rudder`), from a function somebody wrote (`potential_shaping`), or from anywhere, with a
dial between trusting it and trusting the reward (`turn_gae`). Summed over an attempt, credit is
its reward minus V at the start, so what one turn gets another lacks.
The value is what an attempt is compared with, so a group whose rewards are all equal can still
teach; scale="std" divides by the spread of the credit (`turns.over_spread`).
Left out: learning a value function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from workbench.credit.returns import expect_share, generalised_advantages
from workbench.credit.turns import TurnRewards, checked_rewards, over_spread, rewards_of_turns
from workbench.records import Group, Trajectory

Potential = Callable[[Trajectory, int], float]
"""(trajectory, k) -> how far it is before turn k, in units of reward."""


def turn_gae(
    group: Group,
    rewards: Sequence[float] | np.ndarray,
    *,
    values: Sequence[Sequence[float] | np.ndarray] | None = None,
    gamma: float = 1.0,
    lam: float = 0.95,
    turn_rewards: TurnRewards | None = None,
    scale: Literal["std", "none"] = "none",
    ddof: int = 1,
    eps: float = 1e-4,
) -> list[np.ndarray]:
    """Generalised advantages, a turn at a time.

    Args:
        values: G arrays of shape (K,), the value before each turn; None: `group.turn_values`, which
            a critic made for instance.
        gamma: discount a turn, in [0, 1]. Below 1 the values have to be discounted as well; those
            of `reroll`, `exact_turn_values` and `Critic` are not.
        lam: 0 = look one turn ahead and trust the values, 1 = return minus value.
        turn_rewards: what turns earn by themselves; the trajectory's reward joins on the last one.
        scale, ddof, eps: as in `turns.over_spread`.
    Returns:
        G arrays of shape (K,), NaN where the reward is, or the value of this turn or a later one.
    Raises:
        ValueError: for shapes that do not fit, gamma or lam outside [0, 1], or if there are no
            values.
    Source: Schulman et al. 2015 (arXiv:1506.02438), with turns in the place of time.
    """
    earned = rewards_of_turns(group, checked_rewards(group, rewards), turn_rewards)
    values = values_before_turns(group) if values is None else values
    if len(values) != len(earned):
        raise ValueError(f"values: expected {len(earned)} arrays, got {len(values)}")
    credit = [generalised_advantages(e, v, gamma, lam) for e, v in zip(earned, values)]
    return over_spread(credit, scale=scale, ddof=ddof, eps=eps)


def reroll_advantage(
    group: Group,
    rewards: Sequence[float] | np.ndarray,
    *,
    gamma: float = 1.0,
    turn_rewards: TurnRewards | None = None,
    scale: Literal["std", "none"] = "none",
    ddof: int = 1,
    eps: float = 1e-4,
) -> list[np.ndarray]:
    """What each turn changed, by the values in `group.turn_values`: VinePPO.

    The values were made by sampling the rest of the episode again from before each turn
    (`workbench.counterfactuals.reroll`), or are exact; they must be of the reward that is given.

    Args:
        gamma: discount a turn, as in `turn_gae`.
        turn_rewards: what turns earn by themselves, if the values are of that, too.
        scale, ddof, eps: as in `turns.over_spread`. "none" keeps the gradient right on average; so
            does a group whose attempts all failed, if a turn of theirs threw a chance away.
    Returns:
        G arrays of shape (K,); NaN for a trajectory whose reward is, or of which a value is
        missing.
    Raises:
        ValueError: if the group has no turn values at all, or two for one place.
    Source: Kazemnejad et al. 2024 (VinePPO, arXiv:2410.01679).
    """
    credit = turn_gae(group, rewards, gamma=gamma, lam=0.0, turn_rewards=turn_rewards)
    whole = [np.full(len(c), np.nan) if np.isnan(c).any() else c for c in credit]
    return over_spread(whole, scale=scale, ddof=ddof, eps=eps)


def values_before_turns(group: Group) -> list[np.ndarray]:
    """`group.turn_values` as G arrays of shape (K,): before each turn, NaN = not known.

    Raises ValueError if the group has none, two for one place, or one for a turn that is not there.
    """
    return _before_turns(group, "estimate")


def errors_before_turns(group: Group) -> list[np.ndarray]:
    """The standard errors of `values_before_turns`, in the same places. Raises as it does."""
    return _before_turns(group, "standard_error")


def reroll_standard_errors(group: Group) -> list[np.ndarray]:
    """How far off `reroll_advantage` may be, by the errors of the values in `group.turn_values`.

    A turn's credit is the difference of two independent estimates, before it and after it, so the
    squares of their errors add up; after the last turn the reward is known.

    Returns G arrays of shape (K,), NaN where a value is missing. Raises ValueError as
    `values_before_turns` does.
    """
    return [np.hypot(e, np.append(e[1:], 0.0)) for e in errors_before_turns(group)]


def rudder(
    group: Group,
    rewards: Sequence[float] | np.ndarray,
    *,
    predictions: Sequence[Sequence[float] | np.ndarray],
) -> list[np.ndarray]:
    """The reward handed out to turns by how much each changed the predicted reward.

    Args:
        predictions: G arrays of shape (K,): the reward predicted after each turn. Before the first
            one nothing is predicted, 0, so that an attempt's credit sums to its reward. What the
            last prediction misses goes to the last turn (our choice).
    Returns:
        G arrays of shape (K,), NaN where the reward is.
    Raises:
        ValueError: for shapes that do not fit.
    Source: Arjona-Medina et al. 2018 (RUDDER, arXiv:1806.07857).
    """
    expected = [(len(t.turns),) for t in group.trajectories]
    if (shapes := [np.shape(p) for p in predictions]) != expected:
        raise ValueError(
            f"predictions: expected one after each turn, shapes {expected}, got {shapes}"
        )
    before = [np.concatenate([[0.0], np.asarray(p, dtype=float)[:-1]]) for p in predictions]
    return turn_gae(group, rewards, values=before, lam=0.0)


def potential_shaping(
    group: Group,
    rewards: Sequence[float] | np.ndarray,
    *,
    potential: Potential,
    gamma: float = 1.0,
    turn_rewards: TurnRewards | None = None,
    scale: Literal["std", "none"] = "none",
    ddof: int = 1,
    eps: float = 1e-4,
) -> list[np.ndarray]:
    """Each turn's reward plus the change of a potential, gamma * Phi(after) - Phi(before).

    The safe way to pay for progress: the changes cancel out along the attempt (at its end the
    potential is 0), so no policy gains by collecting them, and the best one stays the best. That
    holds for the sum of what follows a turn. This is the turn's own share of it, and as an
    advantage it is right only if the potential is the value; to train on a potential that is
    less, give `shaping_rewards` to `return_to_go`.

    Args:
        potential: (trajectory, k) -> Phi of the state before turn k. It may use only what was
            known then.
        gamma: discount a turn, in [0, 1].
        turn_rewards: what turns earn by themselves; the trajectory's reward joins on the last one.
        scale, ddof, eps: as in `turns.over_spread`.
    Returns:
        G arrays of shape (K,), NaN where the reward is.
    Raises:
        ValueError: for shapes that do not fit, a potential that is no number, or if gamma is
            outside [0, 1].
    Source: Ng et al. 1999, theorem 1.
    """
    phi = [_potentials(t, potential) for t in group.trajectories]
    options = dict(turn_rewards=turn_rewards, scale=scale, ddof=ddof, eps=eps)
    return turn_gae(group, rewards, values=phi, gamma=gamma, lam=0.0, **options)


def shaping_rewards(
    trajectory: Trajectory, *, potential: Potential, gamma: float = 1.0
) -> np.ndarray:
    """What shaping adds to each turn, (K,): gamma * Phi(after) - Phi(before), 0 after the end.

    For the `turn_rewards` of any scheme, with the scheme's gamma. Raises ValueError if gamma is
    outside [0, 1] or a potential is no number.

    >>> by_tests = partial(shaping_rewards, potential=seen_passing)             # doctest: +SKIP
    >>> return_to_go(group, rewards, turn_rewards=by_tests)                     # doctest: +SKIP
    """
    expect_share("gamma", gamma)
    phi = _potentials(trajectory, potential)
    return gamma * np.append(phi[1:], 0.0) - phi


def seen_passing(trajectory: Trajectory, k: int) -> float:
    """A potential: 1.0 if the tests were run before turn k, passed, and nothing has changed since.

    >>> potential_shaping(group, rewards, potential=seen_passing)       # doctest: +SKIP
    """
    for turn in reversed(trajectory.turns[:k]):
        if turn.workspace_hash != trajectory.turns[k - 1].workspace_hash:
            return 0.0
        if turn.tool_call is not None and turn.tool_call.name == "run":
            return float(turn.observation.startswith("ok "))
    return 0.0


def _before_turns(group: Group, field: Literal["estimate", "standard_error"]) -> list[np.ndarray]:
    """A field of the group's turn values, before each turn."""
    if not group.turn_values:
        raise ValueError(
            f"task {group.task_id}: expected turn values, got none; make them with "
            "counterfactuals.reroll(policy, group, task, sandbox), in training with "
            "RLConfig(evidence=Rerolls(4)) or Critic()"
        )
    numbers, seen = [np.full(len(t.turns), np.nan) for t in group.trajectories], set()
    for known in group.turn_values:
        # after a turn = before the next
        i, k = place = known.trajectory_index, known.turn_index + 1
        if not (0 <= i < len(numbers) and 0 <= k <= len(numbers[i])):
            raise ValueError(
                f"turn_values: expected values of the group's own turns, got one for trajectory "
                f"{i} after turn {k - 1}, which it does not have; they may be another group's"
            )
        if place in seen:
            raise ValueError(f"turn_values: two for trajectory {i} after turn {k - 1}; keep one")
        seen.add(place)
        if k < len(numbers[i]):  # after the last turn the reward is known
            numbers[i][k] = getattr(known, field)
    return numbers


def _potentials(trajectory: Trajectory, potential: Potential) -> np.ndarray:
    phi = np.array([potential(trajectory, k) for k in range(len(trajectory.turns))], dtype=float)
    if not np.isfinite(phi).all():
        raise ValueError(
            f"potential: expected a finite number before each turn, got {phi.tolist()}; does the "
            "function `return` one?"
        )
    return phi
