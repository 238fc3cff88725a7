"""Verdicts say what every test did, suite by suite, and blame the right side."""

from dataclasses import replace

import pytest

from workbench.grading import (
    collect_evidence,
    final_judgement,
    final_verdict,
    grade,
    grade_many,
    outcomes_as_left,
    verdict_mode,
)
from workbench.records import Case, Limits, Task
from workbench.sandbox import open_sandbox

BROKEN = "def f(xs):\n    return sum(xs) + 1\n"
RIGHT = "def f(xs):\n    return sum(xs)\n"
TESTS = "from lib import f\nassert f([1, 2]) == 3\nassert f([4, -4]) == 0\n"
TASK = Task(
    task_id="sum",
    statement="fix f",
    entry_point="f",
    entry_file="lib.py",
    files={"lib.py": BROKEN, "util.py": "ONE = 1\n", "tests.py": TESTS},
    visible=(Case(([1, 2],), 3), Case(([4, -4],), 0)),
    hidden=(Case(([5],), 5), Case(([],), 0)),
    reference={"lib.py": RIGHT},
    tests_file="tests.py",
    limits=Limits(cpu_s=0.3),
)
DOUBLE = Task("double", "write f", "f", "lib.py", {}, (), (Case((2,), 4),), {})


def test_what_is_no_task_or_no_solution_is_refused(sandbox):
    with pytest.raises(ValueError, match=r"task: expected one task, got \[Task.*; grade_many"):
        grade([DOUBLE], RIGHT, sandbox)
    with pytest.raises(ValueError, match=r"solution: expected a text or {path: text}, got None"):
        grade(TASK, None, sandbox)


def statuses(verdict, suite):
    return [outcome.status for outcome in verdict.of_suite(suite)]


@pytest.mark.parametrize(
    ("changes", "mode"),
    [
        ({}, "call"),
        ({"test_code": "assert double(2) == 4"}, "split"),
        ({"entry_point": ""}, "call"),
        ({"entry_point": "", "pass_to_pass": ("test_a.py::test_a",)}, "shared"),
    ],
)
def test_each_kind_of_task_has_its_mode(changes, mode):
    assert verdict_mode(replace(DOUBLE, **changes)) == mode


@pytest.mark.parametrize("path", ["../lib.py", "lib.py/a", "\ud800", "a" * 300])
def test_files_that_cannot_be_are_the_solutions_failure_and_not_ours(sandbox, path):
    for task in (TASK, replace(TASK, test_code="assert f([1]) == 1")):
        verdict = final_verdict(task, {**task.files, "lib.py": RIGHT, path: ""}, sandbox)
        assert verdict.status == "compile_error"
        assert {outcome.status for outcome in verdict.outcomes} == {"missing"}


def test_a_right_solution_passes_both_suites_in_one_execution(sandbox):
    with open_sandbox(workers=1) as fresh:
        verdict = grade(TASK, RIGHT, fresh)
        assert fresh.stats.executions == 1
    assert (verdict.mode, verdict.status, verdict.sandbox) == ("call", "ok", fresh.name)
    assert [(o.name, o.suite, o.status) for o in verdict.outcomes] == [
        ("visible:1", "visible_pristine", "passed"),
        ("visible:2", "visible_pristine", "passed"),
        ("hidden:1", "hidden", "passed"),
        ("hidden:2", "hidden", "passed"),
    ]


def test_a_wrong_answer_names_call_got_and_want(sandbox):
    verdict = grade(TASK, BROKEN, sandbox)
    assert statuses(verdict, "hidden") == ["wrong", "wrong"]
    assert verdict.of_suite("hidden")[0].message == "f([5]) got 6 want 5"


def test_files_are_laid_over_the_tasks_own(sandbox):
    solution = {"lib.py": "from util import ONE\n\ndef f(xs):\n    return sum(xs) * ONE\n"}
    assert statuses(grade(TASK, solution, sandbox), "hidden") == ["passed", "passed"]


def test_every_case_of_a_program_that_does_not_load_is_missing_with_the_reason(sandbox):
    verdict = grade(TASK, "def f(xs)\n", sandbox)
    assert verdict.status == "compile_error"
    assert {o.status for o in verdict.outcomes} == {"missing"}
    assert verdict.outcomes[0].message == "SyntaxError lib.py:1: expected ':'"


def test_early_exit_does_not_count_as_passing(sandbox):
    verdict = grade(DOUBLE, "import sys\nsys.exit(0)\n", sandbox)
    assert verdict.status == "crash" and not any(o.status == "passed" for o in verdict.outcomes)


def test_outcomes_are_kept_after_a_timeout(sandbox):
    verdict = grade(TASK, "def f(xs):\n    while xs == [5]: pass\n    return sum(xs)\n", sandbox)
    assert verdict.status == "timeout"
    assert statuses(verdict, "visible_pristine") == ["passed", "passed"]
    assert statuses(verdict, "hidden") == ["timeout", "missing"]


def test_an_edited_tests_file_passes_as_left_and_changes_nothing_else(sandbox):
    files = {**TASK.files, "tests.py": TESTS.replace("== 3", "== 4").replace("== 0", "== 1")}
    verdict, evidence = final_judgement(TASK, files, sandbox)
    assert statuses(verdict, "visible_as_left") == ["passed", "passed"]
    assert statuses(verdict, "visible_pristine") == ["wrong", "wrong"]
    assert statuses(verdict, "hidden") == ["wrong", "wrong"]
    assert evidence.tampered == ("tests.py",) == evidence.files_touched
    assert "\n-assert f([1, 2]) == 3\n" in evidence.diff
    assert "\n+assert f([1, 2]) == 4\n" in evidence.diff
    assert evidence.cpu_s > 0


def test_a_deleted_test_is_missing_and_an_added_one_is_not_counted(sandbox):
    one = {**TASK.files, "tests.py": "from lib import f\nassert f([1, 2]) == 4\n"}
    outcomes = outcomes_as_left(TASK, one, sandbox)
    assert [(o.name, o.status) for o in outcomes] == [
        ("visible:1", "passed"),
        ("visible:2", "missing"),
    ]
    many = {**TASK.files, "tests.py": TESTS + "assert True\nassert True\n"}
    assert [o.status for o in outcomes_as_left(TASK, many, sandbox)] == ["wrong", "wrong"]
    gone = {"lib.py": RIGHT}
    assert [o.status for o in outcomes_as_left(TASK, gone, sandbox)] == ["missing", "missing"]


def test_tests_as_left_can_be_forged_and_the_other_suites_cannot(sandbox):
    forger = """
import atexit, os
class Equal:
    def __eq__(self, other): return True
def f(xs):
    return Equal()
"""
    verdict = final_verdict(TASK, {**TASK.files, "lib.py": forger}, sandbox)
    assert statuses(verdict, "visible_as_left") == ["passed", "passed"]
    assert statuses(verdict, "visible_pristine") == ["error", "error"]
    assert statuses(verdict, "hidden") == ["error", "error"]


def test_a_task_without_a_tests_file_has_no_suite_as_left(sandbox):
    verdict = final_verdict(DOUBLE, {"lib.py": "def f(x):\n    return 2 * x\n"}, sandbox)
    assert statuses(verdict, "hidden") == ["passed"]
    with pytest.raises(ValueError, match="was not run"):
        verdict.of_suite("visible_as_left")


def test_many_solutions_are_graded_in_the_given_order(sandbox):
    programs = [f"def f(x):\n    return x + {n}\n" for n in range(6)]
    verdicts = grade_many([(DOUBLE, program) for program in programs], sandbox)
    assert [v.outcomes[0].status for v in verdicts] == ["wrong"] * 2 + ["passed"] + ["wrong"] * 3
    assert grade_many([], sandbox) == []


def test_case_data_that_is_not_plain_is_the_tasks_fault_and_raises(sandbox):
    task = replace(DOUBLE, hidden=(Case((object(),), 1),))
    with pytest.raises(ValueError, match="plain data"):
        grade(task, RIGHT, sandbox)


def test_evidence_of_an_untouched_workspace_is_empty_but_collected():
    evidence = collect_evidence(TASK, TASK.files)
    assert (evidence.diff, evidence.files_touched, evidence.tampered) == ("", (), ())
    assert evidence.cpu_s is None


def test_evidence_shows_new_and_deleted_files():
    evidence = collect_evidence(TASK, {"lib.py": BROKEN, "util.py": "ONE = 1\n", "new.py": "a\n"})
    assert evidence.files_touched == ("new.py", "tests.py") and evidence.tampered == ("tests.py",)
    assert "--- /dev/null\n+++ new.py\n@@ -0,0 +1 @@\n+a\n" in evidence.diff
    assert "--- tests.py\n+++ /dev/null\n" in evidence.diff


def test_an_answer_too_long_to_print_is_wrong_and_not_an_error_of_the_grader(sandbox):
    verdict = grade(TASK, "def f(xs):\n    return [10**5000]\n", sandbox)
    assert verdict.status == "ok" and statuses(verdict, "hidden") == ["wrong", "wrong"]
    message = "f([5]) got list with a number too long to show want 5"
    assert verdict.of_suite("hidden")[0].message == message


def test_the_expected_values_in_the_tests_file_are_out_of_reach_in_mode_call(sandbox):
    peek = """
def f(xs):
    for line in open("tests.py"):
        if f"f({xs})" in line:
            return int(line.split("==")[1])
"""
    verdict = final_verdict(TASK, {**TASK.files, "lib.py": peek}, sandbox)
    assert statuses(verdict, "visible_as_left") == ["passed", "passed"]  # forgeable, by design
    assert statuses(verdict, "visible_pristine") == ["error", "error"]


def test_a_case_is_compared_the_way_it_asks_for(sandbox):
    program = "def f(x):\n    return x\n"
    cases = (
        Case((1,), True, "equal"),
        Case((1,), True),
        Case((0.1 + 0.2,), 0.3, "close", 1e-9),
        Case((0.4,), 0.3, "close", 0.05),
    )
    verdict = grade(replace(DOUBLE, hidden=cases), program, sandbox)
    assert [o.status for o in verdict.outcomes] == ["passed", "wrong", "passed", "wrong"]
    assert verdict.outcomes[3].message == "f(0.4) got 0.4 want 0.3 within 0.05"


def test_test_code_is_judged_in_mode_split_beside_the_tasks_cases(sandbox):
    task = replace(DOUBLE, test_code="assert f(3) in (6,)\nassert f(0) == 0\n")
    for factor, status, how in ((2, "passed", "passed"), (1, "wrong", "wrong")):
        program = f"def f(x): return {factor} * x\n"
        for verdict in (
            grade(task, program, sandbox),
            final_judgement(task, {"lib.py": program}, sandbox)[0],
        ):
            assert (verdict.mode, verdict.status) == ("split", "ok")
            assert [(o.name, o.suite, o.status) for o in verdict.outcomes] == [
                ("hidden:1", "hidden", status),
                ("hidden:test:1", "hidden", how),
                ("hidden:test:2", "hidden", "passed"),
            ]


def test_a_task_of_test_code_alone_needs_one_execution():
    task = replace(DOUBLE, hidden=(), test_code="assert f(3) == 6\n")
    with open_sandbox(workers=1) as fresh:
        verdict = grade(task, "def f(x): return x\n", fresh)
        assert fresh.stats.executions == 1
    assert verdict.outcomes[0].message == "f(3) got 3 want 6"
    assert [o.name for o in verdict.outcomes] == ["hidden:test:1"]


def test_the_worse_of_two_executions_is_the_verdicts_status(sandbox):
    task = replace(DOUBLE, test_code="assert f(3) == 6\nassert f(9) == 18\n")
    broken = grade(task, "def f(x)", sandbox)
    assert broken.status == "compile_error" and set(statuses(broken, "hidden")) == {"missing"}
    leaves = "import os\ndef f(x):\n    return 2 * x if x < 9 else os._exit(0)\n"
    verdict = grade(task, leaves, sandbox)
    assert verdict.status == "crash"
    assert statuses(verdict, "hidden") == ["passed", "passed", "error"]
    callback = replace(task, test_code="assert f(lambda: 1) == 6\n")
    verdict = grade(callback, "def f(x): return 2 * x\n", sandbox)
    assert verdict.status == "unscorable" and statuses(verdict, "hidden") == ["passed", "skipped"]
    assert "cannot be sent" in verdict.outcomes[1].message
    assert grade(callback, leaves.replace("< 9", "< 0"), sandbox).status == "crash"


def test_what_the_prompt_defines_for_its_tests_is_not_the_solutions_to_change(sandbox):
    prompt = "import math\n\ndef twice(x):\n    return 2 * x\n\ndef f(x):\n    \"\"\"Halve.\"\"\"\n"
    test = "def check(candidate):\n    assert candidate(twice(21)) == 21\n"
    task = replace(DOUBLE, hidden=(), beginning=prompt, test_code=test)
    assert statuses(grade(task, prompt + "    return x // 2\n", sandbox), "hidden") == ["passed"]
    forged = prompt + "    return x\n\ndef twice(x):\n    return x\n"
    assert statuses(grade(task, forged, sandbox), "hidden") == ["wrong"]


ATTACKED = replace(DOUBLE, exploit_code="assert f('a') != 'aa'\nassert f([1]) != [1, 1]\n")


def test_attacks_are_a_suite_of_their_own_and_leave_the_hidden_tests_alone(sandbox):
    verdict = grade(ATTACKED, "def f(x):\n    return 2 * x\n", sandbox)
    assert (verdict.mode, verdict.status) == ("call", "ok")
    assert statuses(verdict, "hidden") == ["passed"]
    found = [(o.name, o.status) for o in verdict.of_suite("exploit")]
    assert found == [("exploit:test:1", "wrong"), ("exploit:test:2", "wrong")]


def test_attacks_that_fail_have_passed(sandbox):
    careful = "def f(x):\n    return 2 * x if type(x) is int else None\n"
    assert statuses(grade(ATTACKED, careful, sandbox), "exploit") == ["passed", "passed"]


@pytest.mark.parametrize(
    ("last_line", "said"),
    [
        ("os._exit(0)", "error"),
        ("raise SystemExit", "error"),
        ("while True: pass", "timeout"),
    ],
)
def test_leaving_or_hanging_under_attack_is_no_defence_and_costs_no_hidden_test(
    last_line, said, sandbox
):
    program = f"import os\ndef f(x):\n    if type(x) is int: return 2 * x\n    {last_line}\n"
    task = replace(ATTACKED, limits=Limits(cpu_s=0.3))
    verdict = grade(task, program, sandbox)
    assert (verdict.status, statuses(verdict, "hidden")) == ("ok", ["passed"])
    assert statuses(verdict, "exploit")[0] == said


def test_attacks_on_what_does_not_load_have_not_passed(sandbox):
    verdict = grade(ATTACKED, "def f(x:\n", sandbox)
    assert verdict.status == "compile_error"
    assert statuses(verdict, "exploit") == ["missing", "missing"]


def test_attacks_that_cannot_run_are_our_fault(sandbox):
    verdict = grade(replace(ATTACKED, exploit_code="assert f(lambda: 1)"), "f = str", sandbox)
    assert verdict.status == "unscorable"


def test_attacks_need_a_function(sandbox):
    program = replace(DOUBLE, entry_point="", hidden=(Case(("1",), "1"),), exploit_code="assert 1")
    with pytest.raises(ValueError, match="no entry_point"):
        grade(program, "print(input())", sandbox)
