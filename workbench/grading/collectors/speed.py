"""Collector "speed": CPU seconds of a program and of the reference, measured side by side.

Stage: grading, after it. Both are graded on the hidden tests in turn, five times each, in the
same sandbox, and the medians are kept: what else the machine does meets both. A run costs about a
millisecond before the program begins, so programs that need much less look alike; give such a task
larger cases. Left out: memory; speed on inputs of rising size.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from statistics import median

from workbench.grading.collectors.faults import undisturbed
from workbench.grading.verdicts import judge
from workbench.records import Task, Verdict, files_hash
from workbench.sandbox import Sandbox

NUM_RUNS = 5
"""Measurements of each of the two."""


def check_task(task: Task) -> None:
    """Raises ValueError for a task without a reference."""
    if not task.reference:
        raise ValueError(
            f"task {task.task_id}: speed is measured beside the reference, and there is none; "
            'leave out the collector "speed" or this task'
        )


def cpu_seconds(task: Task, files: Mapping[str, str], sandbox: Sandbox) -> tuple[float, float]:
    """(CPU seconds of the program, CPU seconds of the reference) on the hidden tests.

    A program that fails them is measured as well: it may be fast because it does nothing.
    Raises ValueError if the reference fails one of them: it would be no measure.
    """
    reference = {**task.files, **task.reference}
    ours, theirs = [], []
    for hidden in _repeated(task, files):
        ours.append(_timed(hidden, files, sandbox)[1])
        verdict, cpu_s = _timed(hidden, reference, sandbox)
        theirs.append(cpu_s)
        if failed := [o for o in verdict.of_suite("hidden") if o.status != "passed"]:
            raise ValueError(
                f"task {task.task_id}: its reference fails {failed[0].name} ({failed[0].message}); "
                'repair the task, or leave out the collector "speed"'
            )
    return median(ours), median(theirs)


def _repeated(task: Task, files: Mapping[str, str]) -> Iterator[Task]:
    """The task with its hidden tests alone, once a run.

    No two have the same deadline, by nanoseconds: a sandbox would give an earlier run's result to
    equal requests. A program sees no difference.
    """
    first = int(files_hash(files)[:6], 16) * NUM_RUNS
    for number in range(first, first + NUM_RUNS):
        limits = replace(task.limits, wall_s=task.limits.wall_s + number * 1e-9)
        yield replace(task, visible=(), exploit_code="", limits=limits)


def _timed(task: Task, files: Mapping[str, str], sandbox: Sandbox) -> tuple[Verdict, float]:
    seconds = []

    def run() -> Verdict:
        verdict, cpu_s = judge(task, files, sandbox)
        seconds.append(cpu_s)
        return verdict

    return undisturbed(task, run), seconds[-1]
