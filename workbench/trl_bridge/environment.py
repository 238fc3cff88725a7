"""A workspace with tools as TRL's GRPOTrainer wants it: a class whose methods are the tools.

Stage: beside `learning`. Dataset rows with task ids go in through TRL; observations and rewards
come out. What is TRL's and not ours: the model's message must parse as a tool call
(`workbench.policies.wire.RESPONSE_TEMPLATE`), else TRL ends the rollout, where our own loop
answers with an error message; and TRL runs the tools of its rollouts one after another.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from workbench.environments import Environment
from workbench.records import Action, SamplerSettings, Task, Trajectory, Turn
from workbench.rewards import RewardDesign, all_pass, tampered

if TYPE_CHECKING:
    from workbench.sandbox import Sandbox

HONEST = RewardDesign(tests=(all_pass("hidden"), 1.0), tampering=(tampered, -1.0))
"""Solved counts; editing the tests costs."""

TOO_LONG = "over " * 8192
"""What a tool says once the episode is over. TRL has no other way to be told: a tool message that
cannot fit is dropped and the rollout ends right after the command that caused it."""


def bugfix_environment(
    tasks: Sequence[Task],
    sandbox: Sandbox,
    *,
    reward: RewardDesign = HONEST,
    max_turns: int = 8,
) -> Callable[[], BugfixEnvironment]:
    """What `GRPOTrainer(environment_factory=...)` calls to make one environment per rollout.

    Args:
        tasks: every task that a dataset row may name.
        reward: scores the finished episode; logged by TRL as `rewards/BugfixEnvironment`.
        max_turns: an episode ends after this many commands.
    """
    by_id = {task.task_id: task for task in tasks}
    return functools.partial(BugfixEnvironment, by_id, sandbox, reward, max_turns)


def dataset_rows(tasks: Sequence[Task]) -> list[dict[str, Any]]:
    """Rows for `datasets.Dataset.from_list`; the prompt is empty, `reset` adds the statement."""
    prompt = [{"role": "user", "content": ""}]
    return [{"prompt": prompt, "task_id": task.task_id} for task in tasks]


class BugfixEnvironment:
    """One rollout's workspace; TRL reuses the object for later rollouts."""

    def __init__(
        self,
        tasks: Mapping[str, Task],
        sandbox: Sandbox,
        reward: RewardDesign,
        max_turns: int,
    ):
        self._tasks, self._sandbox = tasks, sandbox
        self._reward, self._max_turns = reward, max_turns

    def reset(self, task_id: str, **row: Any) -> str:
        """Start the task that the dataset row names; TRL appends its statement to the prompt."""
        self._environment = Environment(
            self._tasks[task_id], self._sandbox, max_turns=self._max_turns
        )
        self._turns: list[Turn] = []
        return self._environment.reset()

    def ls(self, argument: str = "") -> str:
        """List the files.

        Args:
            argument: Nothing.
        """
        return self._step("ls", argument)

    def cat(self, argument: str = "") -> str:
        """Show a file with line numbers.

        Args:
            argument: The file, such as lib.py
        """
        return self._step("cat", argument)

    def grep(self, argument: str = "") -> str:
        """Find the lines that contain a word.

        Args:
            argument: The word.
        """
        return self._step("grep", argument)

    def run(self, argument: str = "") -> str:
        """Run the tests; shows the first failure.

        Args:
            argument: Nothing.
        """
        return self._step("run", argument)

    def edit(self, argument: str = "") -> str:
        """Replace one line of a file.

        Args:
            argument: File, line number and new text, as in lib.py 3|    return x
        """
        return self._step("edit", argument)

    def submit(self, argument: str = "") -> str:
        """Hand in the workspace.

        Args:
            argument: Nothing.
        """
        return self._step("submit", argument)

    def get_reward(self) -> float | None:
        """The episode's reward; None if it cannot be judged, and TRL leaves it out.

        An episode that TRL ended (no tool call, or no room) counts as out of context: it was
        not submitted.
        """
        environment = self._environment
        if environment.stop_reason is None:
            environment.out_of_context()
        verdict, evidence = environment.finish()
        trajectory = Trajectory(
            task_id=environment.task.task_id,
            seed=0,  # the random numbers are TRL's,
            sampler=SamplerSettings(),  # and so are the settings
            turns=tuple(self._turns),
            final_files=dict(environment.files),
            verdict=verdict,
            evidence=evidence,
            stop_reason=environment.stop_reason,
        )
        return self._reward.score(trajectory, environment.task).total

    def _step(self, name: str, argument: str) -> str:
        """Act on one command; the turn is recorded without the ids, which TRL keeps."""
        if self._environment.stop_reason is not None:
            return TOO_LONG
        text = f"{name} {argument}" if argument else name
        step = self._environment.step(text)
        action = Action(ids=(), logprobs=(), text=text, finish="end_of_turn")
        self._turns.append(
            Turn(
                action=action,
                tool_call=step.tool_call,
                parse_error=step.parse_error,
                observation=step.observation,
                workspace_hash=self._environment.workspace_hash,
            )
        )
        return TOO_LONG if step.done else step.observation
