from dataclasses import replace

import numpy as np
import pytest

from tests.by_hand import TASK
from workbench import evaluate, load_tasks
from workbench.evaluation import TaskResult, summarise
from workbench.policies import ScriptedPolicy
from workbench.stats import wilson


@pytest.fixture(scope="module")
def tasks():
    return load_tasks("bugfix", split="dev", count=5)


def knows(tasks):
    """A script that solves exactly these tasks and hands the others in as they are."""
    by_name = {task.entry_point: task for task in tasks}

    def script(seen):
        task = by_name.get(seen[0].removeprefix("fix "))
        if task is None or len(seen) > 1:
            return "submit"
        wrong, right = (f[task.entry_file].splitlines() for f in (task.files, task.reference))
        number = next(n for n, (a, b) in enumerate(zip(wrong, right, strict=True)) if a != b)
        return f"edit {task.entry_file} {number + 1}|{right[number]}"

    return script


def test_the_solve_rate_of_a_policy_that_knows_two_answers(sandbox, tasks):
    known = [t for t in tasks if t.entry_point in {tasks[0].entry_point, tasks[1].entry_point}]
    found = evaluate(ScriptedPolicy(knows(known[:2])), tasks, sandbox)
    solved = [r.num_solved for r in found.results]
    assert solved[:2] == [1, 1] and found.solve_rate.estimate == sum(solved) / 5
    assert found.solve_rate == wilson(sum(solved), 5)
    assert found.submit_share == 1.0 and found.num_dropped == 0 and found.num_episodes == 5


def test_what_else_is_counted(sandbox, tasks):
    script = ["xyz", "edit tests.py 2|pass", "edit tests.py 3|pass", "submit"]
    found = evaluate(ScriptedPolicy(script), tasks, sandbox, n=2)
    assert found.edited_tests_share == 1.0 and found.mean_turns == 4.0
    assert found.malformed_share == 0.25
    assert found.solve_rate.estimate == 0.0 and "bootstrap over 5 tasks" in found.solve_rate.method
    assert found.pass_at(2).estimate == 0.0


def test_pass_at_k_counts_only_attempts_that_could_be_judged(sandbox, tasks):
    found = evaluate(ScriptedPolicy(["submit"]), tasks[:2], sandbox, n=3)
    found = replace(found, results=(TaskResult("a", 1, 2), TaskResult("b", 0, 3)))
    assert found.pass_at(1).estimate == pytest.approx((1 / 2 + 0) / 2)
    assert found.pass_at(2).estimate == pytest.approx((1 + 0) / 2)
    with pytest.raises(ValueError, match="sample each task k times or more"):
        found.pass_at(3)


def test_it_prints_as_a_table(sandbox, tasks):
    found = evaluate(ScriptedPolicy(["ls"] * 9), tasks, sandbox, greedy=True, max_turns=2, seed=7)
    lines = repr(found).splitlines()
    assert lines[0] == "5 tasks, 5 episodes, greedy, seed 7"
    assert lines[1].split("  95 %")[0].split() == ["solved", "0.0", "%", "[0.0,", "43.4]"]
    assert "handed in        0.0 %" in repr(found) and "2.0 an episode" in repr(found)
    assert found.groups[0].trajectories[0].sampler.temperature == 0.0


def test_stored_groups_give_the_same_evaluation(sandbox, tasks):
    found = evaluate(ScriptedPolicy(knows(tasks[:2])), tasks, sandbox)
    assert summarise(found.groups, tasks) == found


def test_faults_of_ours_are_dropped_and_counted_and_never_a_zero(sandbox, tasks):
    found = evaluate(ScriptedPolicy(knows(tasks)), tasks, sandbox)
    solved = int(np.nansum(found.solved()))
    broken = found.groups[0].trajectories[0]
    verdict = replace(broken.verdict, status="sandbox_error", outcomes=())
    group = replace(found.groups[0], trajectories=(replace(broken, verdict=verdict),))
    again = summarise((group, *found.groups[1:]), tasks)
    assert again.num_dropped == 1 and np.isnan(again.solved()[0])
    assert again.solve_rate.method == "Wilson, 4 trials"
    assert again.solve_rate.estimate == (solved - found.results[0].num_solved) / 4
    with pytest.raises(ValueError, match="no episode could be judged"):
        summarise([group], tasks)


def test_progress_is_passed_on(sandbox, tasks):
    seen = []
    evaluate(ScriptedPolicy(["submit"]), tasks, sandbox, progress=seen.append)
    assert seen[-1].num_done == seen[-1].num_total == 5


def test_no_tasks_no_evaluation(sandbox):
    with pytest.raises(ValueError, match="at least one, got none"):
        evaluate(ScriptedPolicy(["ls"]), [], sandbox)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (dict(policy="tiny"), r"policy: expected one that open_policy\(\) opens, got 'tiny'"),
        (dict(tasks="bugfix"), "tasks: expected a list of tasks, got 'bugfix'; load_tasks"),
        (dict(tasks=TASK), r"expected a list of tasks, got Task\('by-hand'.*given as \[task\]"),
        (dict(tasks=()), "tasks: expected at least one"),
        (dict(sandbox=None), r"sandbox: expected one that open_sandbox\(\) opens, got None"),
        (dict(seed="0"), "seed: expected a whole number from 0 up, got '0'"),
        (dict(seed=-1), "seed: expected a whole number from 0 up, got -1"),
        (dict(seed=None), "seed: expected a whole number from 0 up, got None"),
    ],
)
def test_what_is_given_wrong_is_named(sandbox, tasks, change, why):
    with pytest.raises(ValueError, match=why):
        evaluate(**(dict(policy=ScriptedPolicy(["submit"]), tasks=tasks, sandbox=sandbox) | change))


def test_a_seed_of_numpy_is_the_same_seed(sandbox, tasks):
    policy = ScriptedPolicy(["submit"])
    plain, numpy = (evaluate(policy, tasks[:1], sandbox, seed=s) for s in (3, np.int64(3)))
    assert type(numpy.seed) is int and repr(numpy) == repr(plain)
