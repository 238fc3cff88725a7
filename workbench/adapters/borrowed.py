"""The way back: a reward function written for TRL or verifiers as a component of a design.

Stage: adapters. Their function goes in, a component `(trajectory, task) -> float | None` comes out,
which calls it with a batch of one: what the trajectory's turns said, and the task's columns. The
function is the user's own and trusted; no candidate's code runs here. Left out: functions that
compare the completions of a group, which a component cannot see.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import json
import math
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from workbench.adapters.answers import Message, messages_of
from workbench.adapters.needed import needed
from workbench.adapters.trl_rewards import TrlComponent, TrlReward
from workbench.records import Task, Trajectory
from workbench.rewards import Component, configured

Columns = Callable[[Task], Mapping[str, Any]]
"""From a task to the row of a dataset: what the function may ask for besides the completion."""

_GROUP = ("completions", "prompts", "answers", "infos", "states", "traces", "tasks")
"""Parameters by which verifiers knows a function of a whole group."""
_LIVE = ("runtime", "parser", "judge", "client", "model")
"""What verifiers can hand over while a rollout lives, and a stored trajectory has not."""


def task_columns(task: Task) -> dict[str, Any]:
    """`task_id`, the fields its row had (`task.extra`), and `answer`: the reference's text, unless
    the row had one."""
    reference = task.reference.get(task.entry_file, "")
    return {"answer": reference, **task.extra, "task_id": task.task_id}


@configured
def from_trl(
    function: Callable[..., Any],
    conversational: bool | None = None,
    columns: Columns = task_columns,
) -> Component:
    """Component: what a reward function of TRL says to a batch of this one completion.

    The function gets `prompts`, `completions`, `completion_ids`, every column, and what TRL 1.16
    passes besides (`trainer_state` is None, `log_extra` and `log_metric` do nothing), each if it
    asks for it; an async one is run to its end.

    Args:
        conversational: True = the completion is a list of messages; False = text, which only a
            trajectory of one turn has; None = text for one turn, messages for more.
        columns: the dataset's columns, made from the task.
    Raises:
        ValueError: if the function runs a sandbox (`as_reward`), asks for a column there is not,
            or returns anything but one number or None.
    """
    if isinstance(function, TrlReward | TrlComponent):
        raise ValueError("from_trl: this function grades in a sandbox; use its design instead")

    def component(trajectory: Trajectory, task: Task) -> float | None:
        prompt, completion = _said(trajectory, task, conversational)
        ids = [i for turn in trajectory.turns for i in turn.action.ids]
        call = {name: [value] for name, value in columns(task).items()}
        call |= {"prompts": [prompt], "completions": [completion], "completion_ids": [ids]}
        call |= {"trainer_state": None, "log_extra": _ignore, "log_metric": _ignore}
        reward = _only_one(function, _called(function, call))
        return None if reward is None or math.isnan(reward) else reward  # nan is None to TRL

    return component


@configured
def from_verifiers(function: Callable[..., Any], columns: Columns = task_columns) -> Component:
    """Component: what a reward function of verifiers says about this rollout.

    Either form is called with what it asks for by name: version 1, `f(task, trace)`; and the older
    `f(prompt, completion, answer, info, state, ...)`, with messages as `prompt` and `completion`,
    and for a task of one turn the same. An async one is run to its end.

    Raises:
        ValueError: for a function of a group (`completions`, `traces`, ...) or one that needs what
            only a live rollout has (`runtime`, `parser`, ...); if it returns no number.
        ImportError: if it asks for `trace` and verifiers is not installed.
    """
    needs = _parameters(function)
    if grouped := [name for name in _GROUP if name in needs]:
        raise ValueError(
            f"{_name(function)} asks for {grouped}: it compares the rollouts of a group, and a "
            "component sees one; write it for one rollout, or compare in `credit`"
        )
    if live := [name for name in _LIVE if name in needs and needs[name]]:
        raise ValueError(
            f"{_name(function)} needs {live}, which a stored trajectory has not; a component reads "
            "what was recorded: the verdict, the evidence, the final files"
        )

    make_call = _trace_call if "trace" in needs else functools.partial(_rollout_call, columns)

    def component(trajectory: Trajectory, task: Task) -> float | None:
        return _number(function, _called(function, make_call(trajectory, task)))

    return component


def _rollout_call(columns: Columns, trajectory: Trajectory, task: Task) -> dict[str, Any]:
    """What the older form may ask for."""
    prompt, completion = _said(trajectory, task, True)
    row = dict(columns(task))
    call = {"task": task.suite, **row, "info": row, "prompt": prompt, "completion": completion}
    return {**call, "state": dict(call)}


def _trace_call(trajectory: Trajectory, task: Task) -> dict[str, Any]:
    """What version 1 may ask for: a trace with the messages and no tokens."""
    vf = needed("verifiers.v1")
    data = vf.TaskData(id=task.task_id, name=task.task_id, prompt=task.statement)
    prompt, completion = _said(trajectory, task, True)
    nodes: list[Any] = []
    for message in prompt + completion:
        parent = len(nodes) - 1 if nodes else None
        sampled = message["role"] == "assistant"
        typed = _typed(vf, len(nodes), message)
        nodes.append(vf.MessageNode(parent=parent, message=typed, sampled=sampled))
    trace = vf.Trace(
        task=vf.TraceTask(type="Task", data=data, key=task.task_id),
        agent=vf.AgentInfo(config=vf.AgentConfig()),
        nodes=nodes,
        is_completed=True,
        ok=True,
    )
    return {"task": data, "trace": trace}


def _typed(vf: Any, index: int, message: Message) -> Any:
    """A message as verifiers types it; a tool's answer belongs to the call one node before."""
    content = message["content"]
    if message["role"] == "tool":
        name = message["name"]
        return vf.ToolMessage(tool_call_id=f"call_{index - 1}", name=name, content=content)
    if message["role"] == "user":
        return vf.UserMessage(content=content)
    calls = [
        vf.ToolCall(id=f"call_{index}", name=f["name"], arguments=json.dumps(f["arguments"]))
        for f in (call["function"] for call in message.get("tool_calls", []))
    ]
    return vf.AssistantMessage(content=content, tool_calls=calls or None)


def _said(trajectory: Trajectory, task: Task, conversational: bool | None) -> tuple[Any, Any]:
    """(prompt, completion) as messages or as text."""
    if conversational is None:
        conversational = bool(task.files)
    if conversational:
        return [{"role": "user", "content": task.statement}], messages_of(trajectory)
    if len(trajectory.turns) != 1:
        raise ValueError(
            f"task {task.task_id}: a trajectory of {len(trajectory.turns)} turns has no one text; "
            "expected conversational=True and a function that reads messages"
        )
    return task.statement, trajectory.turns[0].action.text


def _called(function: Callable[..., Any], call: Mapping[str, Any]) -> Any:
    """What the function returns to those arguments it asks for; awaited, if it must be.

    Raises ValueError if it asks for one there is not.
    """
    needs = _parameters(function)
    if missing := [name for name in needs if needs[name] and name not in call]:
        raise ValueError(
            f"{_name(function)} asks for {missing}, which is not there; there are {sorted(call)}; "
            "give columns=, a function from the task to a dict that has it"
        )
    takes_all = any(
        p.kind is p.VAR_KEYWORD for p in inspect.signature(function).parameters.values()
    )
    given = call if takes_all else {name: call[name] for name in needs if name in call}
    returned = function(**given)
    if not inspect.isawaitable(returned):
        return returned

    async def finish() -> Any:
        return await returned

    with ThreadPoolExecutor(1) as pool:  # a thread of its own: a notebook's has a loop already
        return pool.submit(asyncio.run, finish()).result()


def _parameters(function: Callable[..., Any]) -> dict[str, bool]:
    """Parameter name -> whether it must be given; *args and **kwargs left out."""
    parameters = inspect.signature(function).parameters.values()
    return {
        p.name: p.default is p.empty
        for p in parameters
        if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)
    }


def _only_one(function: Callable[..., Any], returned: Any) -> float | None:
    try:
        (reward,) = returned
    except (TypeError, ValueError):
        raise ValueError(
            f"{_name(function)}: expected a list of one reward for one completion, got "
            f"{returned!r:.80}"
        )
    return _number(function, reward)


def _number(function: Callable[..., Any], value: Any) -> float | None:
    try:
        return None if value is None else float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{_name(function)}: expected a number or None, got {value!r:.80}")


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", type(function).__name__)


def _ignore(name: str, value: Any) -> None:
    """Stands for TRL's loggers."""
