"""Reading a run's folder: settings, metrics, rollouts, each when it is first asked for.

Stage: beside the loop. In: a name or a folder; out: a `RunRecord`. A torn end is skipped,
damage anywhere else a ValueError that says where.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from workbench.records import SCHEMA, Group, RewardBreakdown, Task, from_json
from workbench.runlog.stored import StoredGroups, StoredIteration, StoredIterations

RECORDED = Path(__file__).parents[2] / "data" / "runs"
"""Where the recorded runs that come with the project lie."""
RUNS = Path("runs")
"""Where new runs are written, below the current folder."""
_MEMBER = b"\x1f\x8b\x08" + bytes(5)
"""How each member of trajectories.jsonl.gz begins: gzip, no name, no time."""
_WRITERS = "train(), `python3 -m workbench demo` and RunLogCallback write runs"


def new_folder(name: str) -> Path:
    """The first of runs/NAME, runs/NAME-2, runs/NAME-3 that does not exist; it is not made."""
    number, folder = 1, RUNS / name
    while folder.exists():
        number += 1
        folder = RUNS / f"{name}-{number}"
    return folder


class RunRecord:
    """A stored run. Everything is read when first asked for."""

    def __init__(self, folder: str | Path):
        """Raises ValueError if `folder` holds no run, or one with another schema."""
        self.folder = Path(folder)
        self.config: dict[str, Any] = _read_json(self.folder / "config.json")
        if "schema" not in self.config:
            raise ValueError(
                f"{self.folder}: expected a folder that a run was written to, got one whose "
                f"config.json is another program's (a model's?); {_WRITERS}"
            )
        if self.config["schema"] != SCHEMA:
            raise ValueError(
                f"{self.folder}: expected a run with schema {SCHEMA}, got "
                f"{self.config['schema']!r}; record it again with this version"
            )

    @cached_property
    def metrics(self) -> list[dict[str, Any]]:
        """The rows of metrics.jsonl in order. Raises ValueError naming a line that is none."""
        return list(_whole_rows(self.folder / "metrics.jsonl"))

    @cached_property
    def iterations(self) -> StoredIterations:
        """Every stored iteration in order."""
        path = self.folder / "trajectories.jsonl.gz"
        return StoredIterations(_iteration(text) for _, text in gzip_members(path))

    @cached_property
    def groups(self) -> StoredGroups:
        """Every group in order: `run.groups[0]`, `run.groups(iteration=3, stage="rl")`."""
        return StoredGroups(self.iterations)

    @cached_property
    def tasks(self) -> list[Task]:
        """The tasks that were rolled out, each once."""
        return list({t.task_id: t for stored in self.iterations for t in stored.tasks}.values())

    @property
    def status(self) -> dict[str, Any]:
        """status.json: "state" is running (also of a killed run), finished, stopped or failed.

        Raises ValueError if it says nothing of that.
        """
        path = self.folder / "status.json"
        status = _read_json(path) if path.exists() else {"state": "unknown"}
        if "state" not in status:
            raise ValueError(
                f'{path}: expected an entry "state", got {status!r:.80}; the file is damaged: '
                "restore it from a copy, or delete it"
            )
        return status

    @property
    def state(self) -> str:
        """"finished", "failed", or "stopped", which a killed run was too."""
        known = self.status["state"]
        return known if known in ("finished", "failed") else "stopped"

    done = True  # a stored run gets no more rows

    @property
    def checkpoints(self) -> list[Path]:
        """Folders of whole checkpoints, oldest first."""
        return sorted((self.folder / "checkpoints").glob("[0-9]*"))

    def __repr__(self) -> str:
        state, num_rows = self.status["state"], len(self.metrics)
        stages = ", ".join(dict.fromkeys(r["stage"] for r in self.metrics if "stage" in r))
        return (
            f"RunRecord({str(self.folder)!r}, {state}, {num_rows} rows of metrics, "
            f"stages: {stages or 'none yet'})"
        )


def load_run(name_or_folder: str | Path) -> RunRecord:
    """The run in a folder (a demo's will do), below `runs/`, or among the recorded ones.

    Needs no torch. Raises ValueError if there is none, naming the places that were looked at.
    """
    places = [Path(name_or_folder), RUNS / name_or_folder, RECORDED / name_or_folder]
    for place in (p for folder in places for p in (folder, folder / "run")):
        if (place / "config.json").is_file():
            return RunRecord(place)
    known = [p.parent.relative_to(t) for t in (RUNS, RECORDED) for p in t.rglob("metrics.jsonl")]
    looked_at = list(dict.fromkeys(map(str, places)))
    raise ValueError(
        f"run: expected a folder that a run was written to (it has a config.json), found none at "
        f"{looked_at}; {_WRITERS}; runs there are: {sorted(map(str, known)) or 'none yet'}"
    )


def gzip_members(path: Path) -> Iterator[tuple[int, str]]:
    """(offset where it ends, text) of each whole gzip member; a last one that breaks off is left
    out: it was torn by a kill, or is being written.

    Raises ValueError where a member is damaged, with the offset at which it begins.
    """
    raw, end = path.read_bytes() if path.exists() else b"", 0
    while end < len(raw):
        start, unpacker, pieces = end, zlib.decompressobj(wbits=31), []
        try:
            while not unpacker.eof and end < len(raw):
                pieces.append(unpacker.decompress(raw[end : end + 65536]))
                end = min(end + 65536, len(raw)) - len(unpacker.unused_data)
            if not unpacker.eof and _MEMBER in raw[start + 1 :]:
                raise zlib.error("it has no end, and another follows")
        except zlib.error as error:
            raise ValueError(
                f"{path}: expected an iteration's rollouts at byte {start} of {len(raw)}, got "
                f"damaged ones ({error}); restore the file from a copy, or cut it off at byte "
                f"{start} to read what lies before"
            ) from error
        if unpacker.eof:
            yield end, b"".join(pieces).decode()


def _iteration(text: str) -> StoredIteration:
    header, *rows = map(json.loads, text.splitlines())
    if header["schema"] != SCHEMA:
        raise ValueError(f"rollouts: expected schema {SCHEMA}, got {header['schema']!r}")
    return StoredIteration(
        stage=header["stage"],
        iteration=header["iteration"],
        tasks=tuple(from_json(Task, row["task"]) for row in rows),
        groups=tuple(from_json(Group, row["group"]) for row in rows),
        rewards=tuple(from_json(tuple[RewardBreakdown, ...], row["rewards"]) for row in rows),
        advantages=tuple(_numbers(row["advantages"]) for row in rows),
    )


def _numbers(stored: Any) -> Any:
    """Inverse of `as_stored` for numbers and lists of them: None becomes nan."""
    if isinstance(stored, list):
        return tuple(map(_numbers, stored))
    return math.nan if stored is None else stored


def _whole_rows(path: Path) -> Iterator[dict[str, Any]]:
    """Rows up to the last line break: what follows it was torn by a kill."""
    raw = path.read_bytes() if path.exists() else b""
    for number, line in enumerate(raw[: raw.rfind(b"\n") + 1].splitlines(), 1):
        yield _object(line, f"{path}, line {number}")


def _read_json(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise ValueError(f"expected a run's folder with {path.name}, found no file {path}")
    return _object(path.read_bytes(), str(path))


def _object(text: bytes, where: str) -> dict[str, Any]:
    """The JSON object that a file or a row is. Raises ValueError saying where none is."""
    try:
        value = json.loads(text.decode())
        if not isinstance(value, dict):
            raise ValueError(f"a JSON {type(value).__name__}")
    except ValueError as error:  # no JSON, no UTF-8
        raise ValueError(
            f"{where}: expected a JSON object, got {text[:40]!r} ({error}); the file is damaged: "
            "restore it from a copy, or put it right by hand"
        ) from error
    return value
