"""open-r1 rows: {prompt, verification_info {language, test_cases: [{input, output, type}]}}.

Stage: tasks (reading other projects' files). Type "stdin_stdout" is a program, "function_call" a
call of `fn_name`; one row holds one of the two. `gold_standard_solution`, if it is there, is the
reference, taken out of its code fence. The first two cases are visible, if there are three.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from workbench.records import Case, Task
from workbench.sandbox.languages import LANGUAGES
from workbench.tasks.formats.fields import (
    Place,
    Row,
    entry_file,
    first_of,
    get,
    parsed,
    shared,
    shown_and_hidden,
    task_id,
)
from workbench.tasks.formats.programs import (
    LIMITS,
    call_case,
    first_reference,
    problem_statement,
    program_case,
    style_tags,
)

PROMPT = ("prompt", "problem", "problem_statement", "question")
USED = {"task_id", "problem_id", "in_source_id", *PROMPT, "verification_info"}
_FENCED = re.compile(
    r"```(?:py(?:thon)? ?[\d.]*|javascript|js|c)?[^\S\n]*\n(.*?)```", re.DOTALL | re.IGNORECASE
)
_CALL = "function_call"


def read_open_r1(row: Row, place: Place) -> Task:
    """The task of one row."""
    info = parsed(row, "verification_info")
    if not isinstance(info, Mapping):
        kind = type(info).__name__
        raise ValueError(f"field 'verification_info': expected an object, got {kind}")
    language = get(info, "language", str, "python").lower()
    language = "python" if language.startswith("python") else language
    if language not in LANGUAGES:
        raise ValueError(
            f"field 'verification_info', language: expected one of {sorted(LANGUAGES)}, got "
            f"{language!r}; leave rows of other languages out"
        )
    tests = get(info, "test_cases", list)
    name = _function(info, tests)
    visible, hidden = shown_and_hidden(
        [_case(t, name, f"field 'verification_info', test {n}") for n, t in enumerate(tests, 1)]
    )
    gold = get(row, "gold_standard_solution", str, "")
    reference = first_reference([_unfenced(gold)] if gold else [], name, language)
    used = USED | ({"gold_standard_solution"} if reference else set())
    common = shared(row, place, "open-r1", used)
    common["tags"] += style_tags("", reference)
    return Task(
        task_id=task_id(row, ("task_id", "problem_id", "in_source_id"), place, "open-r1/"),
        statement=problem_statement(first_of(row, PROMPT), "", name),
        entry_point=name,
        entry_file=entry_file(language),
        files={},
        visible=visible,
        hidden=hidden,
        reference=reference,
        language=language,
        limits=LIMITS,
        suite="open-r1",
        **common,
    )


def _function(info: Row, tests: list) -> str:
    """The function the tests call; "" for a program."""
    names = {
        test.get("fn_name") or info.get("fn_name") or ""
        for test in tests
        if isinstance(test, Mapping) and test.get("type") == _CALL
    }
    if not names:
        return ""
    if len(names) > 1 or "" in names or not all(isinstance(name, str) for name in names):
        raise ValueError(
            f"field 'verification_info': expected one fn_name for all tests of type {_CALL!r}, "
            f"got {sorted(map(str, names))}"
        )
    return names.pop()


def _case(test: Any, name: str, where: str) -> Case:
    if not isinstance(test, Mapping) or not {"input", "output"} <= set(test):
        raise ValueError(f"{where}: expected {{input, output, type}}, got {test!r:.60}")
    wanted = _CALL if name else "stdin_stdout"
    if test.get("type", wanted) != wanted:
        raise ValueError(
            f"{where}: expected type {wanted!r} (a row is a program or a function, not both), "
            f"got {test['type']!r}"
        )
    build = call_case if name else program_case
    return build(test["input"], test["output"], where)


def _unfenced(text: str) -> str:
    found = _FENCED.search(text)
    return found[1] if found else text
