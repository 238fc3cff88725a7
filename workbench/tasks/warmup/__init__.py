"""Suite `warmup`: fifty hand-written problems of one function each, for people and for graders.

Stage: tasks. In: nothing. Out: the tasks, topic by topic, easier ones first within a topic. Each
comes with its usual mistakes, one for each weak spot, and with hacks that pass the visible cases.
Left out: splits (fifty tasks are too few to train on and still measure), workspaces, programs that
read standard input, answers that are right within a tolerance.
"""

from __future__ import annotations

from workbench.records import Task
from workbench.tasks.warmup import (
    classes,
    dicts,
    lists,
    numbers,
    parsing,
    recursion,
    sharing,
    strings,
    syntax,
)

MODULES = (strings, lists, dicts, numbers, recursion, classes, sharing, parsing, syntax)
"""Where the problems are, as lists called TASKS; `sharing` has the topic "classes", `syntax` has
"parsing"."""


def warmup_tasks() -> list[Task]:
    """All tasks of the suite. Raises ValueError if two have the same name."""
    tasks = [task for module in MODULES for task in module.TASKS]
    names = [task.task_id for task in tasks]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"expected every name once, got {twice} more than once; rename")
    return tasks
