"""What a person is told about a broken row: which field, what was expected, what to do."""

import json
import math

import pytest

from workbench.tasks import load_tasks

GOOD = {
    "statement": "double x",
    "entry_point": "f",
    "reference": "def f(x):\n    return 2 * x\n",
    "cases": [[[1], 2], [[3], 6], [[0], 0]],
}
HUMANEVAL = {
    "prompt": "def f(x):\n",
    "canonical_solution": "    return x\n",
    "test": "def check(candidate):\n    assert candidate(1) == 1\n",
    "entry_point": "f",
}
LAST = "; nothing was loaded"


def without(row, name):
    return {key: value for key, value in row.items() if key != name}


BROKEN_ROWS = {
    "not an object": (7, "expected an object with fields, got int 7"),
    "a list": (
        [1, 2],
        "expected an object with fields, got list [1, 2]; expected one object a line (a file that "
        "is one list ends in .json)",
    ),
    "an empty id": ({**GOOD, "task_id": ""}, "field 'task_id': expected some text, got ''"),
    "a tests file that is not there": (
        {**GOOD, "files": {"a.py": ""}, "reference": {"a.py": "f = 1"}, "tests_file": "t.py"},
        "field 'tests_file': expected one of the files ['a.py'], got 't.py'",
    ),
    "a hack outside": (
        {**GOOD, "known_hacks": [{"../x.py": ""}]},
        "expected a path inside the workspace such as 'lib.py', got '../x.py'",
    ),
    "a reference outside": (
        {**GOOD, "reference": {"solution.py": "f = 1", "a//b.py": ""}, "entry_file": "solution.py"},
        "expected a path inside the workspace such as 'lib.py', got 'a//b.py'",
    ),
    "a file outside": (
        {**GOOD, "files": {"/f.py": "f = 1", "t.py": ""}, "entry_file": "t.py"},
        "expected a path inside the workspace such as 'lib.py', got '/f.py'",
    ),
    "an entry file outside": (
        {**GOOD, "entry_file": "../f.py", "reference": {"f.py": "f = 1"}},
        "expected a path inside the workspace such as 'lib.py', got '../f.py'",
    ),
    "a mistake outside": (
        {**GOOD, "wrong": [{"files": {"./x.py": ""}}]},
        "expected a path inside the workspace such as 'lib.py', got './x.py'",
    ),
    "a mistake that is not Python": (
        {**GOOD, "wrong": ["def f(x): return x", "def f(x) return x"]},
        "field 'wrong'[1], solution.py: expected Python, got a syntax error in line 1: expected "
        "':'",
    ),
    "a mistake caught by no case": (
        {**GOOD, "wrong": [{"files": "def f(x): return x", "fails": ["hidden:1", "hidden:2"]}]},
        "field 'wrong'[0], fails: expected names of outcomes such as 'hidden:1', of 2 visible and "
        "1 hidden, got ['hidden:2']",
    ),
    "another beginning": (
        {**GOOD, "beginning": "def g(x):\n"},
        "reference, solution.py: expected it to start with the field 'beginning' "
        "'def g(x):\\n', got 'def f(x):\\n    return 2 * x\\n'",
    ),
    "extra that is no object": (
        {**GOOD, "extra": "mine"},
        "field 'extra': expected an object, got str 'mine'",
    ),
    "limit without end": (
        {**GOOD, "limits": {"cpu_s": math.inf}},
        "field 'limits': expected numbers above 0 and at most 1000000, got Limits(cpu_s=inf, "
        "wall_s=20.0, memory_mb=512, output_kb=64)",
    ),
    "limit that is no number": (
        {**GOOD, "limits": {"wall_s": math.nan}},
        "field 'limits': expected numbers above 0 and at most 1000000, got Limits(cpu_s=1.0, "
        "wall_s=nan, memory_mb=512, output_kb=64)",
    ),
    "limit too large": (
        {**GOOD, "limits": {"memory_mb": 10**30}},
        "field 'limits': expected numbers above 0 and at most 1000000, got Limits(cpu_s=1.0, "
        f"wall_s=20.0, memory_mb={10**30}, output_kb=64)",
    ),
    "missing field": (
        without(GOOD, "entry_point"),
        "field 'entry_point' is missing, the row has ['cases', 'reference', 'statement']; a row of "
        "format simple: statement, entry_point, reference, and cases (or visible and hidden)",
    ),
    "missing field of HumanEval": (
        without(HUMANEVAL, "test"),
        "field 'test' is missing, the row has ['canonical_solution', 'entry_point', 'prompt']; a "
        "row of format humaneval: prompt, canonical_solution, test, entry_point",
    ),
    "wrong type": ({**GOOD, "statement": 7}, "field 'statement': expected str, got int 7"),
    "wrong type inside": (
        {**GOOD, "limits": {"cpu": 3}},
        "field 'limits': unknown fields ['cpu']; known are ['cpu_s', 'memory_mb', "
        "'output_kb', 'wall_s']",
    ),
    "limit of nothing": (
        {**GOOD, "limits": {"cpu_s": 0}},
        "field 'limits': expected numbers above 0 and at most 1000000, got Limits(cpu_s=0.0, "
        "wall_s=20.0, memory_mb=512, output_kb=64)",
    ),
    "no hidden case": (
        {**without(GOOD, "cases"), "visible": [[[1], 2]]},
        "no hidden cases: nothing would decide; give 'hidden', or 'cases' with at least 3 (the "
        "first 2 become visible)",
    ),
    "two cases": (
        {**GOOD, "cases": [[[1], 2], [[3], 6]]},
        "field 'cases': expected at least 3, got 2: the first 2 become visible, the rest decides; "
        "add cases, or give 'hidden' instead",
    ),
    "cases twice": (
        {**GOOD, "hidden": [[[1], 2]]},
        "expected either 'cases' or 'visible' and 'hidden', got both",
    ),
    "vacuous tests": (
        {**HUMANEVAL, "test": "def check(candidate):\n    assert True\n"},
        "no tests: nothing would decide whether a solution is right; add asserts or cases",
    ),
    "no check": (
        {**HUMANEVAL, "test": "assert f(1) == 1\n"},
        "field 'test': expected one function check(candidate), got []",
    ),
    "tests that are not Python": (
        {**HUMANEVAL, "test": "def check(candidate)\n    assert candidate(1) == 1\n"},
        "field 'test': expected Python, got a syntax error in line 1: expected ':'",
    ),
    "entry point": (
        {**GOOD, "entry_point": "my func"},
        "field 'entry_point': expected the name of a function such as 'solve', got 'my func'",
    ),
    "no entry point": (
        {**GOOD, "entry_point": ""},
        "visible:1: a task without entry_point is a program; expected one text for standard input, "
        "got (1,)",
    ),
    "a program's output that is no text": (
        {**GOOD, "entry_point": "", "cases": [["1", "2"], ["3", "6"], ["4", 8]]},
        "hidden:1: a task without entry_point is a program; expected the text for standard output, "
        'or {"stdout": text, "exit_code": 0 to 255} with one of the two or both, got 8',
    ),
    "a program's exit code that no process has": (
        {**GOOD, "entry_point": "", "cases": [["1", {"exit_code": 256}]] * 3},
        "visible:1: a task without entry_point is a program; expected the text for standard "
        'output, or {"stdout": text, "exit_code": 0 to 255} with one of the two or both, got '
        "{'exit_code': 256}",
    ),
    "a language that is not there": (
        {**GOOD, "entry_point": "", "language": "cobol", "cases": [["1", "2"]] * 3},
        "language: expected one of ['c', 'javascript', 'python'], got 'cobol'",
    ),
    "a function that is not in Python": (
        {**GOOD, "language": "c"},
        "field 'language': functions can be called in Python only, got 'c'; write the task as a "
        'program that reads standard input (entry_point "")',
    ),
    "too much output": (
        {**GOOD, "limits": {"output_kb": 10**6}},
        "field 'limits': expected output_kb from 0 to 65536, got 1000000",
    ),
    "reference is not Python": (
        {**GOOD, "reference": "def f(x):\n    return 2 x\n"},
        "reference, solution.py: expected Python, got a syntax error in line 2: invalid syntax",
    ),
    "reference of another name": (
        {**GOOD, "reference": "def g(x):\n    return 2 * x\n"},
        "reference, solution.py: expected it to define the entry point 'f', got ['g']",
    ),
    "which file": (
        {**GOOD, "files": {"a.py": "", "b.py": ""}},
        "field 'entry_file' is missing: which of ['a.py', 'b.py'] defines 'f'?",
    ),
    "path outside": (
        {**GOOD, "reference": {"../f.py": "def f(x): return 2 * x\n"}},
        "expected a path inside the workspace such as 'lib.py', got '../f.py'",
    ),
    "data that is not plain": (
        {**GOOD, "cases": [[[1], {"int": 5}], [[3], 6], [[0], 0]]},
        "field 'cases', case 1: tag 'int': expected text, got 5; a dict whose only key is a tag's "
        'name is written {"dict": [[key, value]]}',
    ),
    "args that are no list": (
        {**GOOD, "cases": [[[1], 2], [3, 6], [[0], 0]]},
        "field 'cases', case 2: expected args as a list such as [3], got int 3",
    ),
    "a case of another form": (
        {**GOOD, "cases": [[[1], 2], [[3], 6], {"input": [0]}]},
        'field \'cases\', case 3: expected {"args": [...], "expected": ...} or [[args...], '
        "expected], got {'input': [0]}",
    ),
    "tolerance": (
        {**GOOD, "cases": [[[1], 2], [[3], 6], {"args": [0], "expected": 0, "tolerance": 0.1}]},
        'field \'cases\', case 3: expected a tolerance above 0 with comparison "close" and none '
        "otherwise, got comparison 'same' and tolerance 0.1",
    ),
    "lengths": (
        {"question": "q", "inputs": ["1", "2"], "outputs": ["1"]},
        "fields 'inputs' and 'outputs': expected as many outputs as inputs, got 2 inputs and 1 "
        "outputs",
    ),
    "a call without a name": (
        {"question": "q", "inputs": [[1, 2]], "outputs": [3]},
        "field 'inputs', test 1: expected text or a list of lines (no function name is given, so "
        "this is a program), got list [1, 2]",
    ),
    "an empty text": (
        {"question": "q", "input_output": ""},
        "field 'input_output': no tests, the text is empty; leave the row out",
    ),
    "JSON within a text": (
        {"question": "q", "input_output": "{inputs"},
        "field 'input_output': expected JSON, got '{inputs' (Expecting property name enclosed in "
        "double quotes: line 1 column 2 (char 1))",
    ),
    "another language": (
        {"prompt": "q", "verification_info": {"language": "cpp", "test_cases": []}},
        "field 'verification_info', language: expected one of ['c', 'javascript', 'python'], got "
        "'cpp'; leave rows of other languages out",
    ),
    "SWE-smith": (
        {"instance_id": "a__b-1", "repo": "a/b", "patch": "", "image_name": "a.b"},
        "a SWE-smith row: its patch makes the bug, where a SWE-bench row's mends it; apply it to "
        "the repository, and give the bug's removal as `patch` and the tests as `test_patch`",
    ),
    "SWE-bench": (
        {"instance_id": "a__b-1", "repo": "a/b", "patch": "", "test_patch": "",
         "problem_statement": "x", "FAIL_TO_PASS": "[1]"},
        "field 'FAIL_TO_PASS': expected a list of test ids, got [1]",
    ),
}


@pytest.mark.parametrize("name", BROKEN_ROWS)
def test_a_broken_row_is_explained(tmp_path, monkeypatch, name):
    row, message = BROKEN_ROWS[name]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.jsonl").write_text(json.dumps(GOOD) + "\n" + json.dumps(row) + "\n")
    with pytest.raises(ValueError) as error:
        load_tasks("t.jsonl")
    assert str(error.value) == f"t.jsonl, line 2: {message}{LAST}"
