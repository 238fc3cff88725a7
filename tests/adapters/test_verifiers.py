"""The taskset as verifiers reads and scores it."""

import asyncio
import sys

import pytest

from tests.adapters.conftest import HONEST
from workbench import open_sandbox
from workbench.adapters import as_gymnasium, as_taskset
from workbench.adapters.verifiers_v1 import completion_of
from workbench.rewards import RewardDesign, all_pass, compiles
from workbench.tasks import load_tasks

FUNCTIONS = load_tasks("functions", split="dev", count=3)
BUGFIX = load_tasks("bugfix", split="dev", count=1)[0]
RIGHT = FUNCTIONS[0].reference["solution.py"].removeprefix(FUNCTIONS[0].beginning)


@pytest.mark.parametrize("name, make", [("gymnasium", as_gymnasium), ("verifiers.v1", as_taskset)])
def test_a_missing_package_is_named_with_what_to_install(sandbox, monkeypatch, name, make):
    monkeypatch.setitem(sys.modules, name, None)
    arguments = (FUNCTIONS, sandbox, HONEST) if make is as_gymnasium else (HONEST, [], sandbox)
    with pytest.raises(ImportError, match=f"needs '{name.partition('.')[0]}.*pip install"):
        make(*arguments)


@pytest.fixture
def vf():
    """verifiers, which takes seconds to load."""
    return pytest.importorskip("verifiers.v1", reason="the extra `adapters` is not installed")


def trace_of(vf, task, *messages):
    nodes = [vf.MessageNode(message=vf.UserMessage(content=task.data.prompt))]
    for message in messages:
        sampled = isinstance(message, vf.AssistantMessage)
        nodes.append(vf.MessageNode(parent=len(nodes) - 1, message=message, sampled=sampled))
    about = vf.TraceTask(type=type(task).__name__, data=task.data, key=task.key)
    return vf.Trace(task=about, agent=vf.AgentInfo(config=vf.AgentConfig()), nodes=nodes)


@pytest.mark.slow
def test_tasks_are_what_verifiers_selects_by(vf, sandbox):
    taskset = as_taskset(HONEST, FUNCTIONS, sandbox)
    ids = [task.task_id for task in FUNCTIONS]
    assert [task.key for task in taskset] == [task.data.id for task in taskset] == ids
    assert [task.data.idx for task in taskset] == [0, 1, 2]
    assert [task.data.prompt for task in taskset] == [task.statement for task in FUNCTIONS]
    (one,) = taskset.include(ids=[ids[1]])
    assert isinstance(one, taskset.task_type()) and one.data.id == ids[1]


@pytest.mark.slow
def test_components_of_one_trace_share_one_execution(vf):
    names_of_task = {"score": (all_pass("hidden"), 1.0), "data": (compiles, 0.5)}
    with open_sandbox("local", workers=2, reuse=False) as box:
        task = next(iter(as_taskset(RewardDesign(**names_of_task), FUNCTIONS, box)))
        trace = trace_of(vf, task, vf.AssistantMessage(content=RIGHT))
        asyncio.run(task.score(trace))
        assert {name: r.value for name, r in trace.rewards.items()} == {"score": 1.0, "data": 0.5}
        assert trace.reward == 1.5 and box.stats.executions == 1


@pytest.mark.slow
def test_tool_calls_of_a_trace_are_played_again(vf, sandbox):
    task = next(iter(as_taskset(HONEST, [BUGFIX], sandbox)))

    def call(name, arguments):
        calls = [vf.ToolCall(id="1", name=name, arguments=arguments)]
        return vf.AssistantMessage(content=None, tool_calls=calls)

    answered = vf.ToolMessage(tool_call_id="1", content="1|x = 1")
    edit = call("edit", '{"argument": "tests.py 1|x = 1"}')
    trace = trace_of(vf, task, edit, answered, call("submit", "{}"))
    assert [m["role"] for m in completion_of(trace)] == ["assistant", "tool", "assistant"]
    asyncio.run(task.score(trace))
    assert trace.rewards["tampering"].value == trace.reward == -1.0


@pytest.mark.slow
def test_a_trace_without_a_message_of_the_model_is_told(vf, sandbox):
    task = next(iter(as_taskset(HONEST, FUNCTIONS, sandbox)))
    with pytest.raises(vf.TaskError, match="expected a message of the model in the trace, got"):
        asyncio.run(task.score(trace_of(vf, task)))
