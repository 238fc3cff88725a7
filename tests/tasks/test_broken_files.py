"""What a person is told about a broken file: where, which field, what was expected, what to do."""

import gzip
import json

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
    "not an object": ([1, 2], "expected an object with fields, got list [1, 2]"),
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
        "field 'limits': unknown fields ['cpu']; known are ['cpu_s', 'memory_mb', 'wall_s']",
    ),
    "limit of nothing": (
        {**GOOD, "limits": {"cpu_s": 0}},
        "field 'limits': expected numbers above 0, got Limits(cpu_s=0.0, wall_s=20.0, "
        "memory_mb=512)",
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
        "field 'entry_point': expected the name of a function, got ''; a program that reads "
        "standard input is a row with question, inputs and outputs",
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
        "field 'verification_info', language: expected 'python', got 'cpp'; leave rows of other "
        "languages out",
    ),
    "SWE-bench": (
        {"instance_id": "a__b-1", "repo": "a/b", "patch": ""},
        "a SWE-bench row, which is not supported yet: it needs a repository and a container; leave "
        "it out",
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


LIST_HINT = "; expected one object a line (a file that is one list ends in .json)"
GZIP_HINT = "; if it is plain text, take .gz off its name; if it is cut off, fetch it again"
NOT_GZIP = "t.jsonl.gz: expected gzip data, as the name says"
GOOD_LINE = json.dumps(GOOD).encode() + b"\n"
BROKEN_FILES = {
    "not JSON": (
        "t.jsonl",
        GOOD_LINE + b'{"statement": \n',
        "t.jsonl, line 2: not JSON: Expecting value at column 15, in '{\"statement\":'"
        + LIST_HINT
        + LAST,
    ),
    "nested too deeply": (
        "t.jsonl",
        b"[" * 100_000,
        "t.jsonl, line 1: expected JSON, got one nested too deeply" + LAST,
    ),
    "not UTF-8": (
        "t.jsonl",
        b'{"statement": "caf\xe9"}\n',
        "t.jsonl, line 1: not UTF-8: byte 0xe9 at position 19; save the file as UTF-8" + LAST,
    ),
    "not gzip": (
        "t.jsonl.gz",
        GOOD_LINE,
        NOT_GZIP + " (Not a gzipped file (b'{\"'))" + GZIP_HINT,
    ),
    "half a gzip": (
        "t.jsonl.gz",
        gzip.compress(GOOD_LINE)[:-12],
        NOT_GZIP
        + " (Compressed file ended before the end-of-stream marker was reached)"
        + GZIP_HINT,
    ),
    "empty": ("t.jsonl", b" \n", "t.jsonl is empty: expected tasks, one JSON object a line"),
    "empty list": (
        "t.json",
        b"[]",
        "t.json is empty: expected a list of at least one task, got []",
    ),
    "one object": (
        "t.json",
        GOOD_LINE,
        "t.json: expected a list of objects, got dict; put the rows in [ ]",
    ),
    "lines in a .json file": (
        "t.json",
        b"{}\n{}\n",
        "t.json: not JSON: Extra data: line 2 column 1 (char 3); one object a line is a .jsonl "
        "file",
    ),
    "the same id twice": (
        "t.jsonl",
        b"".join(
            json.dumps({**GOOD, "task_id": name, "statement": str(number)}).encode() + b"\n"
            for number, name in enumerate("abab")
        ),
        "t.jsonl: the same task_id twice: 'a' in lines 1 and 3, 'b' in lines 2 and 4; give each "
        "task its own id (a row without one gets its file's name and number)",
    ),
    "many broken lines": (
        "t.jsonl",
        GOOD_LINE + b"7\n" * 7,
        "t.jsonl: 7 of 8 lines are broken, nothing was loaded\n"
        + "".join(
            f"  line {n}: expected an object with fields, got int 7\n" for n in (2, 3, 4, 5, 6)
        )
        + "  and 2 more",
    ),
    "unknown fields": (
        "t.json",
        b'[{"colour": "red", "size": 3}]',
        "t.json, row 1: the fields ['colour', 'size'] belong to no known format; nothing was "
        "loaded\n"
        "  Known formats, and the fields of their rows:\n"
        '    records: "schema": 1 and the rest, as save_tasks writes it\n'
        "    open-r1: prompt, verification_info {language, test_cases}\n"
        "    livecodebench: question_content, public_test_cases, private_test_cases, starter_code, "
        "metadata\n"
        "    mbpp: text (or prompt), code, test_list, and test_setup_code or test_imports\n"
        "    humaneval: prompt, canonical_solution, test, entry_point\n"
        "    apps: question, input_output {inputs, outputs, fn_name}, or these three alone\n"
        "    simple: statement, entry_point, reference, and cases (or visible and hidden)",
    ),
}


@pytest.mark.parametrize("name", BROKEN_FILES)
def test_a_broken_file_is_explained(tmp_path, monkeypatch, name):
    file, data, message = BROKEN_FILES[name]
    monkeypatch.chdir(tmp_path)
    (tmp_path / file).write_bytes(data)
    with pytest.raises(ValueError) as error:
        load_tasks(file)
    assert str(error.value) == message


CHOICES = "give a suite's name or the path of a .jsonl or .json file, each also .gz"
BROKEN_CALLS = [
    (
        ("bugfixs",),
        "'bugfixs' is neither a suite (bugfix, functions, warmup) nor an existing file; did you "
        f"mean 'bugfix'? Otherwise {CHOICES}",
    ),
    (
        ("no/such.jsonl",),
        "'no/such.jsonl' is neither a suite (bugfix, functions, warmup) nor an existing file; "
        + CHOICES,
    ),
    ((".",), "'.' is a folder; give the path of one file in it"),
    (([],), "rows: expected at least one row, got none"),
    (([3],), "rows, row 1: expected an object with fields, got int 3; nothing was loaded"),
    ((5,), "source: expected a suite, a path or a list of dicts, got int"),
    (
        ({"train": [GOOD]},),
        "source: expected a suite, a path or a list of dicts, got dict; choose one split, "
        "source['train'] say",
    ),
    (
        ([GOOD], "dev"),
        "rows: no task of split 'dev'; its tasks name no split; give one of those, or leave split "
        "out to load all",
    ),
    (("bugfix", None, None, "apps"), "format: expected none for the suite 'bugfix', got 'apps'"),
    (
        ([{**GOOD, "when": 1j}],),
        "rows, row 1: field 'when': expected plain JSON, got complex (Object of type complex is "
        "not JSON serializable); leave the field out, or make it text; nothing was loaded",
    ),
]


@pytest.mark.parametrize(("args", "message"), BROKEN_CALLS, ids=lambda value: repr(value)[:20])
def test_a_call_that_cannot_be_meant_is_explained(args, message):
    with pytest.raises(ValueError) as error:
        load_tasks(*args)
    assert str(error.value) == message


def test_an_unknown_format_lists_the_known_ones():
    with pytest.raises(ValueError, match="expected one of these, got 'humanevel'\n    records: "):
        load_tasks([GOOD], format="humanevel")
