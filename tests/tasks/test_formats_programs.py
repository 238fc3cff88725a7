"""Competition problems: APPS, bare inputs and outputs, LiveCodeBench, open-r1; rows by hand."""

import base64
import json
import pickle
import zlib

import pytest

from workbench.grading import grade
from workbench.records import Case
from workbench.tasks import complete, load_tasks

ECHO = "print(int(input()) + 1)\n"
IMPORTS = (
    "from typing import *; from collections import *; from itertools import *; from functools "
    "import *; from heapq import *; from bisect import *; from string import *; from math import "
    "*; from operator import *; from builtins import *; import bisect, collections, functools, "
    "heapq, itertools, math, operator, random, re; import string, sys"
)
METHOD = "class Solution:\n    def plus(self, x, y=1):\n        return x + y\n"


def load_one(row):
    (task,) = load_tasks([row])
    return task


def test_apps_programs_are_stdin_and_stdout():
    io = {"inputs": ["1\n", "2\n", ["3", "4"]], "outputs": ["2\n", "3\n", ["4", "5"]]}
    row = {
        "problem_id": 7,
        "question": "Add one.",
        "input_output": json.dumps(io),
        "solutions": json.dumps(["print raw_input()", ECHO]),
        "starter_code": "",
        "difficulty": "interview",
    }
    task = load_one(row)
    assert (task.task_id, task.statement, task.entry_point) == ("APPS/7", "Add one.", "")
    assert task.visible == (Case(("1\n",), "2\n"), Case(("2\n",), "3\n"))
    assert task.hidden == (Case(("3\n4",), "4\n5"),)
    assert task.reference == {"solution.py": ECHO}  # the first one is Python 2
    assert task.extra == {"difficulty": "interview"}
    assert load_one({**row, "input_output": io}) == task


def test_apps_functions_are_calls_and_wrapped_outputs_are_unwrapped(sandbox):
    io = {"fn_name": "plus", "inputs": [[1, 1], [1, 2], [2, 2]], "outputs": [[2], [3], [4]]}
    row = {"question": "Add.", "input_output": io, "solutions": [METHOD]}
    task = load_one(row)
    assert task.visible == (Case((1, 1), 2, "equal"), Case((1, 2), 3, "equal"))
    assert task.hidden == (Case((2, 2), 4, "equal"),)
    module = f"{IMPORTS}\n{METHOD}\nplus = Solution().plus\n"
    assert task.reference == {"solution.py": module}
    assert {o.status for o in grade(task, task.reference, sandbox).outcomes} == {"passed"}
    assert {o.status for o in grade(task, complete(task, METHOD), sandbox).outcomes} == {"passed"}


def test_outputs_of_several_lengths_are_lists_that_the_function_returns():
    row = {"fn_name": "f", "inputs": [[1], [2], [{"a": 1}]], "outputs": [[1], [2, 2], []]}
    task = load_one(row)
    assert [case.expected for case in task.visible + task.hidden] == [[1], [2, 2], []]
    assert task.hidden[0].args == ({"a": 1},) and task.reference == {}
    assert task.statement == "Write the function f."


@pytest.mark.parametrize(
    ("outputs", "starter", "expected"),
    [
        ([[1], [2]], "", [1, 2]),
        ([[1]], "", [[1]]),  # one test says too little
        ([[1]], "def f(x) -> int:", [1]),
        ([[1], [2]], "def f(x) -> List[int]:", [[1], [2]]),
        ([[[1, 2]], [[]]], "def f(x) -> list[int]:", [[1, 2], []]),
        ([[[1, 2]], [[]]], "def f(x) -> List[List[int]]:", [[[1, 2]], [[]]]),
        ([[1], 2], "def f(x) -> int:", [[1], 2]),
        ([{"-2": {"3": 0}}, {"1": 5, "b": 6}], "", [{-2: {"3": 0}}, {"1": 5, "b": 6}]),
        ([[{"1": 5}], [{}]], "", [{1: 5}, {}]),
    ],
)
def test_which_outputs_of_functions_are_unwrapped(outputs, starter, expected):
    inputs = [[{"7": "7"}, number] for number in range(len(outputs))]
    task = load_one({"fn_name": "f", "inputs": inputs, "outputs": outputs, "starter_code": starter})
    cases = task.visible + task.hidden
    assert [case.expected for case in cases] == expected
    assert [case.args for case in cases] == [({7: "7"}, n) for n in range(len(outputs))]


def test_bare_programs_with_few_tests_hide_them_all():
    task = load_one({"inputs": ["1"], "outputs": ["2"]})
    assert (task.visible, task.hidden) == ((), (Case(("1",), "2"),))
    assert task.statement.startswith("Write a program that reads standard input")


LIVE = {
    "question_title": "Plus",
    "question_content": "Add.",
    "question_id": "p1",
    "starter_code": "class Solution:\n    def plus(self, x: int, y: int) -> int:\n        ",
    "public_test_cases": json.dumps([{"input": "1\n2", "output": "3", "testtype": "functional"}]),
    "private_test_cases": [
        {"input": "[1]\n\n[2]\n", "output": "[1, 2]", "testtype": "functional"},
        {"input": '"a\u2028b"\r\n""', "output": '"a\u2028b"', "testtype": "functional"},
    ],
    "metadata": '{"func_name": "plus"}',
}


def test_livecodebench_functions(sandbox):
    task = load_one(LIVE)
    assert (task.task_id, task.entry_point, task.reference) == ("p1", "plus", {})
    assert task.visible == (Case((1, 2), 3, "equal"),)
    assert task.hidden == (
        Case(([1], [2]), [1, 2], "equal"),
        Case(("a\u2028b", ""), "a\u2028b", "equal"),
    )
    assert task.statement == (
        "Add.\n\nclass Solution:\n    def plus(self, x: int, y: int) -> int:\n\n"
        "The file must import what it uses; this line imports what the problem's site does:\n"
        f"{IMPORTS}\n"
        "The file must end with the line: plus = Solution().plus"
    )
    assert complete(task, "oops (") == "oops ("
    assert {o.status for o in grade(task, complete(task, METHOD), sandbox).outcomes} == {"passed"}


TYPED = (
    "class Solution:\n"
    "    def plus(self, x: List[int], y: Optional[int] = None) -> int:\n"
    "        seen = Counter(x) + Counter([y])\n"
    "        return max(seen) + pow(13, 1, 10) + gcd(0, 1) - reduce(add, [0, 1])\n"
)


@pytest.mark.parametrize("first", ["", "from __future__ import annotations\n", "'words'\n"])
def test_a_method_may_use_the_names_that_its_site_imports(sandbox, first):
    io = {"fn_name": "plus", "inputs": [[[1, 3], 4]], "outputs": [7]}  # 4 + 3 + 1 - 1
    row = {"question": "Add.", "input_output": io, "solutions": [first + TYPED]}
    task = load_one(row)
    assert task.reference["solution.py"].count(IMPORTS) == 1
    for program in (task.reference["solution.py"], first + TYPED):
        verdict = grade(task, complete(task, program), sandbox)
        assert (verdict.status, [o.status for o in verdict.outcomes]) == ("ok", ["passed"])
    assert complete(task, task.reference["solution.py"]) == task.reference["solution.py"]


def test_lines_are_added_only_where_they_are_missing():
    task = load_one(LIVE)
    own = f"{METHOD}def plus(x, y):\n    return 7\n"
    assert complete(task, own) == f"{IMPORTS}\n{own}"
    assert complete(task, "def plus(x, y):\n    return 7\n") == "def plus(x, y):\n    return 7\n"
    assert complete(task, "") == ""  # else an import of that name could answer for it


def test_livecodebench_programs():
    tests = [{"input": "1\n", "output": "2\n", "testtype": "stdin"}]
    row = {
        **LIVE,
        "starter_code": "",
        "public_test_cases": tests,
        "private_test_cases": json.dumps(tests),
        "metadata": "{}",
    }
    task = load_one(row)
    assert task.entry_point == "" and task.visible == task.hidden == (Case(("1\n",), "2\n"),)


def test_packed_private_tests_are_refused_and_the_message_says_how_to_unpack_them():
    tests = json.dumps([{"input": "1", "output": "2", "testtype": "stdin"}])
    packed = base64.b64encode(zlib.compress(pickle.dumps(tests))).decode()
    with pytest.raises(ValueError) as error:
        load_one({**LIVE, "private_test_cases": packed})
    assert str(error.value) == (
        "rows, row 1: field 'private_test_cases': packed with pickle, which can execute anything "
        "when read, so it is not read here; unpack it once, where you trust the file, with "
        "json.loads(pickle.loads(zlib.decompress(base64.b64decode(text)))), and store the list "
        "itself; nothing was loaded"
    )


def test_open_r1_programs_and_functions(sandbox):
    io = [{"input": str(n), "output": str(n + 1), "type": "stdin_stdout"} for n in range(3)]
    row = {
        "problem_id": "vcp_1",
        "prompt": "Add one.",
        "gold_standard_solution": f"Here:\n```python\n{ECHO}```\n",
        "verification_info": json.dumps({"language": "python", "test_cases": io}),
    }
    task = load_one(row)
    assert (task.task_id, task.entry_point) == ("vcp_1", "")
    assert (len(task.visible), task.hidden) == (2, (Case(("2",), "3"),))
    assert task.reference == {"solution.py": ECHO}
    calls = [{"fn_name": "f", "input": [2], "output": 3, "type": "function_call"}]
    row["verification_info"] = {"language": "python", "test_cases": calls}
    row["gold_standard_solution"] = "def f(x):\n    return x + 1\n"
    task = load_one(row)
    assert task.hidden == (Case((2,), 3, "equal"),) and task.visible == ()
    assert {o.status for o in grade(task, task.reference, sandbox).outcomes} == {"passed"}


@pytest.mark.parametrize("language", ["python", "py", "python3", "Python 3", "PY3", ""])
def test_a_solution_is_taken_out_of_its_fence(language):
    row = {
        "prompt": "Add one.",
        "gold_standard_solution": f"Here:\n```{language}\n{ECHO}```\nDone.\n",
        "verification_info": {"test_cases": [{"input": "1", "output": "2"}]},
    }
    assert load_one(row).reference == {"solution.py": ECHO}
