"""Re-rolls: the rest of an episode sampled again, many times, from before each turn.

Stage: counterfactuals. A group goes in; it comes back with a `TurnValue` for every place where a
turn was about to be taken: the mean reward of the re-rolls from there. The recorded turns are
recalled, not sampled: the session reads their ids as they are, once for all re-rolls that share
them, and each re-roll gets a copy of its keys and values. Attempts that begin alike share the
places they have in common, so the value of the start is estimated once a group.
Left out: loop detection, values in the middle of a turn, and spending re-rolls where they matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from workbench.counterfactuals.cost import Cost, CpuMeter
from workbench.environments import Environment, EnvironmentState
from workbench.episodes import (
    LANE_ROWS,
    RolloutStopped,
    agents_of,
    lane_seed,
    play_on,
    tell,
)
from workbench.evaluation import SOLVED
from workbench.grading.collectors import collect_for
from workbench.records import Group, Task, Trajectory, Turn, TurnValue
from workbench.records.arguments import expect_task_of
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
    max_turns: int | None = None,
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
    options = dict(reward=reward, max_turns=max_turns)
    [known], cost = reroll_many(policy, [group], [task], sandbox, num_rerolls, seed, **options)
    return known, cost


def reroll_many(
    policy: Policy,
    groups: Sequence[Group],
    tasks: Sequence[Task],
    sandbox: Sandbox,
    num_rerolls: int = 8,
    seed: int = 0,
    *,
    reward: RewardDesign = SOLVED,
    max_turns: int | None = None,
    stop: Callable[[], bool] | None = None,
) -> tuple[list[Group], Cost]:
    """`reroll` of several groups, each with its task: fuller sessions, the same kind of values.

    Args:
        stop: asked after each place's re-rolls, for instance `threading.Event().is_set`.
    Returns:
        (groups, cost of all of them).
    Raises:
        ValueError: as `reroll` does.
        RolloutStopped: once `stop` returns True.
    """
    for group, task in zip(groups, tasks):
        expect_task_of(group, task)
    if num_rerolls < 2:
        raise ValueError(f"num_rerolls: expected at least 2 for an error, got {num_rerolls}")
    meter, cost = CpuMeter(sandbox), Cost()
    values: list[list[TurnValue]] = [[] for _ in groups]
    options = dict(max_turns=max_turns, agents=agents_of(policy))
    for first, some in _sharing_a_session(groups):
        attempts = [
            _Attempt(g, i, trajectory, tasks[g], Environment(tasks[g], sandbox, **options))
            for g, group in enumerate(some, first)
            for i, trajectory in enumerate(group.trajectories)
        ]
        own_seed = seed if first == 0 else lane_seed(seed, first)
        for place, trajectories in _reroll_all(policy, attempts, num_rerolls, own_seed):
            if stop is not None and stop():
                raise RolloutStopped(f"re-rolls of {len(groups)} groups were under way")
            seen = collect_for(trajectories, [place.task], reward.collectors, sandbox)
            totals = [reward.score(t, place.task).total for t in seen]
            cost += Cost(len(trajectories), sum(map(place.num_new_tokens, trajectories)))
            for attempt in place.attempts:
                values[attempt.group] += _turn_value(attempt.index, place.depth, totals)
    valued = zip(groups, [tuple(sorted(found, key=_place_of)) for found in values])
    known = [replace(group, turn_values=found) for group, found in valued]
    return known, cost + Cost(cpu_s=meter.seconds())


@dataclass(frozen=True)
class Rerolls:
    """For `RLConfig.evidence`: every turn's value by re-rolls, paid by the run's own reward.

    With `credit=reroll_advantage` it is VinePPO. Each place costs `num_rerolls` rests of episodes:
    with four re-rolls of six turns an iteration costs some twenty times the rollouts, so take
    fewer attempts. The metrics count them as `num_extra_rollouts`.
    """

    num_rerolls: int = 4
    """From each place, at least 2."""

    def __call__(
        self,
        policy: Policy,
        groups: Sequence[Group],
        tasks: Sequence[Task],
        sandbox: Sandbox,
        *,
        seed: int,
        reward: RewardDesign = SOLVED,
        max_turns: int | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> tuple[list[Group], Cost]:
        """The groups with `turn_values`, and what they cost; see `reroll_many`."""
        options = dict(reward=reward, max_turns=max_turns, stop=stop)
        return reroll_many(policy, groups, tasks, sandbox, self.num_rerolls, seed, **options)


def _sharing_a_session(groups: Sequence[Group]) -> Iterator[tuple[int, Sequence[Group]]]:
    """(index of the first, some groups): as many as fit a session's rows, at least one."""
    first = 0
    while first < len(groups):
        last, rows = first + 1, len(groups[first].trajectories)
        while last < len(groups) and rows + len(groups[last].trajectories) <= LANE_ROWS:
            rows += len(groups[last].trajectories)
            last += 1
        yield first, groups[first:last]
        first = last


def _turn_value(index: int, depth: int, totals: Sequence[float | None]) -> list[TurnValue]:
    """The value before turn `depth`, or none if hardly a re-roll could be judged."""
    judged = np.array([total for total in totals if total is not None])
    if len(judged) < 2:
        return []
    error = float(judged.std(ddof=1) / len(judged) ** 0.5)
    return [TurnValue(index, depth - 1, float(judged.mean()), error, len(judged), "reroll")]


def _place_of(value: TurnValue) -> tuple[int, int]:
    return value.trajectory_index, value.turn_index


@dataclass(frozen=True)
class _Attempt:
    """One attempt of one of the groups, with the environment in which it is played again."""

    group: int
    index: int
    trajectory: Trajectory
    task: Task
    environment: Environment


@dataclass(frozen=True)
class _Place:
    """Before turn `depth`; all `attempts`, of one task, have said the same up to here."""

    attempts: tuple[_Attempt, ...]
    rows: tuple[int, ...]
    depth: int
    state: EnvironmentState

    @property
    def task(self) -> Task:
        return self.attempts[0].task

    @property
    def turns(self) -> tuple[Turn, ...]:
        return self.attempts[0].trajectory.turns[: self.depth]

    def num_new_tokens(self, rerolled: Trajectory) -> int:
        return sum(len(turn.action.ids) for turn in rerolled.turns[self.depth :])


def _reroll_all(
    policy: Policy, attempts: Sequence[_Attempt], num_rerolls: int, seed: int
) -> Iterator[tuple[_Place, list[Trajectory]]]:
    """Each place with its re-rolls, level by level: all first turns, all second turns, ..."""
    sampler = attempts[0].trajectory.sampler
    stream = int(np.random.SeedSequence((seed, _STREAM)).generate_state(1)[0])
    session = policy.open(len(attempts), seed=stream, sampler=sampler)
    says = dict(seed=seed, sampler=sampler, version=policy.version)
    try:
        for row, attempt in enumerate(attempts):
            tell(session, row, attempt.environment, attempt.environment.reset())
        for depth in range(max(len(a.trajectory.turns) for a in attempts)):
            live = [row for row, a in enumerate(attempts) if len(a.trajectory.turns) > depth]
            places = _places(attempts, live, depth)
            per_session = max(1, LANE_ROWS // num_rerolls)
            for first in range(0, len(places), per_session):
                some = places[first : first + per_session]
                yield from zip(some, _play_rests(session, some, num_rerolls, says))
            _recall_turn(session, attempts, live, depth)
    finally:
        session.close()


def _places(attempts: Sequence[_Attempt], live: Sequence[int], depth: int) -> list[_Place]:
    """The places before turn `depth`; rows of a group that have said the same so far share one."""
    alike: dict[tuple, list[int]] = {}
    for row in live:
        said = tuple(turn.action.ids for turn in attempts[row].trajectory.turns[:depth])
        alike.setdefault((attempts[row].group, said), []).append(row)
    return [
        _Place(
            tuple(attempts[row] for row in rows),
            tuple(rows),
            depth,
            attempts[rows[0]].environment.snapshot(),
        )
        for rows in alike.values()
    ]


def _play_rests(
    session: Session, places: Sequence[_Place], num_rerolls: int, says: dict
) -> list[list[Trajectory]]:
    """`num_rerolls` trajectories from each place, all in one session."""
    starts = [place for place in places for _ in range(num_rerolls)]
    environments = [_stand_in(place) for place in starts]
    forked = session.take([place.rows[0] for place in starts])
    try:
        rests = play_on(forked, environments, [place.turns for place in starts], **says)
    finally:
        forked.close()
    return [rests[i : i + num_rerolls] for i in range(0, len(rests), num_rerolls)]


def _stand_in(place: _Place) -> Environment:
    """An environment of its own that stands where the place is."""
    played = place.attempts[0].environment
    options = dict(max_turns=played.max_turns, agents=played.agents)
    environment = Environment(place.task, played.sandbox, **options)
    environment.restore(place.state)
    return environment


def _recall_turn(
    session: Session, attempts: Sequence[_Attempt], live: Sequence[int], depth: int
) -> None:
    """Take turn `depth` as it was recorded, in those episodes that went on after it."""
    going_on = [row for row in live if len(attempts[row].trajectory.turns) > depth + 1]
    turns = {row: attempts[row].trajectory.turns[depth] for row in going_on}
    session.recall(going_on, [turns[row].action for row in going_on])
    for row in going_on:
        environment = attempts[row].environment
        answer = answer_again(
            environment, turns[row], f"trajectory {attempts[row].index}, turn {depth}"
        )
        tell(session, row, environment, answer)


def answer_again(environment: Environment, turn: Turn, place: str) -> str:
    """What the environment answers to a turn that is not its episode's last: what is recorded.

    Raises ValueError, which names `place`, if it answers otherwise or the episode ends there.
    """
    said = environment.step(turn.action.text, too_long=turn.action.finish == "length")
    if said.done or said.observation != turn.observation:
        raise ValueError(
            f"{place}: expected the recorded answer {turn.observation!r:.80}, got "
            f"{said.observation!r:.80}{f' and the end ({said.stop_reason})' if said.done else ''}; "
            "give the task and the max_turns it was sampled with"
        )
    return said.observation
