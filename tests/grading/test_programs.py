"""Programs are graded by what they print, and by their exit code where a case says so."""

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from workbench.grading import close_output, final_judgement, grade, same_output
from workbench.records import Case, Limits, Task, from_json, to_json
from workbench.sandbox import languages, open_sandbox
from workbench.tasks import load_tasks, save_tasks

PLUS_ONE = "print(int(input()) + 1)\n"
TASK = Task(
    task_id="plus one",
    statement="print the next number",
    entry_point="",
    entry_file="main.py",
    files={},
    visible=(Case(("1\n",), "2\n"),),
    hidden=(Case(("5\n",), "6\n"), Case(("-1",), "0")),
    reference={"main.py": PLUS_ONE},
    limits=Limits(cpu_s=0.5),
)


def told(verdict):
    return [(o.name, o.suite, o.status) for o in verdict.outcomes]


def test_a_right_program_passes_every_case_in_mode_call(sandbox):
    verdict = grade(TASK, PLUS_ONE, sandbox)
    assert (verdict.mode, verdict.status, verdict.sandbox) == ("call", "ok", sandbox.name)
    assert told(verdict) == [
        ("visible:1", "visible_pristine", "passed"),
        ("hidden:1", "hidden", "passed"),
        ("hidden:2", "hidden", "passed"),
    ]


def test_a_wrong_line_names_what_was_read_printed_and_wanted(sandbox):
    verdict = grade(TASK, "print(int(input()) + 2)\n", sandbox)
    assert verdict.status == "ok"
    assert verdict.outcomes[1].status == "wrong"
    assert verdict.outcomes[1].message == r"reading '5\n' it printed '7\n' want '6\n'"


@pytest.mark.parametrize(
    ("got", "expected", "same"),
    [
        ("1 2\n", "1 2", True),
        ("1 2  \r\n\n\n", "1 2\n", True),
        ("a \nb", "a\nb\n", True),
        ("", "\n", True),
        ("1  2", "1 2", False),
        (" 1", "1", False),
        ("1\n\n2", "1\n2", False),
        ("1.0", "1", False),
        ("Yes", "YES", False),
        ("1 2 3", "1 2", False),
        ("", "0", False),
    ],
)
def test_white_space_at_the_ends_of_lines_and_of_the_text_does_not_count(got, expected, same):
    assert same_output(got, expected) is same


@pytest.mark.parametrize(
    ("got", "expected", "tolerance", "close"),
    [
        ("0.3333", "0.33333333", 1e-3, True),
        ("area:  0.5\n", "area: 0.50000001", 1e-6, True),
        ("1000000.5", "1000000", 1e-6, True),  # relative
        ("1e3", "1000", 1e-9, True),
        ("0.34", "0.33", 1e-3, False),
        ("0.5 0.5", "0.5", 1e-3, False),
        ("Area: 0.5", "area: 0.5", 1e-3, False),
        ("nan", "0.5", 1.0, False),
        ("inf", "1e400", 1.0, False),
        ("x", "0.5", 1.0, False),
    ],
)
def test_close_output_compares_word_by_word(got, expected, tolerance, close):
    assert close_output(got, expected, tolerance) is close


def test_only_a_case_that_says_close_has_a_tolerance(sandbox):
    cases = (Case(("",), "0.5", "close", 0.1), Case(("",), "0.5"))
    verdict = grade(replace(TASK, hidden=cases), "print(0.52)\n", sandbox)
    assert [o.status for o in verdict.of_suite("hidden")] == ["passed", "wrong"]
    far = grade(replace(TASK, hidden=cases[:1]), "print(0.9)\n", sandbox)
    assert far.outcomes[1].message == r"reading '' it printed '0.9\n' want '0.5' within 0.1"


def test_an_exit_code_nobody_asked_for_is_an_error_even_with_the_right_output(sandbox):
    verdict = grade(TASK, PLUS_ONE + "1 / 0\n", sandbox)
    assert [o.status for o in verdict.outcomes] == ["error"] * 3
    assert verdict.outcomes[0].message == "exit code 1: ZeroDivisionError: division by zero"


def test_a_case_may_ask_for_an_exit_code_with_or_without_output(sandbox):
    cases = (
        Case(("ok",), {"stdout": "ok", "exit_code": 0}),
        Case(("bad",), {"exit_code": 2}),
        Case(("worse",), {"stdout": "worse", "exit_code": 3}),
    )
    task = replace(TASK, visible=(), hidden=cases)
    right = "import sys\nx = input()\nprint(x)\nsys.exit({'ok': 0, 'bad': 2, 'worse': 3}[x])\n"
    assert [o.status for o in grade(task, right, sandbox).outcomes] == ["passed"] * 3
    always = grade(task, "import sys\nprint(input())\nsys.exit(2)\n", sandbox)
    assert [o.status for o in always.outcomes] == ["error", "passed", "wrong"]
    assert always.outcomes[2].message == "exit code got 2 want 3"
    assert from_json(Task, json.loads(json.dumps(to_json(task)))) == task


def test_a_program_that_does_not_compile_misses_every_case_and_runs_once():
    with open_sandbox(workers=1) as fresh:
        verdict = grade(TASK, "print(\n", fresh)
        assert fresh.stats.executions == 1
    assert verdict.status == "compile_error"
    assert {o.status for o in verdict.outcomes} == {"missing"}
    assert verdict.outcomes[2].message == "SyntaxError main.py:1: '(' was never closed"


def test_after_a_timeout_the_rest_is_not_run():
    with open_sandbox(workers=1) as fresh:
        verdict = grade(TASK, "x = int(input())\nwhile x == 5: pass\nprint(x + 1)\n", fresh)
        assert fresh.stats.executions == 2
    assert verdict.status == "timeout"
    assert [o.status for o in verdict.outcomes] == ["passed", "timeout", "missing"]


def test_after_a_crash_the_other_cases_still_count(sandbox):
    program = "x = int(input())\nif x == 1:\n    import ctypes; ctypes.string_at(0)\nprint(x + 1)\n"
    verdict = grade(TASK, program, sandbox)
    assert verdict.status == "crash"
    assert [o.status for o in verdict.outcomes] == ["error", "passed", "passed"]


def test_output_without_end_is_wrong_and_a_long_right_one_is_right(sandbox):
    lines = "7\n" * 200_000
    task = replace(TASK, visible=(), hidden=(Case(("",), lines),), limits=Limits(cpu_s=5.0))
    assert grade(task, "print('7\\n' * 200_000)\n", sandbox).outcomes[0].status == "passed"
    (outcome,) = grade(task, "print('7\\n' * 900_000)\n", sandbox).outcomes
    assert outcome.status == "wrong" and "it printed more than 844 KiB" in outcome.message


def test_a_program_cannot_forge_a_verdict(sandbox):
    for text in (
        "import os\nfor n in range(3, 64):\n    try: os.write(n, b'R.\\n')\n"
        "    except OSError: pass\nos._exit(0)\n",
        "import sys\nsys.exit(0)\n",
        "print(open('/expected').read() if __import__('os').path.exists('/expected') else 0)\n",
    ):
        verdict = grade(replace(TASK, visible=(), hidden=TASK.hidden[:1]), text, sandbox)
        assert [o.status for o in verdict.outcomes] == ["wrong"], text


def test_the_tests_file_and_a_workspace_are_as_for_functions(sandbox):
    task = replace(TASK, files={"tests.py": "", "lib.py": "ONE = 1\n"}, tests_file="tests.py")
    program = "import os\nfrom lib import ONE\nassert not os.path.exists('tests.py')\n"
    files = {**task.files, "main.py": program + "print(int(input()) + ONE)\n"}
    verdict, evidence = final_judgement(task, files, sandbox)
    assert [o.status for o in verdict.of_suite("hidden")] == ["passed", "passed"]
    assert evidence.cpu_s > 0


def test_a_language_without_its_toolchain_is_unscorable_and_never_wrong(sandbox, monkeypatch):
    row = replace(languages.LANGUAGES["c"], compile=("no-such-compiler",))
    monkeypatch.setitem(languages.LANGUAGES, "c", row)
    task = replace(TASK, language="c", entry_file="main.c")
    verdict = grade(task, "int main(void) { return 0; }", sandbox)
    assert verdict.status == "unscorable"
    assert {o.status for o in verdict.outcomes} == {"skipped"}
    assert "install GCC" in verdict.outcomes[2].message


ROWS = {
    "apps": {"problem_id": 7, "question": "Add one.", "solutions": json.dumps([PLUS_ONE]),
             "input_output": json.dumps({"inputs": ["1\n", "2\n", ["3"]],
                                         "outputs": ["2\n", "3", ["4", ""]]})},
    "livecodebench": {"question_id": "p1", "question_content": "Add one.", "starter_code": "",
                      "public_test_cases": [{"input": "1", "output": "2", "testtype": "stdin"}],
                      "private_test_cases": [{"input": "2", "output": "3 \n", "testtype": "stdin"}],
                      "metadata": "{}"},
    "open-r1": {"prompt": "Add one.", "gold_standard_solution": f"```python\n{PLUS_ONE}```",
                "verification_info": {"language": "python", "test_cases": [
                    {"input": "1", "output": "2", "type": "stdin_stdout"},
                    {"input": "2", "output": "3", "type": "stdin_stdout"},
                    {"input": "3", "output": "4", "type": "stdin_stdout"}]}},
    "bare": {"inputs": ["1", "2", "3"], "outputs": ["2", "3", "4"]},
    "simple": {"statement": "Add one.", "entry_point": "", "reference": PLUS_ONE,
               "cases": [["1", "2"], ["2", "3"],
                         {"args": ["3"], "expected": "4.0", "comparison": "close",
                          "tolerance": 1e-6}]},
}  # fmt: skip


@pytest.mark.parametrize("name", ROWS)
def test_rows_of_every_format_are_graded_from_end_to_end(sandbox, name):
    (task,) = load_tasks([ROWS[name]])
    assert (task.entry_point, task.language, task.entry_file) == ("", "python", "solution.py")
    for program, status in ((PLUS_ONE, "passed"), ("print(9)\n", "wrong"), ("1/0\n", "error")):
        verdict = grade(task, program, sandbox)
        assert verdict.status == "ok"
        assert {o.status for o in verdict.outcomes} == {status}
        assert len(verdict.outcomes) == len(task.visible) + len(task.hidden)
    if task.reference:
        assert {o.status for o in grade(task, task.reference, sandbox).outcomes} == {"passed"}


ADD_C = '#include <stdio.h>\nint main(void) { int x; scanf("%d", &x); printf("%d", x + 1); }\n'
ADD_JS = "console.log(Number(require('fs').readFileSync(0, 'utf8')) + 1)\n"


@pytest.mark.parametrize(
    ("language", "tool", "program", "entry_file"),
    [
        ("c", "gcc", ADD_C, "solution.c"),
        pytest.param("javascript", "node", ADD_JS, "solution.js", marks=pytest.mark.slow),
    ],
)
def test_rows_may_name_a_language(sandbox, tmp_path, language, tool, program, entry_file):
    rows = [
        {**ROWS["simple"], "language": language, "reference": program, "task_id": "a"},
        {**ROWS["bare"], "language": language, "solutions": [program], "task_id": "b"},
        {**ROWS["open-r1"], "gold_standard_solution": f"```{language}\n{program}```",
         "verification_info": {**ROWS["open-r1"]["verification_info"], "language": language},
         "task_id": "c"},
    ]  # fmt: skip
    del rows[0]["entry_point"]  # only Python has functions
    tasks = load_tasks(rows)
    for task in tasks:
        assert (task.language, task.entry_file) == (language, entry_file)
        assert task.reference == {entry_file: program}
    save_tasks(tasks, tmp_path / "tasks.jsonl")
    assert load_tasks(tmp_path / "tasks.jsonl") == tasks
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed")
    if sandbox.tier < 2:
        pytest.skip(f"tier {sandbox.tier} here: {sandbox.declined}")
    for task in tasks:
        verdict = grade(task, task.reference, sandbox)
        assert {o.status for o in verdict.outcomes} == {"passed"}, verdict
        verdict = grade(task, program.replace("1", "2"), sandbox)
        assert {o.status for o in verdict.outcomes} == {"wrong"}, verdict


@pytest.mark.slow
@pytest.mark.parametrize("pattern", ["*apps*", "*taco*", "*livecodebench*", "*open-r1*"])
def test_published_programs_pass_their_own_tests(sandbox, pattern):
    folder = Path(os.environ.get("WORKBENCH_DATA", "/nowhere"))
    files = sorted(path for path in folder.glob(f"{pattern}.json*"))
    if not files:
        pytest.skip(f"no file {pattern}.json* in the folder WORKBENCH_DATA names")
    tasks = [task for path in files for task in load_tasks(path)]
    tasks = [task for task in tasks if not task.entry_point and task.reference][:50]
    passed = [
        all(o.status == "passed" for o in grade(task, task.reference, sandbox).outcomes)
        for task in tasks
    ]
    assert sum(passed) >= 0.8 * len(tasks)
