"""Tasks as TRL's trainers take them: dataset rows, and a class whose methods are the tools.

Stage: adapters. Tasks go in; rows, observations and the finished episodes come out. What is TRL's
and not ours: the model's message must parse as a tool call
(`workbench.policies.wire.RESPONSE_TEMPLATE`), else TRL ends the rollout, where our own loop
answers with an error message; and TRL runs the tools of its rollouts one after another.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from workbench.adapters.attempt import Attempt
from workbench.adapters.opening import Opening
from workbench.environments import default_turns
from workbench.grading.collectors import collect_for
from workbench.records import Task, Trajectory
from workbench.rewards import RewardDesign

if TYPE_CHECKING:
    import datasets

    from workbench.sandbox import Sandbox

TOO_LONG = "over " * 8192
"""What a tool says once the episode is over. TRL has no other way to be told: a tool message that
cannot fit is dropped and the rollout ends right after the command that caused it."""


def as_dataset(
    tasks: Iterable[Task],
    conversational: bool = False,
    prompt: Callable[[Task], str] | None = None,
) -> datasets.Dataset:
    """A dataset with the columns `prompt` and `task_id`, a row a task.

    Args:
        conversational: True = the prompt is one message of the user, as `environment_factory` and
            chat models want it; False = it is text, which the model continues.
        prompt: what the policy is told; None = the statement, as in our own environment. A chat
            model that must see the line its answer continues: `lambda task: f"{task.statement}
            \\\\n{task.beginning}"`.
    """
    import datasets  # here: a second that only TRL's users need to wait

    told = prompt or (lambda task: task.statement)
    rows = [
        {"prompt": _message(told(t)) if conversational else told(t), "task_id": t.task_id}
        for t in tasks
    ]
    return datasets.Dataset.from_list(rows)


def environment_factory(
    tasks: Iterable[Task],
    sandbox: Sandbox | Callable[[], Sandbox],
    design: RewardDesign | None = None,
    max_turns: int | None = None,
) -> Callable[[], WorkspaceEnvironment]:
    """What `GRPOTrainer(environment_factory=...)` calls to make one environment per rollout.

    Args:
        tasks: every task that a dataset row may name in its column `task_id`.
        sandbox: an open one, or, for a trainer that rolls out in another process, a function that
            opens one there; all environments share it.
        design: scores the finished episode, logged by TRL as `rewards/RewardedEnvironment`. None =
            the environment has no reward of its own: give `reward_funcs=as_reward(...)` or
            `as_rewards(...)`, which score its episode and log each component.
        max_turns: an episode ends after this many commands; None = as many as suit the tasks.
    """
    by_id = {task.task_id: task for task in tasks}
    if max_turns is None:
        max_turns = default_turns(*by_id.values())
    if design is None:
        return functools.partial(WorkspaceEnvironment, by_id, Opening(sandbox), max_turns)
    return functools.partial(RewardedEnvironment, by_id, Opening(sandbox), max_turns, design)


class WorkspaceEnvironment:
    """One rollout's workspace; TRL reuses the object for later rollouts.

    TRL takes every public method but `reset` and `get_reward` for a tool; what is none is a
    property.
    """

    def __init__(self, tasks: Mapping[str, Task], opening: Opening, max_turns: int):
        self._tasks, self._opening, self._max_turns = tasks, opening, max_turns

    @property
    def max_turns(self) -> int:
        """Commands after which an episode ends."""
        return self._max_turns

    @property
    def attempt(self) -> Attempt:
        """The episode now, or the last one."""
        return self._attempt

    @property
    def trajectory(self) -> Trajectory:
        """The finished episode, graded when first asked for."""
        return self._attempt.trajectory

    def reset(self, task_id: str, prompt: Any = None, **row: Any) -> str | None:
        """Start the task that the dataset row names. TRL appends what is returned to the prompt:
        the statement, or nothing if the prompt is a message already."""
        if task_id not in self._tasks:
            raise ValueError(
                f"no task {task_id!r} among the {len(self._tasks)} given; give "
                "environment_factory the tasks the dataset was made from"
            )
        task, sandbox = self._tasks[task_id], self._opening.sandbox
        self._attempt = Attempt(task, sandbox, max_turns=self._max_turns)
        told = prompt and prompt[-1]["content"]
        return None if told else self._attempt.statement

    def ls(self, argument: str = "") -> str:
        """List the files.

        Args:
            argument: Nothing.
        """
        return self._say("ls", argument)

    def cat(self, argument: str = "") -> str:
        """Show a file with line numbers.

        Args:
            argument: The file, such as lib.py
        """
        return self._say("cat", argument)

    def grep(self, argument: str = "") -> str:
        """Find the lines that contain a word.

        Args:
            argument: The word.
        """
        return self._say("grep", argument)

    def run(self, argument: str = "") -> str:
        """Run the tests; shows the first failure.

        Args:
            argument: Nothing.
        """
        return self._say("run", argument)

    def edit(self, argument: str = "") -> str:
        """Replace one line of a file.

        Args:
            argument: File, line number and new text, as in lib.py 3|    return x
        """
        return self._say("edit", argument)

    def submit(self, argument: str = "") -> str:
        """Hand in the workspace.

        Args:
            argument: Nothing.
        """
        return self._say("submit", argument)

    def _say(self, name: str, argument: str) -> str:
        if self._attempt.over:
            return TOO_LONG
        step = self._attempt.say(f"{name} {argument}" if argument else name)
        return TOO_LONG if step.done else step.observation


class RewardedEnvironment(WorkspaceEnvironment):
    """A workspace that scores its own episode."""

    def __init__(
        self, tasks: Mapping[str, Task], opening: Opening, max_turns: int, design: RewardDesign
    ):
        super().__init__(tasks, opening, max_turns)
        self._design = design

    def get_reward(self) -> float | None:
        """The episode's reward; None if it cannot be judged, and TRL leaves it out."""
        task, sandbox = self._attempt.task, self._opening.sandbox
        [known] = collect_for([self.trajectory], [task], self._design.collectors, sandbox)
        return self._design.score(known, task).total


def _message(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]
