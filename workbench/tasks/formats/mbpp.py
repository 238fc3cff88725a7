"""MBPP rows, as published in full and sanitized.

Stage: tasks (reading other projects' files). In full: {task_id, text, code, test_list,
test_setup_code, challenge_test_list}; sanitized: {task_id, prompt, code, test_list, test_imports}.
The text alone does not name the function, so the statement ends with the first assert. All of
test_list and challenge_test_list is hidden, the first included, as all of it decides in the
benchmark; no case is visible too, because a program that keeps state between calls must see each
call once.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from workbench.records import Limits, Task
from workbench.tasks.formats.asserts import convert
from workbench.tasks.formats.checking import defined_names, parse
from workbench.tasks.formats.fields import ENTRY_FILE, Place, Row, first_of, get, shared, task_id

LIMITS = Limits(cpu_s=3.0)
_TEXTS = tuple[str, ...]
USED = {
    "task_id", "text", "prompt", "code", "test_list", "test_setup_code", "challenge_test_list",
    "test_imports",
}  # fmt: skip


def read_mbpp(row: Row, place: Place) -> Task:
    """The task of one row; the text of its tests is in `test_code`, or else in `extra["test"]`.

    A field `test` of the row's own (MBPP+ has one) stays in `extra` as it is.
    """
    code, asserts = get(row, "code"), get(row, "test_list", _TEXTS)
    if not asserts:
        raise ValueError("field 'test_list': expected at least one assert, got an empty list")
    name = _function(code, asserts[0])
    before = (*get(row, "test_imports", _TEXTS, ()), get(row, "test_setup_code", str, ""))
    test = _text((*before, *asserts, *get(row, "challenge_test_list", _TEXTS, ())))
    found = convert(parse(test, "the tests").body, name)
    common = shared(row, place, "mbpp", USED)
    if not found.left:
        common["extra"].setdefault("test", test)
    statement = first_of(row, ("text", "prompt"))
    return Task(
        task_id=task_id(row, ("task_id",), place, "MBPP/"),
        statement=f"{statement}\n\nThe solution must pass this test:\n{asserts[0]}\n",
        entry_point=name,
        entry_file=ENTRY_FILE,
        files={},
        visible=(),
        hidden=found.cases,
        reference={ENTRY_FILE: code},
        test_code=test if found.left else "",
        limits=LIMITS,
        suite="mbpp",
        **common,
    )


def _text(parts: Sequence[str]) -> str:
    return "".join(f"{part.rstrip()}\n" for part in parts if part.strip())


def _function(code: str, first_assert: str) -> str:
    """The function under test: of those that `code` defines, the first one the assert calls."""
    defined = defined_names(parse(code, "field 'code'"))
    for node in ast.walk(parse(first_assert, "field 'test_list'")):
        if isinstance(node, ast.Call) and getattr(node.func, "id", None) in defined:
            return node.func.id
    raise ValueError(
        f"field 'test_list': expected an assert that calls a function of 'code' "
        f"({sorted(defined)}), got {first_assert!r:.80}"
    )
