"""Tasks: the generated suites and files of tasks.

Stage: the start of the loop. In: a suite's name or a path. Out: a list of `Task`. Left out for
now: formats of other projects (HumanEval, MBPP, SWE-bench rows).
"""

from __future__ import annotations

import functools
import gzip
import json
from collections.abc import Callable, Iterable
from pathlib import Path

from workbench.records import SCHEMA, Task, from_json, to_json
from workbench.tasks.bugfix import bugfix_task
from workbench.tasks.functions import functions_task
from workbench.tasks.grammar import SPLITS

SUITES: dict[str, Callable[[str, int], Task]] = {
    "bugfix": bugfix_task,
    "functions": functions_task,
}
"""Generated suites: name -> function of (split, index)."""
DEFAULT_COUNT = {"train": 1024, "dev": 256, "test": 256}
"""How many tasks of a split `load_tasks` returns if nothing else is asked for."""


def load_tasks(
    source: str | Path, split: str | None = None, count: int | None = None
) -> list[Task]:
    """The tasks of a suite ("bugfix", "functions", "warmup") or of a .jsonl / .jsonl.gz file.

    Args:
        source: a suite's name or a path.
        split: "train", "dev" or "test": disjoint by what the functions mean. Tune on dev;
            test is for figures that are published. None = "train"; `warmup` has no splits.
        count: how many; a longer list begins with the shorter one. None = DEFAULT_COUNT, or
            the whole file.
    Raises:
        ValueError: unknown suite, split or broken line (says which line and field).

    >>> load_tasks("bugfix", split="dev", count=1)[0].statement
    'fix wrap'
    """
    if str(source) == "warmup":
        if split is not None:
            raise ValueError(f"split: the suite 'warmup' has no splits; leave out {split!r}")
        from workbench.tasks.warmup import warmup_tasks  # here: it checks all its code on import

        return warmup_tasks()[:count]
    split = "train" if split is None else split
    if split not in SPLITS:
        raise ValueError(f"split: expected one of {sorted(SPLITS)}, got {split!r}")
    if str(source) in SUITES:
        count = DEFAULT_COUNT[split] if count is None else count
        return [_generated(str(source), split, index) for index in range(count)]
    path = Path(source)
    if not path.is_file():
        raise ValueError(
            f"{str(source)!r} is neither a suite ({[*SUITES, 'warmup']}) nor an existing file; "
            "give a suite's name or the path of a .jsonl or .jsonl.gz file"
        )
    return _read(path)[:count]


@functools.lru_cache(maxsize=8192)
def _generated(suite: str, split: str, index: int) -> Task:
    return SUITES[suite](split, index)


def _read(path: Path) -> list[Task]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        tasks = []
        for number, line in enumerate(lines, 1):
            try:
                row = json.loads(line)
                if row.pop("schema", None) != SCHEMA:
                    raise ValueError(f'expected "schema": {SCHEMA}; save_tasks writes it')
                tasks.append(from_json(Task, row))
            except (ValueError, AttributeError) as error:
                raise ValueError(f"{path}, line {number}: {error}; nothing was loaded") from None
    return tasks


def save_tasks(tasks: Iterable[Task], path: str | Path) -> None:
    """Write tasks as one JSON object a line (.gz compresses); `load_tasks` reads them back."""
    opener = gzip.open if Path(path).suffix == ".gz" else open
    with opener(path, "wt", encoding="utf-8") as out:
        for task in tasks:
            out.write(json.dumps({"schema": SCHEMA, **to_json(task)}) + "\n")
