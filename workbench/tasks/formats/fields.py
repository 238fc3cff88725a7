"""Fields of a row: typed access with errors that name the field, and what every format shares.

Stage: tasks (reading files). A row (an object from JSON) goes in; values of a known type come out,
or a ValueError for people. Left out: repairing anything; a wrong field is refused, not guessed.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.encoding import encode
from workbench.records import Case, from_json
from workbench.sandbox.languages import find

Row = Mapping[str, Any]
"""One object of a file."""
ENTRY_FILE = "solution.py"
"""The file a solution in Python is written to, unless the row names another."""
NUM_VISIBLE = 2
"""How many cases are shown where a row does not say which ones."""
MUST = object()
"""Stands for "no default": the field has to be there."""


def entry_file(language: str) -> str:
    """The file a solution in `language` is written to; raises ValueError for an unknown one.

    >>> entry_file("c")
    'solution.c'
    """
    return Path(ENTRY_FILE).stem + find(language).suffix


class MissingField(ValueError):
    """A field that the format needs is not there."""


@dataclass(frozen=True)
class Place:
    """Where a row stands: for default ids and for the task's `source`."""

    file: str
    """File name without folder, or "rows"."""
    number: int
    """Line of the file, or position among the rows, from 1."""

    @property
    def stem(self) -> str:
        """The file's name without its endings."""
        return self.file.split(".")[0] or self.file

    @property
    def task_id(self) -> str:
        """The id of a task whose row states none."""
        return f"{self.stem}/{self.number}"


def get(row: Row, name: str, kind: Any = str, default: Any = MUST) -> Any:
    """The field `name`, which must be of type `kind` (as for `records.from_json`).

    null counts as absent. Raises MissingField if it is absent without a default, ValueError if it
    is of another type.
    """
    if row.get(name) is None:
        if default is MUST:
            raise MissingField(f"field {name!r} is missing, the row has {sorted(map(str, row))}")
        return default
    value = row[name]
    if isinstance(value, tuple):  # rows of Python code may hold tuples where JSON has lists
        value = list(value)
    return from_json(kind, value, f"field {name!r}")


def first_of(row: Row, names: Sequence[str], kind: Any = str, default: Any = MUST) -> Any:
    """The first of several fields that is there; otherwise as `get`."""
    for name in names:
        if row.get(name) is not None:
            return get(row, name, kind)
    if default is MUST:
        wanted = " or ".join(map(repr, names))
        raise MissingField(f"field {wanted} is missing, the row has {sorted(map(str, row))}")
    return default


def parsed(row: Row, name: str, default: Any = MUST) -> Any:
    """The field `name` as data: published files hold JSON within a text as often as the data."""
    value = get(row, name, Any, default)
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except RecursionError:
        raise ValueError(f"field {name!r}: expected JSON, got one nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"field {name!r}: expected JSON, got {value!r:.60} ({error})") from None


def task_id(row: Row, names: Sequence[str], place: Place, prefix: str = "") -> str:
    """The first of the fields `names` as an id; a number gets the prefix; else the place's id."""
    value = first_of(row, names, Any, None)
    if value is None:
        return place.task_id
    if type(value) is int:
        return f"{prefix}{value}"
    return first_of(row, names, str)


SHARED = frozenset({"split", "licence", "license", "source"})
"""Fields that `shared` reads, whatever the format."""


def shared(row: Row, place: Place, format_name: str, used: Collection[str]) -> dict[str, Any]:
    """The arguments of a `Task` that every format fills alike.

    used: fields that the format's reader reads; every other one goes to `extra`.
    """
    return {
        "split": get(row, "split", str, ""),
        "licence": first_of(row, ("licence", "license"), str, "not stated"),
        "source": get(row, "source", str, place.file),
        "tags": (f"format:{format_name}",),
        "extra": plain_json({k: v for k, v in row.items() if k not in {*used, *SHARED}}),
    }


def plain_json(fields: Row) -> dict[str, Any]:
    """The fields as plain JSON. Raises ValueError naming the first field that cannot be."""
    for name, value in fields.items():
        try:
            json.dumps({name: value})
        except (TypeError, ValueError, RecursionError) as error:
            raise ValueError(
                f"field {name!r}: expected plain JSON, got {type(value).__name__} ({error}); "
                "leave the field out, or make it text"
            ) from None
    return json.loads(json.dumps(dict(fields)))


def plain_case(
    args: Sequence[Any], expected: Any, comparison: str, tolerance: float, where: str
) -> Case:
    """A case, once its values are known to be plain data that can reach the sandbox."""
    case = Case(tuple(args), expected, comparison, tolerance)
    try:
        encode(case.args)
        encode(case.expected)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{where}: {error}") from None
    return case


def shown_and_hidden(cases: Sequence[Case]) -> tuple[tuple[Case, ...], tuple[Case, ...]]:
    """(visible, hidden): the first two are shown, if that leaves one to decide."""
    shown = NUM_VISIBLE if len(cases) > NUM_VISIBLE else 0
    return tuple(cases[:shown]), tuple(cases[shown:])
