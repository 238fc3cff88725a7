"""Tasks and a reward design as a taskset of verifiers, in its version-1 API (`verifiers.v1`).

Stage: adapters. Tasks, a design and a sandbox go in; a `vf.Taskset` comes out whose tasks carry one
`@vf.reward` a component. The code a trace hands in runs in our sandbox, not in the runtime its
agent worked in. Left out: `vf.Rubric`, which verifiers 0.4 no longer has; tool servers, so that
an agent of verifiers has our workspace tools only if the harness brings them under their names.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from workbench.adapters.judge import Judge, Judged, check_is_a_sum
from workbench.adapters.needed import needed
from workbench.records import Task
from workbench.rewards import RewardDesign
from workbench.sandbox import Sandbox

if TYPE_CHECKING:
    import verifiers.v1 as vf

REMEMBERED = 1024
"""Traces scored at the same time whose components share one judgement."""


def as_taskset(
    design: RewardDesign,
    tasks: Iterable[Task],
    sandbox: Sandbox | Callable[[], Sandbox],
) -> vf.Taskset:
    """The tasks for verifiers: prompt = statement, id and key = task_id.

    `await task.score(trace)` records each component under its name with its weight, so that
    `trace.reward` is the design's total, added up in float64 by verifiers. A trace that cannot be
    judged gets `vf.SandboxError`, which verifiers records as the rollout's failure: it is not paid
    0. Raises ImportError without verifiers; ValueError for a design with rules, whose total is no
    weighted sum.
    """
    check_is_a_sum(design)
    vf = needed("verifiers.v1")
    tasks = list(tasks)
    sharers = len(design.components)
    judge = Judge(design, tasks, sandbox, sharers=sharers, remembered=REMEMBERED)

    class WorkbenchTask(vf.Task):
        key = property(lambda self: self.data.id)

    for index, component in enumerate(design.components):
        method = _reward_method(vf, judge, index)
        # The name it is recorded under is the function's; the attribute's must hide none of Task's.
        setattr(WorkbenchTask, f"component_{index}", vf.reward(method, weight=component.weight))

    class WorkbenchTaskset(vf.Taskset[WorkbenchTask, vf.TasksetConfig]):
        def load(self) -> list[WorkbenchTask]:
            return [
                WorkbenchTask(vf.TaskData(id=t.task_id, name=t.task_id, prompt=t.statement))
                for t in tasks
            ]

    return WorkbenchTaskset(vf.TasksetConfig(id="workbench"))


def completion_of(trace: vf.Trace) -> list[dict[str, Any]]:
    """What the model said and was answered in a trace, as messages; its prompt is left out."""
    messages = [node.message.model_dump() for node in trace.nodes]
    said = [index for index, node in enumerate(trace.nodes) if node.sampled]
    return messages[said[0] :] if said else []


def _reward_method(vf: Any, judge: Judge, index: int) -> Callable[..., Any]:
    async def component(self, trace):
        judged = await asyncio.to_thread(_judged, judge, trace)
        if judged.reward.total is None:
            status = judged.trajectory.verdict.status
            raise vf.SandboxError(f"{trace.task.data.id}: cannot be judged (verdict {status!r})")
        raw = judged.reward.parts[index].raw
        return {} if raw is None else raw  # {} = verifiers records nothing under this name

    component.__name__ = judge.design.components[index].name
    return component


def _judged(judge: Judge, trace: vf.Trace) -> Judged:
    task_id, completion = trace.task.data.id, completion_of(trace)
    if not completion:
        raise ValueError(f"{task_id}: expected a message of the model in the trace, got none")
    attempt = partial(judge.replay, task_id, completion, _sampled_ids(trace))
    return judge.shared((trace.id, repr(completion)), lambda: judge.judge([attempt]))[0]


def _sampled_ids(trace: vf.Trace) -> Sequence[int]:
    """The tokens the model sampled last, if the client recorded any."""
    nodes = [node for node in trace.nodes if node.sampled]
    return [i for i, sampled in zip(nodes[-1].token_ids, nodes[-1].mask) if sampled]
