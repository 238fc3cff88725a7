"""The world one episode acts in: reset, step, snapshot, restore, finish.

Stage: environments. A task and a sandbox in; the policy's messages in, observations out; at the
end a verdict and evidence. One class for one turn or many: a task without files is a single turn
whose message is the program, or continues the task's beginning of it. Left out: a time limit for
the episode (turns and tokens bound it).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.environments import tools
from workbench.environments.agents import (
    Floor,
    after_message,
    checked_agents,
    give_floor,
    introduction,
    parse_as,
)
from workbench.environments.answers import answer_of
from workbench.environments.limits import default_observation_chars, default_turns
from workbench.environments.notations import parse_message
from workbench.environments.state import EnvironmentState, Step
from workbench.grading import (
    GRADER,
    collect_evidence,
    final_judgement,
    is_in_image,
    verdict_mode,
)
from workbench.records import (
    UNSCORABLE,
    Agent,
    Evidence,
    StopReason,
    Task,
    TestOutcome,
    ToolCall,
    Verdict,
    files_hash,
)
from workbench.tasks import complete

if TYPE_CHECKING:
    from workbench.sandbox import Sandbox


class Environment:
    """One episode's workspace and tools.

    >>> environment = Environment(task, sandbox)                              # doctest: +SKIP
    >>> statement = environment.reset()                                       # doctest: +SKIP
    >>> environment.step("cat lib.py").observation                            # doctest: +SKIP
    """

    def __init__(
        self,
        task: Task,
        sandbox: Sandbox,
        *,
        max_turns: int | None = None,
        loop_limit: int | None = None,
        observation_chars: int | None = None,
        can_abstain: bool = False,
        agents: Sequence[Agent] = (),
    ) -> None:
        """An environment at its start.

        Args:
            task: without files it is a single turn whatever `max_turns` says.
            sandbox: runs the tests; called only by `run` and `finish`.
            max_turns: the episode stops after this many messages, parse errors included; None =
                as many as suit the task (`default_turns`): 8, for repositories 40.
            loop_limit: stop when one command met one answer in one workspace this many times
                (3 is usual); None leaves it to `max_turns`.
            observation_chars: observations are cut after this many characters; None = a number
                that suits the task.
            can_abstain: the message "abstain" ends the episode with the stop reason "abstained":
                an honest way out, worth what the reward says (`rewards.abstention`).
            agents: who shares the episode, in the order in which they get the floor; () = one
                agent, "solver", that may use every tool.
        Raises:
            ValueError: if `max_turns` < 1, or the agents' names or tools cannot be.
        """
        if max_turns is None:
            max_turns = default_turns(task)
        if max_turns < 1:
            raise ValueError(f"max_turns: expected at least 1, got {max_turns}")
        self.task = task
        self.sandbox = sandbox
        self.single_turn = not task.files
        self.max_turns = 1 if self.single_turn else max_turns
        self.loop_limit = loop_limit
        self.can_abstain = can_abstain
        self.agents = checked_agents(agents, self.single_turn)
        if observation_chars is None:
            observation_chars = default_observation_chars(task)
        self.observation_chars = observation_chars
        self._start = EnvironmentState(task.files, files_hash(task.files), 0, None, ())
        self._state = self._start

    @property
    def files(self) -> Mapping[str, str]:
        """The workspace now: path -> text. Read only."""
        return self._state.files

    @property
    def workspace_hash(self) -> str:
        """Hash of the workspace now; equal workspaces have equal hashes."""
        return self._state.workspace_hash

    @property
    def num_turns(self) -> int:
        """Messages taken so far."""
        return self._state.num_turns

    @property
    def stop_reason(self) -> StopReason | None:
        """Why the episode is over, or None while it goes on."""
        return self._state.stop_reason

    @property
    def speaker(self) -> str:
        """Name of the agent whose message `step` takes next."""
        return self.agents[self._state.floor.speaker].name if self.agents else "solver"

    def reset(self) -> str:
        """Back to the task's files; returns the first observation, the statement."""
        self._state = self._start
        statement = self.task.statement
        return introduction(self.agents[0], statement) if self.agents else statement

    def give_floor(self, name: str) -> None:
        """Let this agent speak next, without a word to it: for replays. Raises ValueError if there
        is none of that name."""
        floor = give_floor(self.agents, self._state.floor, name)
        self._state = replace(self._state, floor=floor)

    def snapshot(self) -> EnvironmentState:
        """The state now, for `restore`."""
        return self._state

    def restore(self, state: EnvironmentState) -> None:
        """Back to a state that `snapshot` returned, also from another environment of the task."""
        self._state = state

    def needs_sandbox(self, text: str) -> bool:
        """Whether `step(text)` runs code (milliseconds) rather than only looks (microseconds)."""
        call, _ = self._parse(text)
        return call is not None and call.name == "run"

    def step(self, text: str, *, too_long: bool = False) -> Step:
        """Act on one message of the policy.

        Args:
            text: the message without its end-of-turn token.
            too_long: the message was cut at its token limit: a parse error whatever it says.
        Raises:
            ValueError: if the episode is over.
        """
        if self.stop_reason is not None:
            raise ValueError(f"the episode is over ({self.stop_reason}); call reset() first")
        call, error = (None, "message too long") if too_long else self._parse(text)
        if call is None:
            observation, files, stop = f"error: {error}", self.files, None
        else:
            observation, files, stop = self._use(call)
        observation = tools.cut(observation, self.observation_chars)
        floor = self._state.floor
        if stop is None:
            statement = self.task.statement
            floor, observation = after_message(self.agents, floor, call, observation, statement)
        stop = self._advance(text, observation, files, stop, floor)
        return Step(observation, stop is not None, call, error, stop)

    def out_of_context(self) -> Step:
        """End the episode because the policy had no room left for a whole message."""
        return self._cut_off("context", "no room left in the context")

    def out_of_order(self) -> Step:
        """End the episode because the policy could not be sampled: a fault of ours."""
        return self._cut_off("abort", "the policy could not be sampled")

    def finish(self) -> tuple[Verdict, Evidence]:
        """Grade the workspace as it is now, and collect the evidence: the code runs here, once.

        After "abort" nothing is run: the verdict is `sandbox_error`, the fault is ours.
        """
        if self.stop_reason != "abort":
            return final_judgement(self.task, self.files, self.sandbox)
        mode, outcomes = verdict_mode(self.task), _never_run(self.task)
        verdict = Verdict(mode, "sandbox_error", outcomes, self.sandbox.name, GRADER)
        return verdict, collect_evidence(self.task, self.files)

    def _cut_off(self, stop: StopReason, why: str) -> Step:
        self._advance("", "", self.files, stop, self._state.floor)
        return Step("", True, None, why, stop)

    def _parse(self, text: str) -> tuple[ToolCall | None, str | None]:
        """The tool call in a message of the speaker, or None and the reason."""
        if self.can_abstain and text == "abstain":
            return ToolCall("abstain", ""), None
        if self.single_turn:
            return ToolCall("write", answer_of(self.task, text)), None
        if self.agents:
            speaker = self.agents[self._state.floor.speaker]
            return parse_message(text, functools.partial(parse_as, speaker))
        return parse_message(text)

    def _use(self, call: ToolCall) -> tuple[str, Mapping[str, str], StopReason | None]:
        """(observation, files afterwards, stop reason or None) of a command."""
        files, argument = self.files, call.argument
        match call.name:
            case "ls":
                return tools.list_files(files), files, None
            case "cat":
                return tools.show_file(files, argument), files, None
            case "grep":
                return tools.find_word(files, argument, skip=self.task.tests_file), files, None
            case "edit":
                files, observation = tools.replace_line(files, argument)
                return observation, files, None
            case "insert":
                files, observation = tools.insert_line(files, argument)
                return observation, files, None
            case "write":
                program = complete(self.task, f"{argument}\n")
                return "", {self.task.entry_file: program}, "submitted"
            case "submit":
                return "", files, "submitted"
            case "hand":
                return argument, files, None
            case "abstain":
                return "", files, "abstained"
        return self._run_tests()

    def _run_tests(self) -> tuple[str, Mapping[str, str], StopReason | None]:
        """Run the visible tests as they lie in the workspace: what the agent left is what runs."""
        if is_in_image(self.task):
            return "error: these tests run in an image, after the last turn", self.files, None
        if self.task.is_repository:
            result = self.sandbox.run_pytest(self.files, None, self.task.limits)
        elif self.task.tests_file is not None:
            result = self.sandbox.run_tests(self.files, self.task.tests_file, self.task.limits)
        else:
            return "error: no tests", self.files, None
        if result.status in UNSCORABLE:  # our fault: nobody learns from it
            return "", self.files, "abort"
        describe = tools.describe_suite if self.task.is_repository else tools.describe_tests
        return describe(result), self.files, None

    def _advance(
        self,
        text: str,
        observation: str,
        files: Mapping[str, str],
        stop: StopReason | None,
        floor: Floor,
    ) -> StopReason | None:
        """Move to the next state; returns why the episode is over, or None."""
        before = self._state
        changed = files is not before.files
        workspace = files_hash(files) if changed else before.workspace_hash
        num_turns = before.num_turns + 1
        seen = before.seen
        if self.loop_limit is not None:
            seen += ((text, observation, workspace),)
            if stop is None and seen.count(seen[-1]) >= self.loop_limit:
                stop = "loop"
        if stop is None and num_turns >= self.max_turns:
            stop = "max_turns"
        self._state = EnvironmentState(files, workspace, num_turns, stop, seen, floor)
        return stop


def _never_run(task: Task) -> tuple[TestOutcome, ...]:
    """Every test of every suite as "missing"."""
    why = "the sandbox failed before"
    if task.is_repository:
        return tuple(TestOutcome(name, "hidden", "missing", why) for name in task.required)
    as_left = task.visible if task.tests_file is not None else ()
    suites = (
        ("visible_as_left", "visible", as_left),
        ("visible_pristine", "visible", task.visible),
        ("hidden", "hidden", task.hidden),
    )
    return tuple(
        TestOutcome(f"{name}:{number}", suite, "missing", why)
        for suite, name, cases in suites
        for number in range(1, len(cases) + 1)
    )
