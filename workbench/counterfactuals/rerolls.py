"""Re-rolls: the rest of an episode sampled again, many times, from before each turn.

Stage: counterfactuals. A group goes in; it comes back with a `TurnValue` for every place where a
turn was about to be taken: the mean reward of the re-rolls from there. The recorded turns are
recalled, not sampled: the session reads their ids as they are, once for all re-rolls that share
them, and each re-roll gets a copy of its keys and values. Attempts that begin alike share the
places they have in common, so the value of the start is estimated once a group.
Left out: loop detection, values in the middle of a turn, and spending re-rolls where they matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from workbench.counterfactuals.cost import Cost, CpuMeter
from workbench.environments import Environment, EnvironmentState
from workbench.episodes import LANE_ROWS, agents_of, play_on, tell
from workbench.evaluation import SOLVED
from workbench.records import Group, Task, Trajectory, TurnValue
from workbench.rewards import RewardDesign

if TYPE_CHECKING:
    from workbench.policies import Policy, Session
    from workbench.sandbox import Sandbox

_STREAM = 0x5EED
"""Keeps the random numbers of re-rolls apart from those of the rollouts with the same seed."""


def reroll(
    policy: Policy,
    group: Group,
    task: Task,
    sandbox: Sandbox,
    num_rerolls: int = 8,
    seed: int = 0,
    *,
    reward: RewardDesign = SOLVED,
    max_turns: int = 8,
) -> tuple[Group, Cost]:
    """The group with `turn_values`, and what they cost.

    Args:
        policy: whose values they are; usually the one that sampled the group.
        num_rerolls: from each place; the standard error falls with its square root.
        seed: same seed, same numbers.
        reward: what an episode is worth.
        max_turns: of the episodes, as when the group was sampled.
    Returns:
        (group, cost). A place whose re-rolls could hardly be judged (fewer than two) has no value.
    Raises:
        ValueError: if num_rerolls < 2, or the group does not replay: another task's, or sampled
            by a policy with other tokens.
    Source: Kazemnejad et al. 2024 (VinePPO, arXiv:2410.01679).
    """
    if num_rerolls < 2:
        raise ValueError(f"num_rerolls: expected at least 2 for an error, got {num_rerolls}")
    meter, values, cost = CpuMeter(sandbox), [], Cost()
    for place, trajectories in _reroll_all(
        policy, group, task, sandbox, num_rerolls, seed, max_turns
    ):
        totals = [reward.score(t, task).total for t in trajectories]
        judged = np.array([total for total in totals if total is not None])
        cost += Cost(len(trajectories), sum(map(place.num_new_tokens, trajectories)))
        if len(judged) >= 2:
            error = float(judged.std(ddof=1) / len(judged) ** 0.5)
            values += [
                TurnValue(i, place.depth - 1, float(judged.mean()), error, len(judged), "reroll")
                for i in place.rows
            ]
    order = sorted(values, key=lambda value: (value.trajectory_index, value.turn_index))
    return replace(group, turn_values=tuple(order)), cost + Cost(cpu_s=meter.seconds())


@dataclass(frozen=True)
class _Place:
    """Before turn `depth`; all `rows` have said the same up to here."""

    rows: tuple[int, ...]
    depth: int
    trajectory: Trajectory
    state: EnvironmentState

    def num_new_tokens(self, rerolled: Trajectory) -> int:
        return sum(len(turn.action.ids) for turn in rerolled.turns[self.depth :])


def _reroll_all(
    policy: Policy,
    group: Group,
    task: Task,
    sandbox: Sandbox,
    num_rerolls: int,
    seed: int,
    max_turns: int,
) -> Iterator[tuple[_Place, list[Trajectory]]]:
    """Each place with its re-rolls, level by level: all first turns, all second turns, ..."""
    trajectories = group.trajectories
    sampler = trajectories[0].sampler
    options = dict(max_turns=max_turns, agents=agents_of(policy))
    environments = [Environment(task, sandbox, **options) for _ in trajectories]
    stream = int(np.random.SeedSequence((seed, _STREAM)).generate_state(1)[0])
    session = policy.open(len(trajectories), seed=stream, sampler=sampler)
    says = dict(seed=seed, sampler=sampler, version=policy.version)
    try:
        for i, environment in enumerate(environments):
            tell(session, i, environment, environment.reset())
        for depth in range(max(len(t.turns) for t in trajectories)):
            live = [i for i, t in enumerate(trajectories) if len(t.turns) > depth]
            places = _places(trajectories, environments, live, depth)
            per_session = max(1, LANE_ROWS // num_rerolls)
            for first in range(0, len(places), per_session):
                some = places[first : first + per_session]
                rerolled = _play_rests(session, some, task, sandbox, num_rerolls, options, says)
                yield from zip(some, rerolled)
            _recall_turn(session, trajectories, environments, live, depth)
    finally:
        session.close()


def _places(
    trajectories: Sequence[Trajectory],
    environments: Sequence[Environment],
    live: Sequence[int],
    depth: int,
) -> list[_Place]:
    """The places before turn `depth`; rows that have said the same so far share one."""
    alike: dict[tuple, list[int]] = {}
    for i in live:
        said = tuple(turn.action.ids for turn in trajectories[i].turns[:depth])
        alike.setdefault(said, []).append(i)
    return [
        _Place(tuple(rows), depth, trajectories[rows[0]], environments[rows[0]].snapshot())
        for rows in alike.values()
    ]


def _play_rests(
    session: Session,
    places: Sequence[_Place],
    task: Task,
    sandbox: Sandbox,
    num_rerolls: int,
    options: dict,
    says: dict,
) -> list[list[Trajectory]]:
    """`num_rerolls` trajectories from each place, all in one session; `options` of environments."""
    starts = [place for place in places for _ in range(num_rerolls)]
    environments = [Environment(task, sandbox, **options) for _ in starts]
    for environment, place in zip(environments, starts):
        environment.restore(place.state)
    forked = session.take([place.rows[0] for place in starts])
    try:
        turns = [place.trajectory.turns[: place.depth] for place in starts]
        rests = play_on(forked, environments, turns, **says)
    finally:
        forked.close()
    return [rests[i : i + num_rerolls] for i in range(0, len(rests), num_rerolls)]


def _recall_turn(
    session: Session,
    trajectories: Sequence[Trajectory],
    environments: Sequence[Environment],
    live: Sequence[int],
    depth: int,
) -> None:
    """Take turn `depth` as it was recorded, in those episodes that went on after it."""
    going_on = [i for i in live if len(trajectories[i].turns) > depth + 1]
    session.recall(going_on, [trajectories[i].turns[depth].action for i in going_on])
    for i in going_on:
        turn = trajectories[i].turns[depth]
        said = environments[i].step(turn.action.text, too_long=turn.action.finish == "length")
        if said.done or said.observation != turn.observation:
            raise ValueError(
                f"trajectory {i}, turn {depth}: expected the recorded answer "
                f"{turn.observation!r:.80}, got {said.observation!r:.80}"
                f"{f' and the end ({said.stop_reason})' if said.done else ''}; give the task and "
                "the max_turns the group was sampled with"
            )
        tell(session, i, environments[i], said.observation)
