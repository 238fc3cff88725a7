"""A run in the sandbox whose failure is not the program's doing: tried again, then an error.

Stage: grading, after it. Left out: going on without what a fault has cost; evidence that is missing
for one attempt of a group would be read as if no collector had run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from workbench.records import UNSCORABLE, Task

Result = TypeVar("Result", bound=Any)


def undisturbed(task: Task, run: Callable[[], Result]) -> Result:
    """What `run` returns, a result with a `status`. RuntimeError after two faults of ours."""
    for _ in range(2):
        result = run()
        if result.status not in UNSCORABLE:
            return result
    raise RuntimeError(
        f"task {task.task_id}: the sandbox could not run it ({result.status}): "
        f"{_why(result)}; nothing was collected"
    )


def _why(result: Any) -> str:
    if hasattr(result, "message"):
        return result.message
    return next((o.message for o in result.outcomes if o.message), "no reason given")
