"""MBPP rows in both published variants, written by hand."""

import pytest

from workbench.grading import grade
from workbench.records import Case
from workbench.tasks import load_tasks

FULL = {
    "task_id": 11,
    "text": "Write a function to add one.",
    "code": "def helper(x):\r\n  return x + 1\r\ndef add_one(x):\r\n  return helper(x)",
    "test_list": ["assert add_one(1)==2", "assert add_one(-1) == 0"],
    "test_setup_code": "",
    "challenge_test_list": ["assert add_one(10**3) == 1001"],
}
SANITIZED = {
    "source_file": "Benchmark Questions Verification V2.ipynb",
    "task_id": 2,
    "prompt": "Write a function to halve a number.",
    "code": "def half(x):\n  return x / 2",
    "test_imports": ["import math"],
    "test_list": ["assert math.isclose(half(1), 0.5, rel_tol=0.001)", "assert half(4) == 2"],
}


def test_the_full_variant(sandbox):
    (task,) = load_tasks([FULL])
    assert (task.task_id, task.entry_point, task.suite) == ("MBPP/11", "add_one", "mbpp")
    assert task.statement == (
        "Write a function to add one.\n\nThe solution must pass this test:\nassert add_one(1)==2\n"
    )
    assert task.visible == ()
    assert task.hidden == (
        Case((1,), 2, "equal"),
        Case((-1,), 0, "equal"),
        Case((1000,), 1001, "equal"),
    )
    assert task.test_code == "" and task.extra == {
        "test": "assert add_one(1)==2\nassert add_one(-1) == 0\nassert add_one(10**3) == 1001\n"
    }
    assert {o.status for o in grade(task, task.reference, sandbox).outcomes} == {"passed"}


def test_the_sanitized_variant(sandbox):
    (task,) = load_tasks([SANITIZED])
    assert (task.task_id, task.entry_point, task.test_code) == ("MBPP/2", "half", "")
    assert task.visible == ()
    assert task.hidden == (Case((1,), 0.5, "close", 0.0005), Case((4,), 2, "equal"))
    assert task.extra["source_file"] == SANITIZED["source_file"]
    assert {o.status for o in grade(task, task.reference, sandbox).outcomes} == {"passed"}


def test_asserts_that_are_no_cases_keep_the_whole_test_with_its_setup(sandbox):
    row = {**FULL, "test_setup_code": "one = [1]", "test_list": ["assert add_one(one[0]) == 2"]}
    (task,) = load_tasks([row])
    assert task.visible == () and task.hidden == (Case((1000,), 1001, "equal"),)
    assert task.test_code == (
        "one = [1]\nassert add_one(one[0]) == 2\nassert add_one(10**3) == 1001\n"
    )
    verdict = grade(task, task.reference, sandbox)
    assert (verdict.mode, verdict.status) == ("split", "ok")
    assert [o.status for o in verdict.outcomes] == ["passed"] * 3
    wrong = grade(task, "def add_one(x):\n    return x + 2\n", sandbox)
    assert [o.status for o in wrong.outcomes] == ["wrong"] * 3
    assert wrong.outcomes[1].message == "add_one(one[0]) got 3 want 2"


def test_an_assert_about_no_function_of_the_code_is_refused():
    with pytest.raises(ValueError) as error:
        load_tasks([{**FULL, "test_list": ["assert other(1) == 2"]}])
    assert str(error.value) == (
        "rows, row 1: field 'test_list': expected an assert that calls a function of 'code' "
        "(['add_one', 'helper']), got 'assert other(1) == 2'; nothing was loaded"
    )


def test_a_program_that_keeps_state_sees_each_call_once(sandbox):
    code = "seen = []\ndef count(x):\n    seen.append(x)\n    return len(seen)\n"
    tests = ["assert count(5) == 1", "assert count(5) == 2"]
    (task,) = load_tasks([{**FULL, "code": code, "test_list": tests, "challenge_test_list": []}])
    verdict = grade(task, task.reference, sandbox)
    assert [o.status for o in verdict.outcomes] == ["passed", "passed"]


def test_a_field_named_test_is_kept():
    (task,) = load_tasks([{**FULL, "test": "inputs = [[1]]"}])
    assert task.extra == {"test": "inputs = [[1]]"} and len(task.hidden) == 3
