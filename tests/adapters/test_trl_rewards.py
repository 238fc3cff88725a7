"""Reward functions as TRL calls them: by keyword, with the dataset's columns and its loggers."""

import asyncio
import functools
import pickle
import re
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from trl.trainer.utils import get_callable_name, is_async_callable

from tests.adapters.conftest import HONEST
from workbench import open_sandbox
from workbench.adapters import (
    as_async_reward,
    as_dataset,
    as_reward,
    as_rewards,
    as_taskset,
    environment_factory,
)
from workbench.rewards import RewardDesign, all_pass, compiles, faster, no_new_findings, ran_out
from workbench.tasks import load_tasks

TASK = load_tasks("functions", split="dev", count=1)[0]
RIGHT = TASK.reference["solution.py"].removeprefix(TASK.beginning)
WRONG, BROKEN = "    return None", "    return ("
FAULTY = replace(TASK, task_id="faulty", test_code="raise RuntimeError('ours')\n")
DESIGN = RewardDesign(tests=(all_pass("hidden"), 1.0), loads=(compiles, 0.5))


class Log:
    """What TRL would write down."""

    def __init__(self):
        self.metrics, self.columns = defaultdict(list), {}

    def call(self, function, pairs, **more):
        return function(
            prompts=["" for _ in pairs],
            completions=[completion for _, completion in pairs],
            completion_ids=[[1, 2] for _ in pairs],
            trainer_state=None,
            log_extra=self.columns.__setitem__,
            log_metric=lambda name, value: self.metrics[name].append(value),
            task_id=[task.task_id for task, _ in pairs],
            **more,
        )


PAIRS = [(TASK, RIGHT), (TASK, WRONG), (FAULTY, RIGHT), (TASK, BROKEN)]


def test_what_cannot_be_judged_is_none_and_counted_and_each_component_is_logged(sandbox):
    log = Log()
    assert log.call(as_reward(DESIGN, [TASK, FAULTY], sandbox), PAIRS) == [1.5, 0.5, None, 0.0]
    assert log.metrics == {
        "unscorable": [1.0],
        "components/tests": [pytest.approx(1 / 3)],
        "components/loads": [pytest.approx(2 / 3)],
    }
    assert log.columns == {
        "verdict": ["ok", "ok", "unscorable", "compile_error"],
        "tests": [1.0, 0.0, None, 0.0],
        "loads": [1.0, 1.0, None, 0.0],
    }


TIDY = RewardDesign(tidy=(no_new_findings("lint"), 1.0))
UNTIDY = "    import os\n    return None"


def test_what_a_design_reads_is_collected_before_it_scores(sandbox):
    pairs = [(TASK, WRONG), (TASK, UNTIDY)]
    [component], _ = as_rewards(TIDY, [TASK], sandbox)
    assert Log().call(as_reward(TIDY, [TASK], sandbox), pairs) == [1.0, 0.0]
    assert Log().call(component, pairs) == [1.0, 0.0]
    environment = environment_factory([BUGFIX], sandbox, TIDY)()
    environment.reset(task_id=BUGFIX.task_id)
    environment.edit(f"{BUGFIX.entry_file} 1|import os")
    environment.submit()
    assert environment.get_reward() == 0.0


def test_what_cannot_be_collected_of_a_task_is_refused_at_the_start(sandbox):
    without = replace(TASK, reference={})
    with pytest.raises(ValueError, match='leave out the collector "speed" or this task'):
        as_reward(RewardDesign(fast=(faster(), 1.0)), [without], sandbox)


def test_one_function_a_component_is_none_in_all_of_them_together(sandbox):
    log, pairs = Log(), PAIRS
    # a component that can always judge must not be paid alone when another could not
    design = RewardDesign(tests=(all_pass("hidden"), 2.0), out=(ran_out, -1.0))
    functions, weights = as_rewards(design, [TASK, FAULTY], sandbox)
    assert weights == [2.0, -1.0]
    assert [get_callable_name(f) for f in functions] == ["tests", "out"]
    assert log.call(functions[0], pairs) == [1.0, 0.0, None, 0.0]
    assert log.call(functions[1], pairs) == [0.0, 0.0, None, 0.0]
    assert log.metrics == {"unscorable": [1.0]}
    assert log.columns == {"verdict": ["ok", "ok", "unscorable", "compile_error"]}


def test_functions_of_one_design_share_one_execution():
    with open_sandbox("local", workers=2, reuse=False) as box:
        functions, _ = as_rewards(DESIGN, [TASK], box)
        completions = [RIGHT, WRONG]
        call = {"completions": completions, "task_id": [TASK.task_id] * 2}
        assert [f(**call) for f in functions] == [[1.0, 0.0], [1.0, 1.0]]
        assert box.stats.executions == 2
        completions[0] = WRONG  # the same list, and other completions
        assert [f(**call) for f in functions] == [[0.0, 0.0], [1.0, 1.0]]
        assert box.stats.executions == 4
        assert functions[1](**call) == [1.0, 1.0]  # asked anew, run anew
        assert box.stats.executions == 6


def test_functions_asked_at_the_same_time_share_one_execution_too():
    with open_sandbox("local", workers=2, reuse=False) as box:
        functions, _ = as_rewards(DESIGN, [TASK], box)
        call = {"completions": [RIGHT], "task_id": [TASK.task_id]}
        with ThreadPoolExecutor(2) as pool:
            answers = [pool.submit(f, **call) for f in functions]
            assert [a.result() for a in answers] == [[1.0], [1.0]]
        assert box.stats.executions == 1


def test_an_error_is_not_remembered(sandbox):
    functions, _ = as_rewards(DESIGN, [TASK], sandbox)
    completions = [RIGHT]
    with pytest.raises(ValueError, match="no task 'other'"):
        functions[0](completions=completions, task_id=["other"])
    assert functions[0]._judge._recent == {}
    assert functions[0](completions=completions, task_id=[TASK.task_id]) == [1.0]


def test_the_asynchronous_one_is_awaited_and_says_the_same(sandbox):
    reward = as_async_reward(DESIGN, [TASK, FAULTY], sandbox)
    assert is_async_callable(reward) and not is_async_callable(as_reward(DESIGN, [], sandbox))
    assert get_callable_name(reward) == "design"
    log = Log()
    assert asyncio.run(log.call(reward, PAIRS)) == [1.5, 0.5, None, 0.0]
    assert log.metrics["unscorable"] == [1.0]


def test_a_dataset_without_task_ids_and_an_unknown_task_are_told(sandbox):
    reward = as_reward(DESIGN, [TASK], sandbox)
    with pytest.raises(ValueError, match=r"expected the dataset column 'task_id'.* got \['answer'"):
        reward(completions=[RIGHT], answer=["4"])
    with pytest.raises(ValueError, match="no task 'other' among the 1 given"):
        reward(completions=[RIGHT], task_id=["other"])


@pytest.mark.parametrize(
    ("design", "rule", "paid"),
    [
        (DESIGN.gate("loads", needs="tests"), ".gate('loads', needs='tests')", [1.5, 0.0]),
        (DESIGN.blockers("tests"), ".blockers('tests')", [1.5, 0.0]),
        (DESIGN.normalised(), ".normalised()", [1.0, 0.5 / 1.5]),
    ],
)
def test_a_total_that_is_no_sum_is_refused_a_function_a_component(sandbox, design, rule, paid):
    for make in (as_rewards, as_taskset):
        with pytest.raises(ValueError, match=f"got one with {re.escape(rule)}, .* use TRL's"):
            make(design, [TASK], sandbox)
    call = dict(completions=[RIGHT, WRONG], task_id=[TASK.task_id] * 2)
    assert as_reward(design, [TASK], sandbox)(**call) == pytest.approx(paid)


def test_an_open_sandbox_cannot_be_sent_and_what_opens_one_can(sandbox):
    with pytest.raises(TypeError, match="give a function that opens one there"):
        pickle.dumps(as_reward(DESIGN, [TASK], sandbox))
    opens = functools.partial(open_sandbox, "local", workers=1)
    (function, _), _ = as_rewards(DESIGN, [TASK], opens)
    there = pickle.loads(pickle.dumps(function))
    assert there.__name__ == "tests"
    assert there(completions=[RIGHT], task_id=[TASK.task_id]) == [1.0]
    there._judge.sandbox.close()
    pickle.dumps(there)  # also once it has opened its own


def test_a_dataset_has_the_statement_as_text_or_as_a_message():
    rows = list(as_dataset([TASK]))
    assert rows == [{"prompt": TASK.statement, "task_id": TASK.task_id}]
    (row,) = as_dataset([TASK], conversational=True)
    assert row["prompt"] == [{"role": "user", "content": TASK.statement}]
    (row,) = as_dataset([TASK], prompt=lambda task: f"{task.statement}\n{task.beginning}")
    assert row["prompt"] == f"{TASK.statement}\n{TASK.beginning}"


BUGFIX = load_tasks("bugfix", split="dev", count=1)[0]


def test_the_statement_comes_from_reset_unless_the_prompt_has_it(sandbox):
    environment = environment_factory([BUGFIX], sandbox)()
    row = dict(as_dataset([BUGFIX], conversational=True)[0])
    assert environment.reset(**row) is None
    assert environment.reset(BUGFIX.task_id, prompt=[{"role": "user", "content": ""}]) == (
        BUGFIX.statement
    )
    with pytest.raises(ValueError, match="no task 'other' among the 1 given"):
        environment.reset("other")


def test_an_environment_has_a_reward_of_its_own_only_with_a_design(sandbox):
    assert not hasattr(environment_factory([BUGFIX], sandbox)(), "get_reward")
    environment = environment_factory([BUGFIX], sandbox, HONEST)()
    environment.reset(BUGFIX.task_id)
    assert environment.edit("tests.py 1|x = 1") == "1|x = 1"
    environment.submit()
    assert environment.get_reward() == -1.0


def test_environments_are_scored_by_their_episode_not_by_what_the_messages_say(sandbox):
    environment = environment_factory([BUGFIX], sandbox)()
    environment.reset(BUGFIX.task_id)
    environment.edit("tests.py 1|x = 1")
    environment.submit()
    reward = as_reward(HONEST, [BUGFIX], sandbox)
    said = [{"role": "assistant", "content": "I changed nothing."}]
    assert Log().call(reward, [(BUGFIX, said)], environments=[environment]) == [-1.0]
    assert Log().call(reward, [(BUGFIX, said)], environments=None) == [0.0]


def test_the_tokens_of_a_single_turn_reach_components_that_count_them(sandbox):
    def tokens(trajectory, task):
        return trajectory.num_action_tokens

    reward = as_reward(RewardDesign(tokens=(tokens, 1.0)), [TASK], sandbox)
    assert Log().call(reward, [(TASK, RIGHT)]) == [2.0]
