"""What a caller gave: checked where it comes in, before anything is sampled or written.

Stage: at every door (`train`, `evaluate`, `rollout`, `grade`, `reroll`). Left out: what only one
door can know to be wrong.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence

from workbench.records.attempts import Trajectory
from workbench.records.groups import Group
from workbench.records.tasks import Task


def expect(
    name: str, value: object, kind: type | tuple[type, ...], wanted: str, what_to_do: str
) -> None:
    """Raises ValueError unless `value`, given as the argument `name`, is of that kind."""
    if not isinstance(value, kind):
        raise ValueError(f"{name}: expected {wanted}, got {value!r:.80}; {what_to_do}")


def expect_tasks(name: str, value: object) -> None:
    """Raises ValueError unless `value`, given as the argument `name`, is a sequence of tasks."""
    are_tasks = isinstance(value, Sequence) and all(isinstance(task, Task) for task in value)
    if not are_tasks:
        raise ValueError(
            f"{name}: expected a list of tasks, got {value!r:.80}; load_tasks returns one, and a "
            "task alone is given as [task]"
        )


def expect_task_of(played: Group | Trajectory, task: object) -> None:
    """Raises ValueError unless `task`, given as that argument, is the one these are attempts at."""
    expect("task", task, Task, "one task", "the one that was rolled out")
    if task.task_id != played.task_id:
        raise ValueError(
            f"task: expected {played.task_id!r}, which was rolled out here, got {task.task_id!r}"
        )


def expect_groups(name: str, value: object) -> None:
    """Raises ValueError unless `value`, given as the argument `name`, is a sequence of groups."""
    if not (isinstance(value, Sequence) and all(isinstance(group, Group) for group in value)):
        raise ValueError(
            f"{name}: expected a list of groups, got {value!r:.80}; a group alone is given as "
            "[group]"
        )


def expect_seed(name: str, value: object) -> int:
    """The seed as an int. Raises ValueError unless it is a whole number from 0 up."""
    try:
        seed = operator.index(value)
    except TypeError:
        seed = -1
    if seed < 0:
        raise ValueError(f"{name}: expected a whole number from 0 up, got {value!r:.80}")
    return seed


def expect_episode(policy: object, tasks: object, sandbox: object) -> None:
    """Raises ValueError unless episodes can be played with these."""
    _expect_opened("policy", policy, "version")
    expect_sandbox(sandbox)
    expect_tasks("tasks", tasks)


def expect_sandbox(sandbox: object) -> None:
    """Raises ValueError unless `sandbox`, the argument of that name, is open."""
    _expect_opened("sandbox", sandbox, "workers")


def _expect_opened(name: str, value: object, attribute: str) -> None:
    if not hasattr(value, attribute):  # not by class: any that keeps the protocol will do
        raise ValueError(f"{name}: expected one that open_{name}() opens, got {value!r:.80}")
