"""Tasks: the suites, and the door through which people bring their own problems.

Stage: the start of the loop. In: a suite's name, a path, or rows. Out: a list of `Task`; as
SWE-bench rows repository tasks go out again (`swebench`). Left out: Harbor folders.
"""

from __future__ import annotations

import difflib
import functools
import gzip
import json
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from workbench.records import SCHEMA, Task, to_json
from workbench.tasks.bugfix import bugfix_task
from workbench.tasks.formats import FORMATS, complete, describe
from workbench.tasks.formats.swebench import with_repository
from workbench.tasks.functions import functions_task
from workbench.tasks.grammar import SPLITS
from workbench.tasks.reading import is_json_list, read_file, read_rows
from workbench.tasks.repositories import repository_tasks

__all__ = [
    "DEFAULT_COUNT",
    "FORMATS",
    "SUITES",
    "complete",
    "load_tasks",
    "save_tasks",
    "with_repository",
]

GENERATED: dict[str, Callable[[str, int], Task]] = {
    "bugfix": bugfix_task,
    "functions": functions_task,
}
"""Generated suites: name -> function of (split, index)."""
STORED = ("warmup", "secure", "repos")
"""Suites without splits: all of their tasks, always the same."""
SUITES = (*GENERATED, *STORED)
"""Names of all suites."""
DEFAULT_COUNT = {"train": 1024, "dev": 256, "test": 256}
"""How many tasks of a split `load_tasks` returns if nothing else is asked for."""


def load_tasks(
    source: str | Path | Iterable[Mapping[str, Any]],
    split: str | None = None,
    count: int | None = None,
    format: str | None = None,
    detail: str | None = None,
) -> list[Task]:
    """The tasks of a suite ("bugfix", "functions", "warmup", "secure", "repos"), a file, or rows.

    Args:
        source: a suite's name; the path of a .jsonl or .json file (each also .gz); or an iterable
            of dicts such as a `datasets.Dataset`.
        split: for a generated suite "train", "dev" or "test", disjoint by what the functions mean:
            tune on dev, test is for figures that are published; None = "train". For a file or rows
            the tasks whose `split` field says so; None = all of them. `warmup`, `secure` and
            `repos` have none.
        count: how many; a longer list begins with the shorter one. None = DEFAULT_COUNT, or all.
        format: how the rows are written, a name of FORMATS; None = told by each row's fields.
        detail: for `repos`, how much the tickets tell: "short" (a user's one sentence), "report"
            (the default: a good bug report) or "located" (with file and cause).
    Raises:
        ValueError: unknown suite, split, format or detail; a count below 0; broken rows (says
            which line and field), and then nothing is loaded; a task_id that occurs twice.

    Two tasks with equal statement and tests are a warning. No text of a row is executed: whether a
    task's own solution passes its tests says `grade(task, task.reference, sandbox)`, and of a
    repository `audit.check_repository`.

    >>> load_tasks("bugfix", split="dev", count=1)[0].statement
    'fix wrap'
    >>> row = {"statement": "double x", "entry_point": "f", "reference": "def f(x): return 2 * x",
    ...        "cases": [[[1], 2], [[3], 6], [[0], 0]]}
    >>> load_tasks([row])[0].hidden[0].expected
    0
    """
    if format is not None and format not in FORMATS:
        raise ValueError(f"format: expected one of these, got {format!r}\n{describe()}")
    if count is not None and count < 0:
        raise ValueError(f"count: expected 0 or more, or None for all, got {count}")
    if detail is not None and not (isinstance(source, str) and source == "repos"):
        raise ValueError(f"detail: only the suite 'repos' has tickets of several kinds: {detail!r}")
    if isinstance(source, str) and source in SUITES:
        if format is not None:
            raise ValueError(f"format: expected none for the suite {source!r}, got {format!r}")
        if source in STORED:
            return _stored(source, split, detail)[:count]
        return _suite(source, split, count)
    if isinstance(source, (str, Path)):
        tasks = read_file(_existing(source), format)
    elif isinstance(source, Mapping) or not isinstance(source, Iterable) or _is_frame(source):
        raise ValueError(
            "source: expected a suite, a path or a list of dicts, got "
            f"{type(source).__name__}{_what_to_do(source)}"
        )
    else:
        tasks = read_rows(source, format)
    return _of_split(tasks, split, source)[:count]


def _is_frame(source: Any) -> bool:
    """Whether it is a table of pandas, which iterates over the names of its columns."""
    return type(source).__name__ == "DataFrame"


def _what_to_do(source: Any) -> str:
    """What makes tasks of a `source` that is none of those it may be, if that can be told."""
    if _is_frame(source):
        return "; give source.to_dict('records')"
    if not isinstance(source, Mapping):
        return ""
    if any(isinstance(value, str) for value in source.values()):  # no split is a text
        return "; of a single row make a list, [row]"
    return "; choose one split, source['train'] say"


def _stored(name: str, split: str | None, detail: str | None) -> list[Task]:
    if split is not None:
        raise ValueError(f"split: the suite {name!r} has no splits; leave out {split!r}")
    if name == "repos":
        return repository_tasks(detail=detail or "report")
    if name == "secure":
        from workbench.tasks.secure import secure_tasks  # here: it checks all its code on import

        return secure_tasks()
    from workbench.tasks.warmup import warmup_tasks  # the same

    return warmup_tasks()


def _suite(name: str, split: str | None, count: int | None) -> list[Task]:
    split = "train" if split is None else split
    if split not in SPLITS:
        raise ValueError(f"split: expected one of {sorted(SPLITS)}, got {split!r}")
    count = DEFAULT_COUNT[split] if count is None else count
    return [_generated(name, split, index) for index in range(count)]


@functools.lru_cache(maxsize=8192)
def _generated(suite: str, split: str, index: int) -> Task:
    return GENERATED[suite](split, index)


def _existing(source: str | Path) -> Path:
    path = Path(source)
    if path.is_file():
        return path
    if path.is_dir():
        raise ValueError(f"{str(source)!r} is a folder; give the path of one file in it")
    close = difflib.get_close_matches(str(source), SUITES, n=1)
    raise ValueError(
        f"{str(source)!r} is neither a suite ({', '.join(SUITES)}) nor an existing file; "
        + (f"did you mean {close[0]!r}? Otherwise " if close else "")
        + "give a suite's name or the path of a .jsonl or .json file, each also .gz"
    )


def _of_split(tasks: list[Task], split: str | None, source: Any) -> list[Task]:
    if split is None:
        return tasks
    found = [task for task in tasks if task.split == split]
    if not found:
        named = sorted({task.split for task in tasks} - {""})
        there = f"the splits there are {named}" if named else "its tasks name no split"
        label = str(source) if isinstance(source, (str, Path)) else "rows"
        raise ValueError(
            f"{label}: no task of split {split!r}; {there}; give one of those, or leave split out "
            "to load all"
        )
    return found


def save_tasks(tasks: Iterable[Task], path: str | Path) -> None:
    """Write tasks as one JSON object a line (.gz compresses); `load_tasks` reads them back.

    A file that is there already is replaced once all tasks are written, and kept if one cannot be.
    Raises ValueError for the ending .json, which `load_tasks` takes for one list, and for a task
    whose values are no plain data.
    """
    path = Path(path).resolve()  # of a link, the file it leads to is replaced
    if is_json_list(path):
        raise ValueError(f"path: expected an ending .jsonl or .jsonl.gz, got {path.name!r}")
    opener = gzip.open if path.suffix.lower() == ".gz" else open
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".saving-") as folder:
        beside = Path(folder) / path.name
        with opener(beside, "wt", encoding="utf-8") as out:
            for task in tasks:
                out.write(json.dumps({"schema": SCHEMA, **to_json(task)}) + "\n")
        beside.replace(path)
