"""The suite `secure`: what a task claims of its solutions and attacks, checked in the sandbox."""

import pytest

from tests.by_hand import HALVE
from workbench.grading import grade
from workbench.records import Task, from_json, to_json
from workbench.tasks import load_tasks, save_tasks
from workbench.tasks.problem import Wrong, problem
from workbench.tasks.secure import insecure_solutions

TASKS = load_tasks("secure")
SLOW = {"secure/calculate", "secure/check_password"}  # an attack that uses all time; slow hashes
every_task = pytest.mark.parametrize("task", TASKS, ids=lambda task: task.entry_point)
every_attacked_task = pytest.mark.parametrize(
    "task",
    [pytest.param(t, marks=[pytest.mark.slow] * (t.task_id in SLOW)) for t in TASKS],
    ids=lambda task: task.entry_point,
)


def failures(verdict):
    return tuple(o.name for o in verdict.outcomes if o.status != "passed")


def test_there_are_ten_tasks_each_about_another_weakness():
    weaknesses = [tag for t in TASKS for tag in t.tags if tag.startswith("skill:cwe-")]
    assert len(TASKS) == len({t.task_id for t in TASKS}) == 10
    assert weaknesses == [
        "skill:cwe-89", "skill:cwe-78", "skill:cwe-95", "skill:cwe-502", "skill:cwe-22",
        "skill:cwe-79", "skill:cwe-347", "skill:cwe-916", "skill:cwe-330", "skill:cwe-377",
    ]  # fmt: skip


@every_task
def test_the_statement_asks_for_the_function_and_does_not_give_the_defence_away(task):
    assert task.entry_point in task.statement and task.suite == "secure"
    given_away = ("secur", "safe", "attack", "inject", "escap", "quot", "sanit", "trust", "salt",
                  "hmac", "malicious", "valid", "placeholder", "eval", "unpickl")  # fmt: skip
    assert [word for word in given_away if word in task.statement.lower()] == []


@every_task
def test_the_reference_passes_every_test_and_withstands_every_attack(task, sandbox):
    verdict = grade(task, task.reference, sandbox)
    assert (verdict.status, failures(verdict)) == ("ok", ())
    assert len(verdict.of_suite("exploit")) >= 2


@every_attacked_task
def test_a_wrong_solution_fails_exactly_what_it_names(task, sandbox):
    found = {w.weak_spot: failures(grade(task, w.files, sandbox)) for w in task.wrong}
    assert found == {w.weak_spot: w.fails for w in task.wrong}


@every_task
def test_there_are_insecure_solutions_and_plain_mistakes(task):
    insecure = insecure_solutions(task)
    assert insecure and len(task.wrong) - len(insecure) >= 2
    assert all(name.startswith("exploit:test:") for w in insecure for name in w.fails)


@every_task
def test_a_function_that_returns_none_is_useless_and_not_insecure(task, sandbox):
    verdict = grade(task, f"def {task.entry_point}(*args):\n    return None\n", sandbox)
    assert {o.status for o in verdict.of_suite("exploit")} == {"passed"}
    assert any(o.status != "passed" for o in verdict.of_suite("hidden"))


@every_task
def test_hacks_pass_the_visible_cases_and_not_the_hidden_tests(task, sandbox):
    for files in task.known_hacks:
        verdict = grade(task, files, sandbox)
        assert {o.status for o in verdict.of_suite("visible_pristine")} == {"passed"}, files
        assert any(o.status != "passed" for o in verdict.of_suite("hidden")), files


def test_load_tasks_gives_them_and_knows_no_split(tmp_path):
    assert load_tasks("secure", count=2) == TASKS[:2]
    with pytest.raises(ValueError, match="has no splits"):
        load_tasks("secure", split="dev")
    save_tasks(TASKS, tmp_path / "secure.jsonl")
    assert load_tasks(tmp_path / "secure.jsonl") == TASKS
    assert from_json(Task, to_json(TASKS[0])) == TASKS[0]


ODD = Wrong("odd numbers", [2, 3, 4, 5], {"number // 2": "-(-number // 2)"})
TEXT = Wrong("text", [], {"number // 2": "eval(f'({number}) // 2')"}, open_to=[1])


def test_attacks_need_somebody_who_is_open_to_them_and_the_other_way_round():
    exploits = "assert halve('1 + 1') != 1"
    task = problem("halve", **HALVE, suite="secure", wrong=[ODD, TEXT], exploits=exploits)
    assert task.task_id == "secure/halve" and task.exploit_code == exploits + "\n"
    assert insecure_solutions(task) == [task.wrong[1]]
    assert task.wrong[1].fails == ("exploit:test:1",)
    with pytest.raises(ValueError, match="halve, 'text': open_to: expected exploits"):
        problem("halve", **HALVE, wrong=[ODD, TEXT])
    with pytest.raises(ValueError, match="halve: expected a wrong solution that does all"):
        zero = Wrong("zero", [2, 3, 5], "def halve(n): return 0")
        problem("halve", **HALVE, wrong=[ODD, zero], exploits=exploits)
