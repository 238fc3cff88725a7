"""The environment as a `gymnasium.Env`: texts in, texts out, the five-tuple.

Stage: adapters. Tasks, a sandbox and a design go in; an object that gymnasium's loops, wrappers and
`SyncVectorEnv` play comes out. Left out: rendering; `gymnasium.make`, as tasks and a sandbox are no
settings one could register; several processes, which an open sandbox cannot follow.
"""

from __future__ import annotations

import math
import string
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from workbench.adapters.attempt import Attempt
from workbench.adapters.needed import needed
from workbench.environments import Environment, Step
from workbench.grading.collectors import collect_for
from workbench.records import Task, Trajectory
from workbench.rewards import RewardDesign

if TYPE_CHECKING:
    import gymnasium

    from workbench.sandbox import Sandbox

MAX_MESSAGE = 4096
"""Longest message of the policy that the action space holds."""
REPLACEMENT = "\ufffd"
"""Stands in observations for a character that is not in the space."""
_NOTE = 32
"""Room for "... N more" behind an observation that was cut."""


def as_gymnasium(
    tasks: Iterable[Task], sandbox: Sandbox, design: RewardDesign, max_turns: int | None = None
) -> gymnasium.Env:
    """An environment that draws a task at each reset and pays the design's total at the end.

    Actions are the policy's messages: commands, or of a task of one turn the answer. `reset` takes
    options={"task_id": ...} to choose the task. The reward is 0.0 before the last turn; there,
    `info` holds the verdict's status and each component. An episode that cannot be judged is paid
    nan, and info["unscorable"] is True: drop it.

    terminated: the policy handed in. truncated: turns ran out, or the sandbox failed.
    Raises ImportError without gymnasium, ValueError without tasks.
    """
    gymnasium = needed("gymnasium")
    tasks = list(tasks)
    if not tasks:
        raise ValueError("tasks: expected at least one, got none")
    kind = type("WorkbenchEnv", (_Texts, gymnasium.Env), {"metadata": {"render_modes": []}})
    env = kind(tasks, sandbox, design, max_turns)
    text, characters = gymnasium.spaces.Text, _characters(tasks)
    longest = max(max(len(t.statement), _longest_answer(t, sandbox)) for t in tasks)
    env.action_space = text(MAX_MESSAGE, min_length=0, charset=characters)
    env.observation_space = text(longest, min_length=0, charset=characters)
    return env


class _Texts:
    """What the environment does; `as_gymnasium` makes it a `gymnasium.Env`."""

    def __init__(
        self, tasks: Sequence[Task], sandbox: Sandbox, design: RewardDesign, max_turns: int | None
    ) -> None:
        self._tasks = {task.task_id: task for task in tasks}
        self._sandbox, self._design, self._max_turns = sandbox, design, max_turns
        self._attempt: Attempt | None = None

    @property
    def trajectory(self) -> Trajectory:
        """The record of the episode, graded when first asked for."""
        return self._playing().trajectory

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """(the statement, {"task_id"}) of the task that `options` names, or of one drawn."""
        super().reset(seed=seed)
        ids = list(self._tasks)
        task_id = (options or {}).get("task_id") or ids[self.np_random.integers(len(ids))]
        if task_id not in self._tasks:
            raise ValueError(f"options: no task {task_id!r} among the {len(ids)} given")
        self._attempt = Attempt(self._tasks[task_id], self._sandbox, max_turns=self._max_turns)
        return self._shown(self._attempt.statement), {"task_id": task_id}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """(observation, reward, terminated, truncated, info) after one message of the policy.

        Raises ValueError before the first reset, or if the episode is over.
        """
        attempt = self._playing()
        step = attempt.say(action)
        info = {
            "task_id": attempt.task.task_id,
            "parse_error": step.parse_error,
            "stop_reason": step.stop_reason,
        }
        reward = self._end(attempt, info) if step.done else 0.0
        return self._shown(step.observation), reward, *_ended(step), info

    def _end(self, attempt: Attempt, info: dict[str, Any]) -> float:
        """The episode's reward; `info` gets what it was made of."""
        task, collectors = attempt.task, self._design.collectors
        [known] = collect_for([attempt.trajectory], [task], collectors, self._sandbox)
        breakdown = self._design.score(known, task)
        info["verdict"] = attempt.trajectory.verdict.status
        info["components"] = {part.name: part.raw for part in breakdown.parts}
        info["unscorable"] = breakdown.total is None
        return math.nan if breakdown.total is None else breakdown.total

    def _playing(self) -> Attempt:
        if self._attempt is None:
            raise ValueError("no episode yet; call reset() first")
        return self._attempt

    def _shown(self, text: str) -> str:
        known = self.observation_space.character_set
        return "".join(c if c in known else REPLACEMENT for c in text)


def _ended(step: Step) -> tuple[bool, bool]:
    """(terminated, truncated)"""
    handed_in = step.stop_reason == "submitted"
    return handed_in, step.done and not handed_in


def _characters(tasks: Sequence[Task]) -> str:
    """Printable ASCII, and what else the tasks are written in."""
    texts = [t.statement + t.beginning + "".join(t.files.values()) for t in tasks]
    return "".join(sorted({*string.printable, REPLACEMENT, *"".join(texts)}))


def _longest_answer(task: Task, sandbox: Sandbox) -> int:
    """Longest observation after the first: where it is cut, and a note of how much was."""
    return Environment(task, sandbox).observation_chars + _NOTE
