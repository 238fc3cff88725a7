"""`collect`: from trajectories to the same trajectories with more evidence.

Stage: grading, after it. Every different (task, final files) is looked at once in a call, however
many trajectories ended with it. Left out: choosing collectors while an episode is graded; what
always runs is in `grading.evidence`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import islice
from typing import Any

from workbench.grading.collectors import agents_tests, coverage, speed
from workbench.grading.collectors.lint import lint_findings
from workbench.grading.collectors.security import security_findings
from workbench.records import (
    Evidence,
    Group,
    StoredRun,
    Task,
    TestOutcome,
    Trajectory,
    Verdict,
    files_hash,
    groups_and_tasks,
)
from workbench.sandbox import Sandbox

Attempt = tuple[Task, Mapping[str, str]]
"""A task and the files somebody ended with."""
READING: Mapping[str, Callable[[Sequence[Attempt]], list[Any]]] = {
    "lint": lint_findings,
    "security": security_findings,
}
"""Collectors that read the files; each takes all attempts at once, as its program starts once."""
RUNNING: Mapping[str, Callable[[Task, Mapping[str, str], Sandbox], Any]] = {
    "coverage": coverage.executed_lines,
    "speed": speed.cpu_seconds,
    "agent_on_base": agents_tests.on_base,
}
"""Collectors that run the program."""
COLLECTORS = (*READING, *RUNNING)
"""Names of all collectors on request."""
_CHECKS = {
    "coverage": coverage.check_task,
    "speed": speed.check_task,
    "agent_on_base": agents_tests.check_task,
}


def collect(
    groups: Iterable[Group] | StoredRun,
    tasks: Iterable[Task] | None = None,
    collectors: Sequence[str] = COLLECTORS,
    sandbox: Sandbox | None = None,
) -> list[Group]:
    """New groups whose trajectories carry what the collectors found; nothing given is changed.

    Args:
        groups: groups, or a stored run (`load_run`), which has its tasks with it.
        tasks: the tasks of the groups; not needed for a stored run.
        collectors: of COLLECTORS. "lint" and "security" fill the evidence of that name; "coverage"
            fills `executed`, "speed" `cpu_s` and `reference_cpu_s`; "agent_on_base" adds a suite to
            the verdict. What was collected before is replaced.
        sandbox: runs the programs; "lint" and "security" need none.
    Raises:
        ValueError: an unknown collector; one that runs programs and no sandbox; a task that a
            collector can do nothing with (says which, and what to do), before anything is run.
        RuntimeError: a scanner is not installed, or the sandbox failed twice.

    What a file contains cannot make a collector fail: one that a scanner cannot read (a syntax
    error, nesting too deep, hours of work) has the finding "unreadable", for "security" a grave
    one. Otherwise a program could choose not to be judged.
    """
    groups, by_id = groups_and_tasks(groups, tasks)
    trajectories = [t for group in groups for t in group.trajectories]
    collected = iter(collect_for(trajectories, by_id.values(), collectors, sandbox))
    return [
        replace(group, trajectories=tuple(islice(collected, len(group.trajectories))))
        for group in groups
    ]


def collect_for(
    trajectories: Sequence[Trajectory],
    tasks: Iterable[Task],
    collectors: Sequence[str] = COLLECTORS,
    sandbox: Sandbox | None = None,
) -> list[Trajectory]:
    """`collect` for trajectories that are in no group; arguments and errors as there."""
    attempts = _different_attempts(trajectories, {task.task_id: task for task in tasks})
    check_collectors(collectors, sandbox, [task for task, _ in attempts.values()])
    found: dict[str, list[Any]] = {
        name: _run(name, list(attempts.values()), sandbox) for name in collectors
    }
    places = {key: place for place, key in enumerate(attempts)}
    return [_with(t, found, places[_key(t)]) for t in trajectories]


def _key(trajectory: Trajectory) -> tuple[str, str]:
    return trajectory.task_id, files_hash(trajectory.final_files)


def _different_attempts(
    trajectories: Sequence[Trajectory], by_id: Mapping[str, Task]
) -> dict[tuple[str, str], Attempt]:
    attempts = {}
    for trajectory in trajectories:
        if trajectory.task_id not in by_id:
            raise ValueError(
                f"tasks: no task {trajectory.task_id!r} among the {len(by_id)} given; pass the "
                "tasks that were rolled out"
            )
        attempts[_key(trajectory)] = by_id[trajectory.task_id], trajectory.final_files
    return attempts


def check_collectors(
    collectors: Sequence[str], sandbox: Sandbox | None, tasks: Iterable[Task]
) -> None:
    """Raises ValueError as `collect` does, for attempts at these tasks that are yet to be made."""
    if isinstance(collectors, str):
        raise ValueError(f'collectors: expected a tuple of names, ("{collectors}",), got a text')
    if unknown := [name for name in collectors if name not in COLLECTORS]:
        raise ValueError(f"collectors: expected names of {COLLECTORS}, got {unknown}")
    running = [name for name in collectors if name in RUNNING]
    if running and sandbox is None:
        raise ValueError(
            f"sandbox: {', '.join(running)} run programs and need one; pass "
            f"sandbox=open_sandbox(), or collectors={tuple(READING)}"
        )
    for task in tasks:
        if task.language != "python" and not set(collectors).isdisjoint(READING):
            raise ValueError(
                f"task {task.task_id}: lint and security read Python, and this is {task.language}; "
                "leave such tasks out"
            )
        for name in running:
            _CHECKS[name](task)


def _run(name: str, attempts: Sequence[Attempt], sandbox: Sandbox | None) -> list[Any]:
    """What a collector found, one result an attempt."""
    if name in READING:
        return READING[name](attempts)
    workers = 1 if name == "speed" else sandbox.workers  # nothing of ours runs beside a measurement
    with ThreadPoolExecutor(workers, thread_name_prefix=name) as pool:
        return list(pool.map(lambda attempt: RUNNING[name](*attempt, sandbox), attempts))


def _with(trajectory: Trajectory, found: Mapping[str, list[Any]], place: int) -> Trajectory:
    evidence, verdict = trajectory.evidence, trajectory.verdict
    for name, results in found.items():
        if name == "agent_on_base":
            verdict = _with_suite(verdict, results[place])
        else:
            evidence = _with_evidence(evidence, name, results[place])
    return replace(trajectory, evidence=evidence, verdict=verdict)


def _with_evidence(evidence: Evidence, name: str, result: Any) -> Evidence:
    if name == "coverage":
        return replace(evidence, executed=result)
    if name == "speed":
        return replace(evidence, cpu_s=result[0], reference_cpu_s=result[1])
    return replace(evidence, **{name: result})


def _with_suite(verdict: Verdict, outcomes: tuple[TestOutcome, ...]) -> Verdict:
    others = tuple(o for o in verdict.outcomes if o.suite != agents_tests.SUITE)
    return replace(verdict, outcomes=others + outcomes)
