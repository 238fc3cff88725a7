"""A world: everything a few commands can lead to, played once for real and then remembered.

Stage: counterfactuals. A task, a sandbox and the commands of a menu in; a `World` out, in which an
episode costs microseconds and the true value of a policy is arithmetic. Every command was played by
the real environment in every state it can reach; a state is what it depends on and what a policy
with a memory of one observation knows: the workspace and the last answer. The records of an episode
are what `rollout` would have made, but for the sampled ids.
Left out: turns as part of a state (the environment answers the same at any turn), loop detection.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workbench.environments import Environment
from workbench.evaluation import SOLVED
from workbench.policies.scripted import said
from workbench.records import Evidence, SamplerSettings, Task, Trajectory, Turn, Verdict

if TYPE_CHECKING:
    from workbench.sandbox import Sandbox

MAX_STATES = 1000
"""More states than this are no world to count out."""
ENDS = -1
"""In the place of a next state: the attempt was handed in."""


@dataclass(frozen=True)
class Episode:
    """One attempt in a world; both have one entry a turn."""

    states: tuple[int, ...]
    """The state before each turn."""
    moves: tuple[int, ...]
    """The command of each turn."""
    reward: float
    """1 = handed in and solved, else 0."""


@dataclass(frozen=True)
class World:
    """S states and what each of M commands leads to; state 0 is the start."""

    task_id: str
    """The task."""
    heard: tuple[str, ...]
    """(S,) the last answer in each state."""
    next_state: np.ndarray
    """(S, M) int: where a command leads, or ENDS."""
    reward: np.ndarray
    """(S, M) what the command earns: 1 where it hands in a solution."""
    turns: tuple[tuple[Turn, ...], ...]
    """(S, M) the command's record."""

    def values(self, chances: np.ndarray, max_turns: int) -> np.ndarray:
        """(max_turns + 1, S) expected reward with so many turns left: the policy's own value is
        [max_turns, 0].

        chances: (S, M) probability of each command in each state.
        """
        found = np.zeros((max_turns + 1, len(self.heard)))
        goes_on = self.next_state != ENDS
        for left in range(1, max_turns + 1):
            after = np.where(goes_on, found[left - 1][self.next_state], 0.0)
            found[left] = (chances * (self.reward + after)).sum(axis=1)
        return found

    def play(
        self, chances: np.ndarray, max_turns: int, rng: np.random.Generator, n: int, start: int = 0
    ) -> list[Episode]:
        """`n` attempts from state `start`, with `max_turns` turns left."""
        cumulated = np.cumsum(chances, axis=1)
        return [self._play(cumulated, row, start) for row in rng.random((n, max_turns))]

    def trajectory(self, episode: Episode) -> Trajectory:
        """The record of an attempt, without verdict and evidence: for credit schemes."""
        handed_in = self.next_state[episode.states[-1], episode.moves[-1]] == ENDS
        return Trajectory(
            task_id=self.task_id,
            seed=0,
            sampler=SamplerSettings(),
            turns=tuple(self.turns[s][m] for s, m in zip(episode.states, episode.moves)),
            final_files={},
            verdict=Verdict("call", "ok", ()),
            evidence=Evidence(),
            stop_reason="submitted" if handed_in else "max_turns",
        )

    def _play(self, cumulated: np.ndarray, numbers: np.ndarray, state: int) -> Episode:
        states, moves, reward = [], [], 0.0
        for number in numbers:
            move = min(int(cumulated[state].searchsorted(number, "right")), cumulated.shape[1] - 1)
            states.append(state)
            moves.append(move)
            reward = float(self.reward[state, move])
            state = int(self.next_state[state, move])
            if state == ENDS:
                break
        return Episode(tuple(states), tuple(moves), reward)


def explore(task: Task, sandbox: Sandbox, commands: Sequence[str]) -> World:
    """The world of these commands, played to its edges in the real environment.

    Raises ValueError if there are more than MAX_STATES states, or a verdict is our fault.
    """
    environment = Environment(task, sandbox, max_turns=10**9)
    heard = [environment.reset()]
    snapshots, found = [environment.snapshot()], {(environment.workspace_hash, heard[0]): 0}
    next_state, reward, turns = [], [], []
    while len(turns) < len(snapshots):
        here = len(turns)
        row = []
        for command in commands:
            environment.restore(snapshots[here])
            turn = _take(environment, command, heard[here])
            row.append(turn)
            state, earned = ENDS, 0.0
            if environment.stop_reason is not None:
                earned = _earned(environment)
            else:
                state = found.setdefault((turn.workspace_hash, turn.observation), len(snapshots))
                if state == len(snapshots):
                    snapshots.append(environment.snapshot())
                    heard.append(turn.observation)
            next_state.append(state)
            reward.append(earned)
        turns.append(tuple(row))
        if len(snapshots) > MAX_STATES:
            raise ValueError(f"commands: expected at most {MAX_STATES} states, got more")
    shape = (len(turns), len(commands))
    return World(
        task_id=task.task_id,
        heard=tuple(heard),
        next_state=np.reshape(next_state, shape),
        reward=np.reshape(reward, shape),
        turns=tuple(turns),
    )


def _take(environment: Environment, command: str, heard: str) -> Turn:
    step = environment.step(command)
    return Turn(
        action=said(command, heard, 0),
        tool_call=step.tool_call,
        parse_error=step.parse_error,
        observation=step.observation,
        workspace_hash=environment.workspace_hash,
        seconds=0.0,
    )


def _earned(environment: Environment) -> float:
    verdict, evidence = environment.finish()
    end = Trajectory(
        task_id=environment.task.task_id,
        seed=0,
        sampler=SamplerSettings(),
        turns=(),
        final_files=dict(environment.files),
        verdict=verdict,
        evidence=evidence,
        stop_reason=environment.stop_reason,
    )
    total = SOLVED.score(end, environment.task).total
    if total is None:
        raise ValueError(f"{environment.task.task_id}: expected a verdict, got {verdict.status!r}")
    return total
