"""A reward design: named components with weights, and the breakdown they give.

Stage: rewards. Trajectories in, `RewardBreakdown` out, in microseconds and without running
anything, so that any design can be tried on stored rollouts. Left out: gates, optional
components, advantages (see `credit`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from workbench.records import Group, RewardBreakdown, RewardPart, Task, Trajectory
from workbench.rewards.components import Component

if TYPE_CHECKING:
    import pandas

COLUMNS = ("group", "trajectory", "task_id", "stop_reason", "num_turns", "reward")
"""Columns of `score_many` that a component may not be named after."""


@dataclass(frozen=True)
class WeightedComponent:
    """One line of a design."""

    name: str
    """What the component is called in tables and breakdowns."""
    component: Component
    """Called with (trajectory, task)."""
    weight: float
    """Factor in the sum; negative for a penalty."""


class StoredRun(Protocol):
    """What `score_many` reads of a run's record."""

    @property
    def groups(self) -> Iterable[Group]:
        """Everything that was rolled out."""

    @property
    def tasks(self) -> Iterable[Task]:
        """The tasks it was rolled out on."""


class RewardDesign:
    """What a trajectory is paid: the weighted sum of named components. Immutable.

    >>> from workbench.rewards import all_pass, tampered
    >>> RewardDesign(tests=(all_pass("hidden"), 1.0), tampering=(tampered, -1.0))
    RewardDesign(
        tests=(all_pass('hidden'), 1.0),
        tampering=(tampered, -1.0),
    )
    """

    def __init__(self, /, **components: tuple[Component, float]) -> None:
        """A design of `name=(component, weight)` entries.

        Raises ValueError if there is none, a name is taken, an entry is not such a pair or a
        weight is not a finite number.
        """
        if not components:
            raise ValueError("expected at least one name=(component, weight), got none")
        self.components = tuple(_checked(name, pair) for name, pair in components.items())

    def score(self, trajectory: Trajectory, task: Task) -> RewardBreakdown:
        """The reward of one trajectory and where it came from.

        The total is None if any component is None: the trajectory cannot be judged.

        Raises:
            ValueError: if the trajectory is of another task, or a component returns anything
                but a finite number or None.
        """
        if trajectory.task_id != task.task_id:
            raise ValueError(
                f"expected the task {trajectory.task_id!r} of this trajectory, got "
                f"{task.task_id!r}; pass the task that was rolled out"
            )
        parts = tuple(
            RewardPart(c.name, _number(c, c.component(trajectory, task)), c.weight)
            for c in self.components
        )
        if any(part.raw is None for part in parts):
            return RewardBreakdown(parts, None)
        return RewardBreakdown(parts, math.fsum(part.weighted for part in parts))

    def score_groups(
        self, groups: Iterable[Group], tasks: Iterable[Task]
    ) -> list[list[RewardBreakdown]]:
        """Breakdowns of all trajectories, one list a group; tasks are found by their id."""
        by_id = {task.task_id: task for task in tasks}
        return [
            [self.score(t, _task_of(group, by_id)) for t in group.trajectories] for group in groups
        ]

    def score_many(
        self, groups: Iterable[Group] | StoredRun, tasks: Iterable[Task] | None = None
    ) -> pandas.DataFrame:
        """A table: a row a trajectory, a column a component (unweighted), and the reward.

        Columns: COLUMNS and the component names; NaN where a component could not judge.

        Args:
            groups: groups, or a stored run (`load_run`), which has its tasks with it.
            tasks: the tasks of the groups; not needed for a stored run.
        """
        import pandas  # half a second that only tables need

        if tasks is None:
            if not hasattr(groups, "tasks"):
                raise ValueError(
                    "tasks: expected the tasks of these groups; only a run has its own"
                )
            groups, tasks = groups.groups, groups.tasks
        groups = list(groups)
        rows = []
        for g, breakdowns in enumerate(self.score_groups(groups, tasks)):
            for t, breakdown in enumerate(breakdowns):
                trajectory = groups[g].trajectories[t]
                rows.append(
                    (g, t, trajectory.task_id, trajectory.stop_reason, len(trajectory.turns))
                    + tuple(_or_nan(part.raw) for part in breakdown.parts)
                    + (_or_nan(breakdown.total),)
                )
        names = [*COLUMNS[:-1], *(c.name for c in self.components), COLUMNS[-1]]
        return pandas.DataFrame(rows, columns=names)

    def __repr__(self) -> str:
        lines = (f"    {c.name}=({_shown(c.component)}, {c.weight})," for c in self.components)
        return "\n".join(("RewardDesign(", *lines, ")"))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RewardDesign) and self.components == other.components

    def __hash__(self) -> int:
        return hash(self.components)


def totals(breakdowns: Sequence[Sequence[RewardBreakdown]]) -> np.ndarray:
    """(B, G) float array of rewards for `credit`; NaN = left out of its group's baseline.

    Groups of unequal size are filled up with NaN.
    """
    size = max((len(row) for row in breakdowns), default=0)
    rewards = np.full((len(breakdowns), size), np.nan)
    for b, row in enumerate(breakdowns):
        rewards[b, : len(row)] = [_or_nan(breakdown.total) for breakdown in row]
    return rewards


def _checked(name: str, pair: tuple[Component, float]) -> WeightedComponent:
    if name in COLUMNS:
        raise ValueError(f"{name!r} is a column of score_many; give the component another name")
    if not (isinstance(pair, tuple) and len(pair) == 2 and callable(pair[0])):
        raise ValueError(
            f"{name}: expected (component, weight), got {pair!r:.80}; for example "
            f'{name}=(all_pass("hidden"), 1.0)'
        )
    component, weight = pair
    if not isinstance(weight, (int, float)) or not math.isfinite(weight):
        raise ValueError(f"{name}: expected a finite number as weight, got {weight!r}")
    return WeightedComponent(name, component, float(weight))


def _number(c: WeightedComponent, value: float | None) -> float | None:
    if value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(
            f"component {c.name!r}: expected a finite number or None, got {value!r:.80}; return "
            "None for what cannot be judged"
        )
    return number


def _task_of(group: Group, by_id: dict[str, Task]) -> Task:
    if group.task_id not in by_id:
        raise ValueError(
            f"no task {group.task_id!r} among the {len(by_id)} given; pass the tasks that were "
            "rolled out"
        )
    return by_id[group.task_id]


def _shown(component: Component) -> str:
    return getattr(component, "__name__", None) or repr(component)


def _or_nan(value: float | None) -> float:
    return math.nan if value is None else value
