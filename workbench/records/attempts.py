"""One attempt at a task, turn by turn, with the token ids exactly as they were sampled.

Stage: an episode, from the first action to its verdict. Left out: what the attempt earned
(`rewards`), and the others of its group (`groups`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from workbench.records.verdicts import Evidence, Verdict

StopReason = Literal["submitted", "abstained", "max_turns", "context", "loop", "abort"]
"""Why an episode ended. "abstained": the agent said that it had no answer, where it might."""


@dataclass(frozen=True)
class ToolCall:
    """A well-formed command."""

    name: str
    """One of the environment's tools."""
    argument: str
    """Everything after the name and one blank; "" if there is none."""


@dataclass(frozen=True)
class Action:
    """What the policy sampled in one turn."""

    ids: tuple[int, ...]
    """Token ids exactly as sampled, the end-of-turn token included; never re-tokenised."""
    logprobs: tuple[float, ...]
    """Log-probability of each sampled token under the policy that sampled it (float32)."""
    text: str
    """The ids decoded, without the end-of-turn token."""
    finish: Literal["end_of_turn", "length", "context", "fault"]
    """Why sampling stopped; "context" = no room was left, and ids may be empty; "fault" = what
    samples is broken, nothing was said: the episode is dropped."""
    kept_prefix: int = 0
    """How many tokens of the sequence so far this turn's prompt keeps."""
    new_ids: tuple[int, ...] = ()
    """Prompt tokens since the kept prefix: observation and role markers."""


@dataclass(frozen=True)
class Turn:
    """One message of the policy and the observation after it."""

    action: Action
    """What was sampled, with its prompt."""
    tool_call: ToolCall | None
    """The parsed command, or None if it did not parse."""
    parse_error: str | None
    """Why the message is not a command, or None."""
    observation: str
    """What the environment answered; "" after submit."""
    workspace_hash: str
    """Hash of the workspace after the turn (anchor states for GiGPO, caches)."""
    agent: str = "solver"
    """Which agent spoke; more than one in multi-agent episodes."""
    seconds: float = 0.0
    """Wall-clock seconds the environment took for this turn."""


@dataclass(frozen=True)
class Agent:
    """One of several who share an episode: what it may do, and what it is told about itself."""

    name: str
    """What its turns are marked with (`Turn.agent`)."""
    tools: tuple[str, ...]
    """Commands it may use; "hand" gives the floor to the next agent, with a message."""
    role: str = ""
    """Told to it before the task's statement; "" = the statement is all it is told."""
    max_turns: int | None = None
    """After so many messages in a row the floor passes on by itself; None = it has to hand over."""


@dataclass(frozen=True)
class SamplerSettings:
    """How actions were sampled. No top-p, no top-k: a filtered distribution is another policy."""

    temperature: float = 1.0
    """1 in training; 0 means greedy."""
    max_action_tokens: int = 64
    """A turn is cut after this many sampled tokens."""
    max_context: int = 768
    """An episode ends when its tokens no longer fit."""


@dataclass(frozen=True)
class Trajectory:
    """One finished attempt at one task, with everything a reward may look at."""

    task_id: str
    """Which task."""
    seed: int
    """Seed of the rollout call that produced it."""
    sampler: SamplerSettings
    """How it was sampled."""
    turns: tuple[Turn, ...]
    """K >= 1 turns in order."""
    final_files: Mapping[str, str]
    """The workspace when the episode ended."""
    verdict: Verdict
    """What grading found."""
    evidence: Evidence
    """What the collectors saw."""
    stop_reason: StopReason
    """Why the episode ended."""
    policy_version: str = ""
    """Hash or label of the weights that sampled it."""

    @property
    def num_action_tokens(self) -> int:
        """Tokens the policy sampled, all turns together."""
        return sum(len(turn.action.ids) for turn in self.turns)

    @property
    def num_tokens(self) -> int:
        """Prompt and sampled tokens, all turns together; a prefix that is kept counts once."""
        return sum(len(turn.action.new_ids) for turn in self.turns) + self.num_action_tokens

    @property
    def ran_out_of_tokens(self) -> bool:
        """Whether its last message was cut at the limit, or there was no room for one."""
        last = self.turns[-1].action.finish if self.turns else "context"
        return last in ("length", "context")

    def __repr__(self) -> str:  # the whole of it fills many screens
        hidden = hidden_passed(self)
        return (
            f"Trajectory({self.task_id!r}, {counted(len(self.turns), 'turn')}, "
            f"{counted(self.num_action_tokens, 'token')}, {self.stop_reason}, "
            f"verdict {self.verdict.status}, {sum(hidden)} of {len(hidden)} hidden tests passed)"
        )


def hidden_passed(trajectory: Trajectory) -> list[bool]:
    """Of each hidden test that was judged, whether it passed."""
    return [o.status == "passed" for o in trajectory.verdict.outcomes if o.suite == "hidden"]


def counted(number: int, what: str) -> str:
    """The number and its noun: "1 token", "2 trajectories"."""
    plural = what.removesuffix("y") + "ies" if what.endswith("y") else what + "s"
    return f"{number:,} {what if number == 1 else plural}"
