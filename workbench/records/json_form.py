"""Records as JSON and back, exact by type; what does not fit is refused by name.

Stage: wherever a record is stored or read. Left out: older layouts (see SCHEMA).
"""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from collections.abc import Mapping
from typing import Any, Literal

from workbench.encoding import decode, encode
from workbench.records.tasks import Case

SCHEMA = 1
"""Version of the JSON layout below; a file with another number is refused, never guessed at."""


def to_json(record: Any) -> Any:
    """A JSON-able value for a record (or plain data inside one): inverse of `from_json`."""
    if dataclasses.is_dataclass(record) and not isinstance(record, type):
        if isinstance(record, Case):  # the only place where arbitrary Python data flows
            values = {"args": encode(tuple(record.args)), "expected": encode(record.expected)}
            if record.comparison != "same":
                values |= {"comparison": record.comparison, "tolerance": record.tolerance}
            return values
        return {f.name: to_json(getattr(record, f.name)) for f in dataclasses.fields(record)}
    if isinstance(record, Mapping):
        return {key: to_json(value) for key, value in record.items()}
    if isinstance(record, (tuple, list)):
        return [to_json(item) for item in record]
    return record


def from_json(kind: Any, value: Any, where: str = "") -> Any:
    """The record of type `kind` described by a value from `to_json`.

    Raises ValueError naming the place (`where`) of the first field that is unknown, missing or
    of another type; nothing is guessed.
    """
    where = where or getattr(kind, "__name__", str(kind))
    if kind is Case:
        return _case_from_json(value, where)
    if dataclasses.is_dataclass(kind):
        return _record_from_json(kind, value, where)
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        if value is None and type(None) in inner:
            return None
        return from_json(next(k for k in inner if k is not type(None)), value, where)
    if origin is tuple:
        _expect(isinstance(value, list), where, "a list", value)
        return tuple(from_json(inner[0], v, f"{where}[{i}]") for i, v in enumerate(value))
    if origin is Mapping:
        _expect(isinstance(value, dict), where, "an object", value)
        return {k: from_json(inner[1], v, f"{where}[{k!r}]") for k, v in value.items()}
    if origin is Literal:
        _expect(value in inner, where, f"one of {list(inner)}", value)
        return value
    if kind is Any:
        return value
    if kind is float:
        _expect(type(value) in (int, float), where, "a number", value)
        _expect(type(value) is float or abs(value) < 2**1023, where, "a smaller number", value)
        return float(value)
    _expect(type(value) is kind, where, kind.__name__, value)
    return value


def _case_from_json(value: Any, where: str) -> Case:
    try:
        args, expected = decode(value["args"]), decode(value["expected"])
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{where}: expected args and expected as tagged data: {error}")
    _expect(type(args) is tuple, f"{where}.args", "a tagged tuple", args)
    comparison = from_json(
        Literal["same", "equal", "close"], value.get("comparison", "same"), f"{where}.comparison"
    )
    tolerance = from_json(float, value.get("tolerance", 0.0), f"{where}.tolerance")
    return Case(args, expected, comparison, tolerance)


def _record_from_json(kind: type, value: Any, where: str) -> Any:
    _expect(isinstance(value, dict), where, "an object", value)
    fields = {f.name: f for f in dataclasses.fields(kind)}
    hints = _hints(kind)
    if unknown := sorted(set(value) - set(fields)):
        raise ValueError(f"{where}: unknown fields {unknown}; known are {sorted(fields)}")
    for name, spec in fields.items():
        optional = (
            spec.default is not dataclasses.MISSING
            or spec.default_factory is not dataclasses.MISSING
        )
        if name not in value and not optional:
            raise ValueError(f"{where}: field {name!r} is missing")
    return kind(**{n: from_json(hints[n], v, f"{where}.{n}") for n, v in value.items()})


@functools.cache
def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _expect(good: bool, where: str, expected: str, got: Any) -> None:
    if not good:
        raise ValueError(f"{where}: expected {expected}, got {type(got).__name__} {got!r:.80}")
