"""What a person is told about a broken file or call: where, what was expected, what to do."""

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
LAST = "; nothing was loaded"
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
    "gzip without its ending": (
        "t.jsonl",
        gzip.compress(GOOD_LINE),
        "t.jsonl: expected text, got gzip data; add .gz to its name",
    ),
    "a field twice": (
        "t.jsonl",
        b'{"hidden": [], "cases": [], "hidden": [[[1], 2]]}\n',
        "t.jsonl, line 1: the field 'hidden' comes twice in one object" + LAST,
    ),
    "a field twice in a list": (
        "t.json",
        b'[{"a": 1, "a": 2}]',
        "t.json: the field 'a' comes twice in one object",
    ),
    "a list in a .jsonl file": (
        "t.jsonl",
        b"[{}]",
        "t.jsonl, line 1: expected an object with fields, got list [{}]" + LIST_HINT + LAST,
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
        "    swe-bench: instance_id, repo, base_commit, problem_statement, patch, test_patch, "
        "FAIL_TO_PASS, PASS_TO_PASS, and image_name or files\n"
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
        "'bugfixs' is neither a suite (bugfix, functions, warmup, secure, repos) nor an "
        f"existing file; did you mean 'bugfix'? Otherwise {CHOICES}",
    ),
    (
        ("no/such.jsonl",),
        "'no/such.jsonl' is neither a suite (bugfix, functions, warmup, secure, repos) nor an "
        f"existing file; {CHOICES}",
    ),
    ((".",), "'.' is a folder; give the path of one file in it"),
    (([],), "rows: expected at least one row, got none"),
    (([3],), "rows, row 1: expected an object with fields, got int 3; nothing was loaded"),
    (("bugfix", "dev", -1), "count: expected 0 or more, or None for all, got -1"),
    (([GOOD], None, -1), "count: expected 0 or more, or None for all, got -1"),
    ((5,), "source: expected a suite, a path or a list of dicts, got int"),
    (
        ({"train": [GOOD]},),
        "source: expected a suite, a path or a list of dicts, got dict; choose one split, "
        "source['train'] say",
    ),
    (
        (GOOD,),
        "source: expected a suite, a path or a list of dicts, got dict; of a single row make a "
        "list, [row]",
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


def test_a_table_of_pandas_is_explained():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError) as error:
        load_tasks(pandas.DataFrame([GOOD]))
    assert str(error.value) == (
        "source: expected a suite, a path or a list of dicts, got DataFrame; give "
        "source.to_dict('records')"
    )


def test_an_unknown_format_lists_the_known_ones():
    with pytest.raises(ValueError, match="expected one of these, got 'humanevel'\n    records: "):
        load_tasks([GOOD], format="humanevel")
