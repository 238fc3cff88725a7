"""APPS and TACO rows, and bare inputs and outputs.

Stage: tasks (reading other projects' files). {question, input_output, solutions?, starter_code?}
where `input_output` is {"inputs", "outputs", "fn_name"?} as an object or as JSON within a text; or
those three beside the question, or alone. The first two cases are visible, if there are three.
A row of your own may name the `language` that a program is to be written in.

Habits of these collections. With `fn_name`, outputs are often wrapped in a list of one item. The
published judge takes either value; a case has one, so this is the rule: lists of one item in all
tests are unwrapped if they are nested deeper than the starter code's annotation `-> List[...]`
says, or, without an annotation, if there are two tests or more. Objects whose keys are all whole
numbers stand for dicts of whole numbers. A solution may be in Python 2: the first one that parses
and defines the function is the reference. JSON has no tuples, so a solution that returns one where
the published judge would have taken it for a list does not pass here.
"""

from __future__ import annotations

import re
from typing import Any

from workbench.records import Case, Task
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

QUESTION = ("question", "statement", "prompt", "description")
USED = {
    "task_id", "problem_id", "id", *QUESTION, "input_output", "inputs", "outputs", "fn_name",
    "starter_code", "language",
}  # fmt: skip
_WHOLE = re.compile(r"-?[0-9]{1,18}")
_RETURNS = re.compile(r"->\s*((?:List\[|list\[)*)")


def read_apps(row: Row, place: Place) -> Task:
    """The task of one row: a function if `fn_name` is given, else a program."""
    if row.get("input_output") == "":
        raise ValueError("field 'input_output': no tests, the text is empty; leave the row out")
    tests = parsed(row, "input_output") if row.get("input_output") is not None else row
    if not isinstance(tests, dict):
        kind = type(tests).__name__
        raise ValueError(f"field 'input_output': expected an object with inputs, got {kind}")
    name = get(tests, "fn_name", str, "")
    starter = get(row, "starter_code", str, "")
    visible, hidden = shown_and_hidden(_cases(tests, name, starter))
    language = get(row, "language", str, "python")
    reference = first_reference(_solutions(row), name, language)
    common = shared(row, place, "apps", USED | ({"solutions"} if reference else set()))
    common["tags"] += style_tags(starter, reference)
    return Task(
        task_id=task_id(row, ("task_id", "problem_id", "id"), place, "APPS/"),
        statement=problem_statement(first_of(row, QUESTION, str, _task_of(name)), starter, name),
        entry_point=name,
        entry_file=entry_file(language),
        files={},
        visible=visible,
        hidden=hidden,
        reference=reference,
        language=language,
        limits=LIMITS,
        suite="apps",
        **common,
    )


def _task_of(name: str) -> str:
    """What a row without a question asks for."""
    if name:
        return f"Write the function {name}."
    return "Write a program that reads standard input and writes to standard output."


def _cases(tests: Row, name: str, starter: str) -> list[Case]:
    inputs, outputs = get(tests, "inputs", list), get(tests, "outputs", list)
    if len(inputs) != len(outputs):
        raise ValueError(
            f"fields 'inputs' and 'outputs': expected as many outputs as inputs, got "
            f"{len(inputs)} inputs and {len(outputs)} outputs"
        )
    if not name:
        pairs = enumerate(zip(inputs, outputs), 1)
        return [program_case(i, o, f"field 'inputs', test {n}") for n, (i, o) in pairs]
    if _are_wrapped(outputs, starter):
        outputs = [output[0] for output in outputs]
    inputs = [list(map(_whole_keys, i)) if isinstance(i, list) else i for i in inputs]
    pairs = enumerate(zip(inputs, map(_whole_keys, outputs)), 1)
    return [call_case(i, o, f"field 'inputs', test {n}") for n, (i, o) in pairs]


def _are_wrapped(outputs: list, starter: str) -> bool:
    """Whether each output is a list whose only item is what the function returns."""
    if not all(isinstance(output, list) and len(output) == 1 for output in outputs):
        return False
    if annotation := _RETURNS.search(starter):
        return max(map(_depth, outputs), default=0) > annotation[1].count("[")
    return len(outputs) > 1


def _depth(value: Any) -> int:
    """How many lists are nested in each other."""
    return 1 + max(map(_depth, value), default=0) if isinstance(value, list) else 0


def _whole_keys(value: Any) -> Any:
    """A dict of whole numbers where JSON could only write their text; anything else as it is."""
    if not isinstance(value, dict) or not all(map(_WHOLE.fullmatch, value)):
        return value
    return {int(key): item for key, item in value.items()}


def _solutions(row: Row) -> tuple[str, ...]:
    value: Any = row.get("solutions")
    if not value:
        return ()
    if isinstance(value, str):
        value = parsed(row, "solutions")
    return get({"solutions": value}, "solutions", tuple[str, ...])
