"""Files and rows of tasks: read as a whole or not at all, with errors that say where.

Stage: tasks. A path or an iterable of dicts goes in; a list of checked tasks comes out. A row that
cannot be read spoils the whole source, because a task left out unnoticed changes every figure;
the error lists the first few such rows. Left out: reading a file piece by piece.
"""

from __future__ import annotations

import gzip
import json
import warnings
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.records import Task, to_json
from workbench.tasks.formats import Place, UnknownFormat, describe, read_row

_ONE_A_LINE = "; expected one object a line (a file that is one list ends in .json)"
MAX_SHOWN = 5
"""How many broken rows, or repeated tasks, one message lists."""


@dataclass(frozen=True)
class Source:
    """Rows, and how to speak about them."""

    label: str
    """The path as it was given, or "rows"."""
    noun: str
    """What a number counts: "line" or "row"."""
    file: str
    """File name without folder, or "rows"."""
    rows: tuple[tuple[int, Any], ...]
    """(number from 1, row); a row that is bytes is JSON to be read."""


def read_file(path: Path, format_name: str | None = None) -> list[Task]:
    """The tasks of a .json file (one list) or a .jsonl file (an object a line), each also .gz.

    Raises ValueError: for a broken file, broken rows or a task_id that occurs twice.
    """
    return _tasks(_source(path), format_name)


def read_json_rows(path: Path) -> list[tuple[int, Any]]:
    """(number, value) of each row of such a file, whatever the rows hold. Raises ValueError."""
    source, rows = _source(path), []
    for number, row in source.rows:
        try:
            rows.append((number, _parse_line(row) if isinstance(row, bytes) else row))
        except ValueError as error:
            raise ValueError(f"{path}, {source.noun} {number}: {error}") from None
    return rows


def _source(path: Path) -> Source:
    data = _bytes(path)
    if not data.strip():
        raise ValueError(f"{path} is empty: expected tasks, one JSON object a line")
    if is_json_list(path):
        return Source(str(path), "row", path.name, tuple(enumerate(_json_list(path, data), 1)))
    lines = ((n, line) for n, line in enumerate(data.split(b"\n"), 1) if line.strip())
    return Source(str(path), "line", path.name, tuple(lines))


def is_json_list(path: Path) -> bool:
    """Whether the name says that the file is one list, .json or .json.gz in any letter case."""
    return path.name.lower().removesuffix(".gz").endswith(".json")


def read_rows(rows: Iterable[Mapping[str, Any]], format_name: str | None = None) -> list[Task]:
    """The tasks of dicts, such as a `datasets.Dataset` gives. Raises as `read_file`."""
    numbered = tuple(enumerate(rows, 1))
    if not numbered:
        raise ValueError("rows: expected at least one row, got none")
    return _tasks(Source("rows", "row", "rows", numbered), format_name)


def _bytes(path: Path) -> bytes:
    data = path.read_bytes()
    if path.suffix.lower() == ".gz":
        try:
            data = gzip.decompress(data)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise ValueError(
                f"{path}: expected gzip data, as the name says ({error}); if it is plain text, "
                "take .gz off its name; if it is cut off, fetch it again"
            ) from None
    elif data.startswith(b"\x1f\x8b"):
        raise ValueError(f"{path}: expected text, got gzip data; add .gz to its name")
    return data.removeprefix(b"\xef\xbb\xbf")  # some editors begin a file with this mark


def _json_list(path: Path, data: bytes) -> list:
    try:
        rows = json.loads(_text(data), object_pairs_hook=_each_once)
    except RecursionError:
        raise ValueError(f"{path}: expected JSON, got one nested too deeply") from None
    except json.JSONDecodeError as error:
        hint = "; one object a line is a .jsonl file" if error.msg == "Extra data" else ""
        raise ValueError(f"{path}: not JSON: {error}{hint}") from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    if not isinstance(rows, list):
        raise ValueError(
            f"{path}: expected a list of objects, got {type(rows).__name__}; put the rows in [ ]"
        )
    if not rows:
        raise ValueError(f"{path} is empty: expected a list of at least one task, got []")
    return rows


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"not UTF-8: byte 0x{data[error.start]:02x} at position {error.start + 1}; save the "
            "file as UTF-8"
        ) from None


def _parse_line(line: bytes) -> Any:
    text = _text(line)
    try:
        row = json.loads(text, object_pairs_hook=_each_once)
    except RecursionError:
        raise ValueError("expected JSON, got one nested too deeply") from None
    except json.JSONDecodeError as error:
        raise ValueError(
            f"not JSON: {error.msg} at column {error.colno}, in {text.strip()!r:.40}{_ONE_A_LINE}"
        ) from None
    if isinstance(row, list):
        raise ValueError(f"expected an object with fields, got list {row!r:.40}{_ONE_A_LINE}")
    return row


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; JSON lets a name come twice, and which one was meant nobody knows."""
    row = dict(pairs)
    if len(row) < len(pairs):
        names = Counter(name for name, _ in pairs)
        raise ValueError(f"the field {names.most_common(1)[0][0]!r} comes twice in one object")
    return row


def _tasks(source: Source, format_name: str | None) -> list[Task]:
    numbered, broken = [], []
    for number, row in source.rows:
        try:
            row = _parse_line(row) if isinstance(row, bytes) else row
            numbered.append((number, read_row(row, Place(source.file, number), format_name)))
        except RecursionError:
            broken.append((number, ValueError("expected shallow data, got very deep nesting")))
        except ValueError as error:
            broken.append((number, error))
    if broken:
        raise ValueError(_report(source, broken)) from None
    _refuse_repeated_ids(source, numbered)
    _warn_of_equal_tasks(source, numbered)
    return [task for _, task in numbered]


def _report(source: Source, broken: list[tuple[int, ValueError]]) -> str:
    if len(broken) == 1:
        number, error = broken[0]
        text = f"{source.label}, {source.noun} {number}: {error}; nothing was loaded"
    else:
        count = f"{len(broken)} of {len(source.rows)} {source.noun}s"
        lines = [f"{source.label}: {count} are broken, nothing was loaded"]
        lines += [f"  {source.noun} {n}: {error}" for n, error in broken[:MAX_SHOWN]]
        lines += [f"  and {len(broken) - MAX_SHOWN} more"] * (len(broken) > MAX_SHOWN)
        text = "\n".join(lines)
    if any(isinstance(error, UnknownFormat) for _, error in broken):
        text += f"\n  Known formats, and the fields of their rows:\n{describe()}"
    return text


def _refuse_repeated_ids(source: Source, numbered: list[tuple[int, Task]]) -> None:
    first: dict[str, int] = {}
    repeated = []
    for number, task in numbered:
        if task.task_id in first:
            where = f"{source.noun}s {first[task.task_id]} and {number}"
            repeated.append(f"{task.task_id!r} in {where}")
        first.setdefault(task.task_id, number)
    if repeated:
        more = f" and {len(repeated) - MAX_SHOWN} more" if len(repeated) > MAX_SHOWN else ""
        raise ValueError(
            f"{source.label}: the same task_id twice: {', '.join(repeated[:MAX_SHOWN])}{more}; "
            "give each task its own id (a row without one gets its file's name and number)"
        )


def _warn_of_equal_tasks(source: Source, numbered: list[tuple[int, Task]]) -> None:
    """Equal statement and tests under two ids: harmless in one split, a leak across two."""
    first: dict[str, str] = {}
    equal = []
    for number, task in numbered:
        tests = to_json(task.visible), to_json(task.hidden), task.test_code
        key = json.dumps([task.statement, task.entry_point, *tests])
        name = f"{task.task_id!r} ({source.noun} {number})"
        if key in first:
            equal.append(f"{first[key]} and {name}")
        first.setdefault(key, name)
    if equal:
        more = f" and {len(equal) - MAX_SHOWN} more" if len(equal) > MAX_SHOWN else ""
        warnings.warn(
            f"{source.label}: the same statement and tests under two ids: "
            f"{', '.join(equal[:MAX_SHOWN])}{more}; both are kept, which counts the task twice",
            stacklevel=5,
        )
