"""Agents replaced: what would an attempt have been worth with a stand-in for one of them?

Stage: counterfactuals. A group that a team sampled and a stand-in for each agent in; the group with
`agents_values` out, the worth of every choice of agents that play themselves. An agent that plays
itself says what it said as long as it hears what it heard, and is sampled anew from then on: the
locator's messages stand, and an editor that is handed another place answers to that place. To play
recorded commands again whatever they meet (`replay_subsets`) would pay a locator nothing, because
looking changes no file. Left out: more than a handful of agents (each doubles the plays).
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from workbench.counterfactuals.cost import Cost, CpuMeter
from workbench.environments import Environment
from workbench.episodes import rollout
from workbench.evaluation import SOLVED
from workbench.records import Action, AgentsValue, Group, SamplerSettings, Task, Trajectory
from workbench.records.arguments import expect_task_of
from workbench.rewards import RewardDesign

if TYPE_CHECKING:
    from workbench.policies import Policy, Session, Team
    from workbench.sandbox import Sandbox


def play_agents(
    team: Team,
    stand_ins: Mapping[str, Policy],
    group: Group,
    task: Task,
    sandbox: Sandbox,
    num_plays: int = 4,
    seed: int = 0,
    *,
    reward: RewardDesign = SOLVED,
    max_turns: int | None = None,
) -> tuple[Group, Cost]:
    """The group with `agents_values`, for `credit.agent_shapley` and `credit.difference_rewards`.

    Args:
        team: the one that sampled the group.
        stand_ins: agent's name -> the policy that plays when the agent does not. It says what
            credit is measured against: one that does nothing, or the agent as it was last week.
        num_plays: episodes for each choice of agents but the attempt itself, whose reward is known.
        seed: same seed, same numbers.
        reward: what an episode is worth.
        max_turns: of the episodes, as when the group was sampled.
    Returns:
        (group, cost). An attempt of which one choice could not be judged has no values.
    Raises:
        ValueError: unless there is a stand-in for every agent, num_plays >= 1, and the task is the
            group's.
    """
    expect_task_of(group, task)
    names = [agent.name for agent in team.agents]
    if set(stand_ins) != set(names) or num_plays < 1:
        raise ValueError(
            f"expected a stand-in for each of {names} and num_plays of 1 or more, got "
            f"{sorted(stand_ins)} and {num_plays}"
        )
    opening = Environment(task, sandbox, agents=team.agents).reset()
    seeds = np.random.SeedSequence(seed)
    meter, cost, values = CpuMeter(sandbox), Cost(), []
    for i, attempt in enumerate(group.trajectories):
        worth = {tuple(sorted(names)): reward.score(attempt, task).total}
        options = dict(n=num_plays, sampler=attempt.sampler, max_turns=max_turns)
        for present in _choices(names):
            playing = _mixed_team(team, stand_ins, present, attempt, opening)
            own_seed = int(seeds.spawn(1)[0].generate_state(1)[0])
            played = rollout(playing, task, sandbox, seed=own_seed, **options).trajectories
            totals = [reward.score(t, task).total for t in played]
            judged = [total for total in totals if total is not None]
            worth[present] = float(np.mean(judged)) if judged else None
            cost += Cost(num_plays, sum(_num_sampled(t, attempt) for t in played))
        if None not in worth.values():
            values += [AgentsValue(i, present, value) for present, value in worth.items()]
    return replace(group, agents_values=tuple(values)), cost + Cost(cpu_s=meter.seconds())


def _mixed_team(
    team: Team,
    stand_ins: Mapping[str, Policy],
    present: Sequence[str],
    attempt: Trajectory,
    opening: str,
) -> Team:
    """The agents in `present` as they were in the attempt, and stand-ins for the others."""
    policies = dict(stand_ins)
    for name in present:
        policies[name] = _Recalling(team.policies[name], *_part(attempt, name, opening))
    return team.replaced(policies)


def _choices(names: Sequence[str]) -> list[tuple[str, ...]]:
    """Every choice of agents but all of them, names sorted."""
    names = sorted(names)
    return [c for size in range(len(names)) for c in itertools.combinations(names, size)]


def _part(attempt: Trajectory, name: str, opening: str) -> tuple[list[str], list[Action]]:
    """What an agent heard before each of its messages, and the messages."""
    heard = [opening, *(turn.observation for turn in attempt.turns)]
    own = [k for k, turn in enumerate(attempt.turns) if turn.agent == name]
    return [heard[k] for k in own], [attempt.turns[k].action for k in own]


def _num_sampled(played: Trajectory, attempt: Trajectory) -> int:
    """Tokens that were sampled anew, not recalled."""
    recorded = {id(turn.action) for turn in attempt.turns}
    return sum(len(t.action.ids) for t in played.turns if id(t.action) not in recorded)


class _Recalling:
    """A policy that says what it said while it hears what it heard."""

    def __init__(self, policy: Policy, heard: Sequence[str], said: Sequence[Action]):
        self.policy, self.heard, self.said = policy, heard, said
        self.version = policy.version

    def open(
        self, n: int, *, seed: int = 0, sampler: SamplerSettings = SamplerSettings()
    ) -> _RecallingSession:
        return _RecallingSession(self, self.policy.open(n, seed=seed, sampler=sampler), n)


class _RecallingSession:
    """Session of a _Recalling policy: as much of the Session protocol as a rollout needs."""

    def __init__(self, policy: _Recalling, session: Session, n: int):
        self._policy, self._session = policy, session
        self._num_heard, self._as_recorded = [0] * n, [True] * n

    def observe(self, i: int, text: str) -> None:
        k = self._num_heard[i]
        self._num_heard[i] += 1
        self._as_recorded[i] &= self._policy.heard[k : k + 1] == [text]
        self._session.observe(i, text)

    def act(self, live: Sequence[int]) -> list[Action]:
        known = {i: self._policy.said[self._num_heard[i] - 1] for i in live if self._as_recorded[i]}
        known = {i: action for i, action in known.items() if action.ids}  # no room: it finds out
        self._session.recall(list(known), list(known.values()))
        rest = [i for i in live if i not in known]
        actions = known | dict(zip(rest, self._session.act(rest) if rest else []))
        return [actions[i] for i in live]

    def close(self) -> None:
        self._session.close()
