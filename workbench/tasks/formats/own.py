"""The workbench's own formats: full records, and simple rows that people write by hand.

Stage: tasks (reading files). A simple row needs a statement, the name of a function, cases and a
right solution; JSON is enough to write one:

    {"statement": "double every item", "entry_point": "double", "reference": "def double(xs): ...",
     "cases": [[[[1, 2]], [2, 4]], [[[]], []], {"args": [[0.5]], "expected": [1.0]}]}

A case is [[args...], expected], or an object with args, expected and, if wanted, comparison
("same", "equal", "close") and tolerance. A JSON list is a list; what JSON has not is written with
the tags of `workbench.encoding`: {"tuple": [1, 2]}, {"set": [1]}, {"dict": [[1, "a"]]}.

A program has the entry point "" and may be in any `language` of the sandbox. Its case is [input,
output], the text it reads and the one it must write, or [input, {"stdout": output, "exit_code":
1}] with one of the two or both:

    {"statement": "add one", "language": "c", "reference": "...", "cases": [["1", "2"], ...]}
"""

from __future__ import annotations

import difflib
import math
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

from workbench.encoding import decode, encode
from workbench.records import SCHEMA, Case, Limits, Task, WrongSolution, from_json
from workbench.tasks.formats.fields import (
    MUST,
    NUM_VISIBLE,
    SHARED,
    Place,
    Row,
    first_of,
    get,
    plain_case,
    plain_json,
    shared,
    shown_and_hidden,
    task_id,
)
from workbench.tasks.formats.fields import entry_file as default_entry_file

TAGS = {"tuple", "set", "frozenset", "dict", "int", "float", "complex", "bytes", "str"}
"""An object with one of these as its only key is tagged data, any other object is a dict."""
STATEMENT = ("statement", "prompt", "question")
USED = {
    "task_id", *STATEMENT, "entry_point", "entry_file", "files", "cases", "visible", "hidden",
    "reference", "beginning", "tests_file", "known_hacks", "wrong", "test_code", "exploit_code",
    "tags", "limits", "suite", "extra", "language",
}  # fmt: skip
_FORM = '{"args": [...], "expected": ...} or [[args...], expected]'


def read_record(row: Row, place: Place) -> Task:
    """The task that `save_tasks` wrote."""
    fields = dict(row)
    if fields.pop("schema", None) != SCHEMA:
        raise ValueError(f'expected "schema": {SCHEMA}; save_tasks writes it')
    return from_json(Task, fields)


def read_simple(row: Row, place: Place) -> Task:
    """The task of a simple row; every field of `Task` may be given, except those of repositories,
    the others go to `extra`.

    With `cases` alone the first two are visible and the rest decides. `reference`, `known_hacks`
    and `wrong` may hold the text of the entry file in place of {path: text}. A field whose name is
    nearly one of these is a warning.
    """
    language = get(row, "language", str, "python")
    name = get(row, "entry_point", str, MUST if language == "python" else "")
    files = get(row, "files", Mapping[str, str], {})
    tests_file = get(row, "tests_file", str, None)
    entry_file = get(row, "entry_file", str, None) or _entry_file(row, set(files) - {tests_file})
    visible, hidden = _suites(row, is_program=not name)
    common = shared(row, place, "simple", USED)
    _warn_of_slips(common["extra"])
    common["tags"] += get(row, "tags", tuple[str, ...], ())
    common["extra"] |= plain_json(get(row, "extra", Mapping[str, Any], {}))
    return Task(
        task_id=task_id(row, ("task_id",), place),
        statement=first_of(row, STATEMENT),
        entry_point=name,
        entry_file=entry_file,
        files=files,
        visible=visible,
        hidden=hidden,
        reference=_files(get(row, "reference", Any), entry_file, "field 'reference'"),
        beginning=get(row, "beginning", str, ""),
        tests_file=tests_file,
        known_hacks=tuple(
            _files(hack, entry_file, f"field 'known_hacks'[{number}]")
            for number, hack in enumerate(get(row, "known_hacks", list, []))
        ),
        wrong=tuple(
            _wrong(wrong, entry_file, f"field 'wrong'[{number}]")
            for number, wrong in enumerate(get(row, "wrong", list, []))
        ),
        test_code=get(row, "test_code", str, ""),
        exploit_code=get(row, "exploit_code", str, ""),
        language=language,
        limits=get(row, "limits", Limits, Limits()),
        suite=get(row, "suite", str, place.stem),
        **common,
    )


def _warn_of_slips(names: Iterable[str]) -> None:
    for name in names:
        if close := difflib.get_close_matches(name, USED | SHARED, n=1, cutoff=0.8):
            warnings.warn(
                f"field {name!r} means nothing here and is kept in `extra`; did you mean "
                f"{close[0]!r}?",
                stacklevel=7,  # the caller of `load_tasks`
            )


def _entry_file(row: Row, files: set[str]) -> str:
    """The file meant where the row names none: the only one of the reference or the workspace."""
    reference = row.get("reference")
    paths = sorted(reference if isinstance(reference, Mapping) else files)
    if len(paths) > 1:
        what = f"defines {row['entry_point']!r}" if row.get("entry_point") else "is the program"
        raise ValueError(f"field 'entry_file' is missing: which of {paths} {what}?")
    return str(paths[0]) if paths else default_entry_file(get(row, "language", str, "python"))


def _suites(row: Row, is_program: bool) -> tuple[tuple[Case, ...], tuple[Case, ...]]:
    names = ("visible", "hidden", "cases")
    visible, hidden, cases = (_cases(row, name, is_program) for name in names)
    if cases and (visible or hidden):
        raise ValueError("expected either 'cases' or 'visible' and 'hidden', got both")
    if not cases:
        if not hidden and not row.get("test_code"):
            raise ValueError(
                "no hidden cases: nothing would decide; give 'hidden', or 'cases' with at least "
                f"{NUM_VISIBLE + 1} (the first {NUM_VISIBLE} become visible)"
            )
        return visible, hidden
    if len(cases) <= NUM_VISIBLE:
        raise ValueError(
            f"field 'cases': expected at least {NUM_VISIBLE + 1}, got {len(cases)}: the first "
            f"{NUM_VISIBLE} become visible, the rest decides; add cases, or give 'hidden' instead"
        )
    return shown_and_hidden(cases)


def _cases(row: Row, name: str, is_program: bool) -> tuple[Case, ...]:
    values = get(row, name, list, [])
    return tuple(_case(v, f"field {name!r}, case {n}", is_program) for n, v in enumerate(values, 1))


def _case(value: Any, where: str, is_program: bool) -> Case:
    if isinstance(value, (list, tuple)) and len(value) == 2:
        value = {"args": value[0], "expected": value[1]}
    if not isinstance(value, Mapping) or not {"args", "expected"} <= set(value):
        raise ValueError(f"{where}: expected {_FORM}, got {value!r:.60}")
    if unknown := sorted(set(value) - {"args", "expected", "comparison", "tolerance"}):
        raise ValueError(f"{where}: unknown fields {unknown}; expected {_FORM}")
    args = _data(value["args"], where)
    args = [args] if is_program and isinstance(args, str) else args
    if not isinstance(args, (list, tuple)):
        got = f"{type(args).__name__} {args!r:.40}"
        raise ValueError(f"{where}: expected args as a list such as [{args!r:.40}], got {got}")
    kind = from_json(str, value.get("comparison", "same"), f"{where}, comparison")
    if kind not in ("same", "equal", "close"):
        raise ValueError(f"{where}: expected comparison same, equal or close, got {kind!r}")
    tolerance = from_json(float, value.get("tolerance", 0.0), f"{where}, tolerance")
    if not 0 <= tolerance < math.inf or (kind == "close") != (tolerance > 0):
        raise ValueError(
            f'{where}: expected a tolerance above 0 with comparison "close" and none otherwise, '
            f"got comparison {kind!r} and tolerance {tolerance}"
        )
    return plain_case(args, _data(value["expected"], where), kind, tolerance, where)


def _data(value: Any, where: str) -> Any:
    """Plain data from JSON with tags, or from Python rows that hold tuples and sets themselves."""
    try:
        return decode(_tagged(value))
    except RecursionError:
        raise ValueError(f"{where}: expected shallow data, got very deep nesting") from None
    except (ValueError, TypeError) as error:
        hint = ""
        if str(error).startswith("tag "):
            hint = '; a dict whose only key is a tag\'s name is written {"dict": [[key, value]]}'
        raise ValueError(f"{where}: {error}{hint}") from None


def _tagged(value: Any) -> Any:
    """The same data with every dict, tuple and set behind a tag, as `decode` wants it."""
    if isinstance(value, list):
        return [_tagged(item) for item in value]
    if isinstance(value, tuple):
        return {"tuple": [_tagged(item) for item in value]}
    if isinstance(value, Mapping):
        if len(value) == 1 and set(value) <= TAGS:
            ((tag, body),) = value.items()
            return {tag: [_tagged(item) for item in body] if isinstance(body, list) else body}
        return {"dict": [[_tagged(k), _tagged(v)] for k, v in value.items()]}
    return encode(value)


def _files(value: Any, entry_file: str, where: str) -> Mapping[str, str]:
    if isinstance(value, str):
        return {entry_file: value}
    if not isinstance(value, Mapping):
        raise ValueError(
            f"{where}: expected the text of {entry_file} or {{path: text}}, got "
            f"{type(value).__name__} {value!r:.40}"
        )
    return from_json(Mapping[str, str], value, where)


def _wrong(value: Any, entry_file: str, where: str) -> WrongSolution:
    if not isinstance(value, Mapping):
        value = {"files": value}
    if unknown := sorted(set(value) - {"files", "weak_spot", "fails"}):
        raise ValueError(f"{where}: unknown fields {unknown}; known are files, weak_spot, fails")
    return WrongSolution(
        files=_files(get(value, "files", Any, MUST), entry_file, where),
        weak_spot=get(value, "weak_spot", str, ""),
        fails=get(value, "fails", tuple[str, ...], ()),
    )
