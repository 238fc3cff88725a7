"""Formats of task files: which one a row is in, and the task it describes.

Stage: tasks (reading files). One row, an object from JSON, goes in; a `Task` comes out, checked
but never executed. A row's format is told by its fields. Left out: Harbor folders.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from workbench.records import Task
from workbench.tasks.formats.apps import read_apps
from workbench.tasks.formats.checking import check_task
from workbench.tasks.formats.fields import MissingField, Place, Row
from workbench.tasks.formats.humaneval import read_humaneval
from workbench.tasks.formats.livecodebench import read_livecodebench
from workbench.tasks.formats.mbpp import read_mbpp
from workbench.tasks.formats.open_r1 import read_open_r1
from workbench.tasks.formats.own import read_record, read_simple
from workbench.tasks.formats.programs import complete
from workbench.tasks.formats.swebench import read_swebench

__all__ = ["FORMATS", "Format", "Place", "UnknownFormat", "complete", "describe", "read_row"]


@dataclass(frozen=True)
class Format:
    """One way to write a task."""

    read: Callable[[Row, Place], Task]
    """Reads one row."""
    fields: str
    """The fields of a row, for people."""
    telling: tuple[frozenset[str], ...]
    """A row that has all fields of one of these sets is in this format."""


def _any(*sets: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(names.split()) for names in sets)


FORMATS = {
    "records": Format(
        read_record, '"schema": 1 and the rest, as save_tasks writes it', _any("schema")
    ),
    "swe-bench": Format(
        read_swebench,
        "instance_id, repo, base_commit, problem_statement, patch, test_patch, FAIL_TO_PASS, "
        "PASS_TO_PASS, and image_name or files",
        _any("instance_id repo", "instance_id problem_statement", "instance_id base_commit"),
    ),
    "open-r1": Format(
        read_open_r1, "prompt, verification_info {language, test_cases}", _any("verification_info")
    ),
    "livecodebench": Format(
        read_livecodebench,
        "question_content, public_test_cases, private_test_cases, starter_code, metadata",
        _any("question_content", "private_test_cases"),
    ),
    "mbpp": Format(
        read_mbpp,
        "text (or prompt), code, test_list, and test_setup_code or test_imports",
        _any("test_list"),
    ),
    "humaneval": Format(
        read_humaneval,
        "prompt, canonical_solution, test, entry_point",
        _any("canonical_solution", "prompt test entry_point"),
    ),
    "apps": Format(
        read_apps,
        "question, input_output {inputs, outputs, fn_name}, or these three alone",
        _any("input_output", "inputs outputs", "question inputs", "question outputs"),
    ),
    "simple": Format(
        read_simple,
        "statement, entry_point, reference, and cases (or visible and hidden)",
        _any("entry_point", "cases", "hidden"),
    ),
}
"""Name -> format, in the order in which rows are tried."""


class UnknownFormat(ValueError):
    """A row whose fields belong to no format; `describe` lists those there are."""


def describe() -> str:
    """The formats and their fields, one a line."""
    return "\n".join(f"    {name}: {format.fields}" for name, format in FORMATS.items())


def read_row(row: Any, place: Place, format_name: str | None = None) -> Task:
    """The task that a row describes.

    Args:
        format_name: one of FORMATS; None = told by the row's fields.
    Raises:
        ValueError: naming the field, what was expected, what came; UnknownFormat is one.
    """
    if not isinstance(row, Mapping):
        raise ValueError(f"expected an object with fields, got {type(row).__name__} {row!r:.40}")
    name = format_name or recognise(row)
    try:
        task = FORMATS[name].read(row, place)
    except MissingField as error:
        raise ValueError(f"{error}; a row of format {name}: {FORMATS[name].fields}") from None
    check_task(task)
    return task


def recognise(row: Row) -> str:
    """The name of the format that the row's fields tell. Raises UnknownFormat, or ValueError."""
    names = {name for name, value in row.items() if value is not None}
    for name, format in FORMATS.items():
        if any(telling <= names for telling in format.telling):
            return name
    raise UnknownFormat(f"the fields {sorted(map(str, names))} belong to no known format")
