"""The attempts at one task side by side, and what is known of them beyond their verdicts.

Stage: after the rollouts, what rewards and credit are given. Left out: advantages, which are
computed when somebody asks (`workbench.credit`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from workbench.records.attempts import Trajectory, counted, hidden_passed
from workbench.records.tasks import Task


@dataclass(frozen=True)
class Group:
    """The trajectories of one task from one policy version."""

    task_id: str
    """Which task."""
    policy_version: str
    """Which weights."""
    trajectories: tuple[Trajectory, ...]
    """G attempts."""
    turn_values: tuple[TurnValue, ...] = ()
    """How good it is to stand after a turn, where somebody has estimated it."""
    subset_values: tuple[SubsetValue, ...] = ()
    """What is left of an attempt without some of its turns, where somebody has replayed it."""
    agents_values: tuple[AgentsValue, ...] = ()
    """What an attempt is worth with stand-ins for some of its agents, where somebody has played
    it."""

    def __repr__(self) -> str:
        numbers = in_numbers([self]).removeprefix("1 group, ")
        return f"Group({self.task_id!r}, {numbers})"


GUESSED = frozenset({"critic", "prm"})
"""`TurnValue.how` of values that a model predicted: its word, and no truth."""


@dataclass(frozen=True)
class TurnValue:
    """An estimate of how good it is to stand after one turn."""

    trajectory_index: int
    """Index within the group."""
    turn_index: int
    """-1 = before the first turn."""
    estimate: float
    """Estimated return from here."""
    standard_error: float
    """Standard error of the estimate."""
    num_rerolls: int
    """How many continuations were sampled."""
    how: str
    """How it was made: "reroll", "exact", or one of GUESSED."""


@dataclass(frozen=True)
class SubsetValue:
    """What one attempt earns when only some of its turns are played again."""

    trajectory_index: int
    """Index within the group."""
    kept: tuple[int, ...]
    """Indices of the turns that were played, rising."""
    value: float
    """The reward of what came out."""


@dataclass(frozen=True)
class AgentsValue:
    """What one attempt is worth when stand-ins play all agents but some."""

    trajectory_index: int
    """Index within the group."""
    agents: tuple[str, ...]
    """Who played: names, sorted. () = only stand-ins did."""
    value: float
    """Mean reward of what came out."""


class StoredRun(Protocol):
    """What is read of a run's record (`load_run`) wherever groups and their tasks are wanted."""

    @property
    def groups(self) -> Iterable[Group]:
        """Everything that was rolled out."""

    @property
    def tasks(self) -> Iterable[Task]:
        """The tasks it was rolled out on."""


def groups_and_tasks(
    groups: Iterable[Group] | StoredRun, tasks: Iterable[Task] | None
) -> tuple[tuple[Group, ...], dict[str, Task]]:
    """The groups, and the tasks by their id; a run has its tasks with it.

    Raises ValueError if `tasks` is None and `groups` is no run.
    """
    if tasks is None:
        if not hasattr(groups, "tasks"):
            raise ValueError(
                f"tasks: expected the tasks of these groups, got none with {groups!r:.80}; only a "
                "stored run (load_run) has its own: pass tasks=run.tasks"
            )
        groups, tasks = groups.groups, groups.tasks
    return tuple(groups), {task.task_id: task for task in tasks}


def in_numbers(groups: Iterable[Group]) -> str:
    """Groups in a few words: how many, their trajectories, how many solved their task, tokens.

    Solved means handed in, and every hidden test passed; where no hidden test was judged, nothing
    is said about it.
    """
    groups = tuple(groups)
    trajectories = [t for group in groups for t in group.trajectories]
    words = [counted(len(groups), "group"), counted(len(trajectories), "trajectory")]
    hidden = list(map(hidden_passed, trajectories))
    if any(hidden):
        pairs = zip(trajectories, hidden)
        solved = sum(t.stop_reason == "submitted" and bool(p) and all(p) for t, p in pairs)
        words.append(f"{solved:,} solved")
    return ", ".join([*words, counted(sum(t.num_action_tokens for t in trajectories), "token")])
