"""LiveCodeBench rows: {question_content, public_test_cases, private_test_cases, starter_code,
metadata}.

Stage: tasks (reading other projects' files). A test is {input, output, testtype}: "stdin" for
programs, "functional" for calls of `metadata.func_name`, where the input holds one JSON value a
line, one for each argument. Public tests are visible, private ones hidden. The published private
tests are packed (base64, zlib, pickle); reading a pickle can execute anything, so it is refused.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

from workbench.records import Case, Task
from workbench.tasks.formats.fields import ENTRY_FILE, Place, Row, get, parsed, shared, task_id
from workbench.tasks.formats.programs import (
    LIMITS,
    call_case,
    problem_statement,
    program_case,
    style_tags,
)

USED = {
    "task_id", "question_id", "question_content", "public_test_cases", "private_test_cases",
    "starter_code",
}  # fmt: skip


def read_livecodebench(row: Row, place: Place) -> Task:
    """The task of one row; the benchmark publishes no solutions, so `reference` is empty."""
    starter = get(row, "starter_code", str, "")
    metadata = parsed(row, "metadata", {}) or {}
    name = get(metadata, "func_name", str, "") if isinstance(metadata, dict) else ""
    common = shared(row, place, "livecodebench", USED)
    common["tags"] += style_tags(starter, {})
    return Task(
        task_id=task_id(row, ("task_id", "question_id"), place, "LiveCodeBench/"),
        statement=problem_statement(get(row, "question_content"), starter, name),
        entry_point=name,
        entry_file=ENTRY_FILE,
        files={},
        visible=_cases(row, "public_test_cases", name, []),
        hidden=_cases(row, "private_test_cases", name),
        reference={},
        limits=LIMITS,
        suite="livecodebench",
        **common,
    )


def _cases(row: Row, field: str, name: str, *default: list) -> tuple[Case, ...]:
    value = row.get(field)
    if isinstance(value, str) and _is_packed(value):
        raise ValueError(
            f"field {field!r}: packed with pickle, which can execute anything when read, so it is "
            "not read here; unpack it once, where you trust the file, with json.loads("
            "pickle.loads(zlib.decompress(base64.b64decode(text)))), and store the list itself"
        )
    tests = parsed(row, field, *default)
    if not isinstance(tests, list):
        raise ValueError(f"field {field!r}: expected a list of tests, got {type(tests).__name__}")
    return tuple(_case(t, name, f"field {field!r}, test {n}") for n, t in enumerate(tests, 1))


def _is_packed(text: str) -> bool:
    """Whether it is base64 of what zlib wrote."""
    try:
        return base64.b64decode(text[:8], validate=True)[:1] == b"\x78"
    except ValueError:
        return False


def _case(test: Any, name: str, where: str) -> Case:
    if not isinstance(test, Mapping) or not {"input", "output"} <= set(test):
        raise ValueError(f"{where}: expected {{input, output, testtype}}, got {test!r:.60}")
    functional = test.get("testtype", "functional" if name else "stdin") == "functional"
    if functional != bool(name):
        raise ValueError(
            f"{where}: testtype {test.get('testtype')!r} and metadata.func_name {name!r} do not "
            'agree; "functional" needs a name and "stdin" has none'
        )
    if not functional:
        return program_case(test["input"], test["output"], where)
    lines = program_case(test["input"], test["output"], where)
    args = [_json(line, where) for line in lines.args[0].split("\n") if line.strip()]
    return call_case(args, _json(lines.expected, where), where)


def _json(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{where}: expected one JSON value, got {text!r:.60} ({error})") from None
