"""One design, one set of 200 rollouts: every adapter gives the same numbers, to the last bit."""

import asyncio
import math
from functools import partial

import pytest

from tests.adapters.conftest import DESIGN
from workbench.adapters import (
    as_async_reward,
    as_gymnasium,
    as_reward,
    as_rewards,
    as_taskset,
    from_trl,
    from_verifiers,
)
from workbench.rewards import RewardDesign


def columns(rollouts, shape=lambda text: text):
    """What TRL would pass for these rollouts."""
    texts = [trajectory.turns[0].action.text for _, trajectory in rollouts]
    return {
        "prompts": [task.statement for task, _ in rollouts],
        "completions": list(map(shape, texts)),
        "completion_ids": [list(t.turns[0].action.ids) for _, t in rollouts],
        "task_id": [task.task_id for task, _ in rollouts],
        "trainer_state": None,
    }


def conversation(text):
    return [{"role": "assistant", "content": text}]


def fenced(text):
    return [{"role": "assistant", "content": f"Here it is.\n```python\n{text}\n```\n"}]


def tasks_of(rollouts):
    return list({task.task_id: task for task, _ in rollouts}.values())


def test_the_rollouts_are_200_and_of_every_kind(rollouts, expected):
    assert len(rollouts) == 200
    statuses = {trajectory.verdict.status for _, trajectory in rollouts}
    assert statuses == {"ok", "timeout", "crash", "compile_error", "unscorable"}
    assert {b.parts[0].raw for b in expected} == {0.0, 1.0, None}
    assert len({b.total for b in expected}) > 50


@pytest.mark.parametrize("shape", [str, conversation, fenced])
def test_trl_one_function(rollouts, expected, sandbox, shape):
    reward = as_reward(DESIGN, tasks_of(rollouts), sandbox)
    assert reward(**columns(rollouts, shape)) == [breakdown.total for breakdown in expected]


def test_trl_an_asynchronous_function(rollouts, expected, sandbox):
    reward = as_async_reward(DESIGN, tasks_of(rollouts), sandbox)
    assert asyncio.run(reward(**columns(rollouts))) == [b.total for b in expected]


def test_trl_one_function_a_component(rollouts, expected, sandbox):
    functions, weights = as_rewards(DESIGN, tasks_of(rollouts), sandbox)
    call = columns(rollouts)
    assert [f.__name__ for f in functions] == ["tests", "fraction", "loads", "length"]
    table = [function(**call) for function in functions]
    for index, breakdown in enumerate(expected):
        row = [column[index] for column in table]
        if breakdown.total is None:
            assert row == [None] * 4
        else:
            assert row == [part.raw for part in breakdown.parts]
            assert math.fsum(r * w for r, w in zip(row, weights)) == breakdown.total


def test_gymnasium(rollouts, expected, sandbox):
    pytest.importorskip("gymnasium", reason="the extra `adapters` is not installed")
    env = as_gymnasium(tasks_of(rollouts), sandbox, DESIGN)
    for (task, trajectory), breakdown in zip(rollouts, expected):
        env.reset(options={"task_id": task.task_id})
        _, reward, *_, info = env.step(trajectory.turns[0].action.text)
        assert info["components"] == {part.name: part.raw for part in breakdown.parts}
        assert math.isnan(reward) if breakdown.total is None else reward == breakdown.total


@pytest.mark.slow
def test_verifiers(rollouts, expected, sandbox):
    vf = pytest.importorskip("verifiers.v1", reason="the extra `adapters` is not installed")
    taskset = as_taskset(DESIGN, tasks_of(rollouts), sandbox)
    by_id = {task.data.id: task for task in taskset}

    def trace_of(task, trajectory):
        said = vf.AssistantMessage(content=trajectory.turns[0].action.text)
        nodes = [
            vf.MessageNode(message=vf.UserMessage(content=task.data.prompt)),
            vf.MessageNode(parent=0, message=said, sampled=True),
        ]
        about = vf.TraceTask(type="WorkbenchTask", data=task.data, key=task.key)
        agent = vf.AgentInfo(config=vf.AgentConfig())
        return vf.Trace(task=about, agent=agent, nodes=nodes)

    async def score_all():
        traces = [trace_of(by_id[task.task_id], trajectory) for task, trajectory in rollouts]
        scores = (by_id[t.task.data.id].score(t) for t in traces)
        return traces, await asyncio.gather(*scores, return_exceptions=True)

    for trace, error, breakdown in zip(*asyncio.run(score_all()), expected):
        if breakdown.total is None:
            assert isinstance(error, vf.SandboxError) and set(trace.rewards.values()) == {None}
            continue
        assert error is None
        for part in breakdown.parts:
            recorded = trace.rewards[part.name]
            assert (recorded.score, recorded.weight) == (part.raw, part.weight)
        assert trace.reward == pytest.approx(breakdown.total, rel=1e-15)


def chars(completions, **_):
    return [len(text) for text in completions]


async def last_chars(completion, task_id):
    return len(completion[-1]["content"])


def chars_of_messages(completions, **_):
    return [len(messages[0]["content"]) for messages in completions]


def test_the_way_back_gives_what_the_function_gives_a_whole_batch(rollouts):
    there = chars(**columns(rollouts))
    design = RewardDesign(
        trl=(from_trl(chars), 1.0),
        talk=(from_trl(chars_of_messages, conversational=True), 1.0),
        older=(from_verifiers(partial(last_chars)), 1.0),
    )
    back = [[p.raw for p in design.score(t, task).parts] for task, t in rollouts[::20]]
    assert back == [[float(n)] * 3 for n in there[::20]]
