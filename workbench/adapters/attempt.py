"""One attempt at a task that somebody else's loop plays: turns recorded, graded when it is over.

Stage: adapters. A task and a sandbox go in; whoever drives the model says one message at a time;
a `Trajectory` comes out that any reward design can score. Left out: log-probabilities, which the
other library keeps for itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.adapters.answers import Message, commands_of, text_of
from workbench.environments import Environment, Step
from workbench.records import Action, SamplerSettings, Task, Trajectory, Turn

if TYPE_CHECKING:
    from workbench.sandbox import Sandbox


class Attempt:
    """An environment and the turns played in it so far."""

    def __init__(self, task: Task, sandbox: Sandbox, *, max_turns: int | None = None) -> None:
        """An attempt at its start; `max_turns` as for `Environment`."""
        self.environment = Environment(task, sandbox, max_turns=max_turns)
        self.statement = self.environment.reset()
        self.turns: list[Turn] = []
        self._trajectory: Trajectory | None = None

    @property
    def task(self) -> Task:
        """What is attempted."""
        return self.environment.task

    @property
    def over(self) -> bool:
        """Whether nothing more can be said."""
        return self.environment.stop_reason is not None

    def say(self, text: str, ids: Sequence[int] = ()) -> Step:
        """Act on one message of the policy.

        ids: the message's tokens, if the caller knows them.
        """
        environment = self.environment
        step = environment.step(text)
        turn = Turn(
            action=Action(ids=tuple(ids), logprobs=(), text=text, finish="end_of_turn"),
            tool_call=step.tool_call,
            parse_error=step.parse_error,
            observation=step.observation,
            workspace_hash=environment.workspace_hash,
        )
        self.turns.append(turn)
        return step

    @property
    def trajectory(self) -> Trajectory:
        """The finished record; the code is run when this is first asked for, and once.

        An episode that the other library ended counts as out of context: it was not submitted.
        """
        if self._trajectory is None:
            self._trajectory = self._finish()
        return self._trajectory

    def _finish(self) -> Trajectory:
        environment = self.environment
        if not self.over:
            environment.out_of_context()
        verdict, evidence = environment.finish()
        return Trajectory(
            task_id=environment.task.task_id,
            seed=0,  # the random numbers are the other library's,
            sampler=SamplerSettings(),  # and so are the settings
            turns=tuple(self.turns),
            final_files=dict(environment.files),
            verdict=verdict,
            evidence=evidence,
            stop_reason=environment.stop_reason,
        )


def replay(
    task: Task, completion: str | Sequence[Message], sandbox: Sandbox, ids: Sequence[int] = ()
) -> Attempt:
    """The attempt that a completion records, played again from the task's files.

    Of a task of one turn the last assistant message is the answer. Of a task with a workspace the
    tool calls are (`commands_of`), in order, up to the one that ends the episode.

    Args:
        completion: text, or messages.
        ids: the completion's tokens; kept for a single turn.
    Raises:
        ValueError: if `completion` is text and the task has a workspace.
    """
    if not task.files:
        attempt = Attempt(task, sandbox)
        attempt.say(text_of(completion), ids)
        return attempt
    if isinstance(completion, str):
        raise ValueError(
            f"task {task.task_id!r} has a workspace: expected a conversation with tool calls, got "
            "text; use as_dataset(tasks, conversational=True) and environment_factory"
        )
    commands = commands_of(completion)
    attempt = Attempt(task, sandbox, max_turns=len(commands) + 1)
    for command in commands:
        if not attempt.over:
            attempt.say(command)
    return attempt
