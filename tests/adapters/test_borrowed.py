"""Reward functions of TRL and verifiers as components: called with a batch of one."""

import asyncio

import pytest

from tests.adapters.conftest import DESIGN
from workbench.adapters import as_reward, as_rewards, from_trl, from_verifiers
from workbench.episodes import rollout
from workbench.policies import ScriptedPolicy
from workbench.rewards import RewardDesign
from workbench.tasks import load_tasks

TASK = load_tasks([
    {
        "task_id": "double", "statement": "double x", "entry_point": "f",
        "reference": "def f(x): return 2 * x", "cases": [[[1], 2], [[3], 6], [[0], 0]],
        "topic": "arithmetic",
    }
])[0]  # fmt: skip
TEXT = "def f(x): return x + x"
BUGFIX = load_tasks("bugfix", split="dev", count=1)[0]


@pytest.fixture(scope="module")
def one(sandbox):
    """A trajectory of TASK."""
    return rollout(ScriptedPolicy([TEXT]), TASK, sandbox, n=1).trajectories[0]


@pytest.fixture(scope="module")
def three(sandbox):
    """A trajectory of BUGFIX: three turns."""
    return rollout(ScriptedPolicy(["ls", "what?"]), BUGFIX, sandbox, n=1).trajectories[0]


def value(component, trajectory, task=TASK):
    return RewardDesign(it=(component, 1.0)).score(trajectory, task).parts[0].raw


def test_a_trl_function_gets_what_trl_passes_each_as_a_list_of_one(one):
    seen = {}

    def reward(prompts, completions, completion_ids, log_metric, log_extra, **kwargs):
        log_metric("any", 1.0)
        log_extra("any", [1])
        seen.update(kwargs, prompts=prompts, completions=completions, ids=completion_ids)
        return [0.25]

    assert value(from_trl(reward), one) == 0.25
    assert seen.pop("topic", ["arithmetic"]) == ["arithmetic"]
    assert seen == {
        "prompts": ["double x"],
        "completions": [TEXT],
        "ids": [list(one.turns[0].action.ids)],
        "trainer_state": None,
        "task_id": ["double"],
        "answer": [TASK.reference[TASK.entry_file]],
    }


def test_a_function_with_fewer_parameters_gets_only_those(one):
    assert value(from_trl(lambda completions, task_id: [len(task_id[0])]), one) == 6.0


def test_columns_come_from_the_task_as_the_user_says(one):
    component = from_trl(
        lambda completions, limit: [limit[0]], columns=lambda t: {"limit": t.limits.cpu_s}
    )
    assert value(component, one) == TASK.limits.cpu_s
    with pytest.raises(ValueError, match=r"asks for \['limit'\], which is not there; .* columns="):
        value(from_trl(lambda completions, limit: [1.0]), one)


@pytest.mark.parametrize("nothing", [None, float("nan")])
def test_none_and_trl_s_nan_are_what_cannot_be_judged(one, nothing):
    assert value(from_trl(lambda completions: [nothing]), one) is None


@pytest.mark.parametrize("returned", [1.0, [], [1.0, 2.0], ["good"], None])
def test_anything_but_one_number_is_told(one, returned):
    with pytest.raises(ValueError, match="expected a (list of one reward|number or None)"):
        value(from_trl(lambda completions: returned), one)


async def asynchronous(completions, **_):
    await asyncio.sleep(0)
    return [7.0]


def test_an_asynchronous_function_is_run_to_its_end_also_inside_a_running_loop(one):
    async def as_in_a_notebook():
        return value(from_trl(asynchronous), one)

    assert value(from_trl(asynchronous), one) == asyncio.run(as_in_a_notebook()) == 7.0


def test_several_turns_are_a_conversation(three):
    def roles(completions, **_):
        return [float("".join({"assistant": "1", "tool": "2", "user": "3"}[m["role"]]
                              for m in completions[0]))]  # fmt: skip

    assert value(from_trl(roles), three, BUGFIX) == 12131.0
    with pytest.raises(ValueError, match="a trajectory of 3 turns has no one text"):
        value(from_trl(roles, conversational=False), three, BUGFIX)


def test_a_reward_that_runs_a_sandbox_is_refused(sandbox):
    for function in (as_reward(DESIGN, [TASK], sandbox), as_rewards(DESIGN, [TASK], sandbox)[0][0]):
        with pytest.raises(ValueError, match="grades in a sandbox; use its design instead"):
            from_trl(function)


def test_the_component_is_picklable_and_comparable_if_the_function_is():
    import pickle

    component = from_trl(asynchronous, conversational=True)
    assert pickle.loads(pickle.dumps(component)) == component
    assert repr(component).startswith("from_trl(<function asynchronous")


async def v0(prompt, completion, answer, info, state, task, **_):
    assert prompt == state["prompt"] == [{"role": "user", "content": "double x"}]
    assert completion == state["completion"] and info["task_id"] == "double"
    return 10.0 * (answer == "def f(x): return 2 * x") + len(completion) + (task == TASK.suite)


def test_an_older_verifiers_function_gets_messages_and_the_row(one):
    assert value(from_verifiers(v0), one) == 12.0


@pytest.mark.parametrize("name", ["completions", "states", "traces", "prompts"])
def test_functions_of_a_group_are_refused_with_the_reason(name):
    scope = {}
    exec(f"def together({name}): return [1.0]", scope)
    with pytest.raises(ValueError, match=f"together asks for \\['{name}'\\]: it compares"):
        from_verifiers(scope["together"])


def test_what_needs_a_live_rollout_is_refused_and_what_can_do_without_is_not(one):
    with pytest.raises(ValueError, match=r"needs \['runtime'\], which a stored trajectory has not"):
        from_verifiers(lambda completion, runtime: 1.0)
    assert value(from_verifiers(lambda completion, runtime=None: float(runtime is None)), one) == 1


def test_a_method_s_self_is_told(one):
    class Grader:
        def reward(self, completion):
            return 1.0

    with pytest.raises(ValueError, match=r"reward asks for \['self'\], which is not there"):
        value(from_verifiers(Grader.reward), one)
    assert value(from_verifiers(Grader().reward), one) == 1.0


@pytest.mark.slow
def test_a_function_of_version_1_gets_a_real_trace(one, three):
    vf = pytest.importorskip("verifiers.v1", reason="the extra `adapters` is not installed")

    async def reward(task, trace):
        assert isinstance(trace, vf.Trace) and task is trace.task.data
        calls = [c.name for m in trace.assistant_messages for c in m.tool_calls or []]
        links = [m.tool_call_id for m in trace.tool_messages]
        return float(100 * trace.num_turns + 10 * len(calls) + (links == ["call_1"]))

    assert value(from_verifiers(reward), one) == 100.0
    assert value(from_verifiers(reward), three, BUGFIX) == 321.0
