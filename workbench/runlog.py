"""The run log: one folder a run, written while it runs and readable without torch.

Stage: beside the loop. Settings, metrics and rollouts go in as they are made; `load_run` brings
them back, also from a run that was killed in the middle of a write.

    config.json             settings, seeds, versions, hashes; written once
    status.json             running, finished, stopped or failed
    metrics.jsonl           one row an iteration, a fine-tuning stage or an evaluation
    trajectories.jsonl.gz   one gzip member an iteration: every group, reward and advantage
    checkpoints/000012/     what `train(resume=True)` continues from (written by `learning`)
    policy/                 the policy at the end, loadable by transformers

Only whole rows and whole members count: a torn last one is skipped when reading and cut off
when resuming. Left out: several writers of one folder.
"""

from __future__ import annotations

import gzip
import json
import math
import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from workbench.records import SCHEMA, Group, RewardBreakdown, Task, from_json, to_json

RECORDED = Path(__file__).parents[1] / "data" / "runs"
"""Where the recorded runs that come with the project lie."""
RUNS = Path("runs")
"""Where new runs are written, below the current folder."""


@dataclass(frozen=True)
class StoredIteration:
    """One iteration's rollouts with what was made of them."""

    stage: str
    """"rft" or "rl"; of a recording, whose attempts they are."""
    iteration: int
    """Index within its stage, from 0."""
    tasks: tuple[Task, ...]
    """One a group."""
    groups: tuple[Group, ...]
    """As sampled."""
    rewards: tuple[tuple[RewardBreakdown, ...], ...]
    """One row a group, one breakdown a trajectory."""
    advantages: tuple[tuple[float | tuple[float, ...], ...], ...]
    """A row a group, a number a trajectory or, where they differ, a turn; nan = left out."""


@dataclass(frozen=True)
class LogPosition:
    """How much of the log belongs to a checkpoint, in bytes."""

    metrics: int
    """Bytes of metrics.jsonl."""
    trajectories: int
    """Bytes of trajectories.jsonl.gz."""


class RunLog:
    """Writes a run's folder. Every append is one write; a kill between two loses nothing."""

    def __init__(self, folder: str | Path):
        """Opens `folder`, which `create` has made."""
        self.folder = Path(folder)
        self._metrics = self.folder / "metrics.jsonl"
        self._trajectories = self.folder / "trajectories.jsonl.gz"

    @classmethod
    def create(cls, folder: str | Path, config: Mapping[str, Any]) -> RunLog:
        """A new run's log. Raises ValueError if the folder already holds a run."""
        folder = Path(folder)
        if (folder / "config.json").exists():
            raise ValueError(
                f"folder: expected a new one, but {folder} already holds a run; "
                "give another folder, or resume=True to continue that run"
            )
        folder.mkdir(parents=True, exist_ok=True)
        log = cls(folder)
        log.cut(LogPosition(0, 0))
        write_json(folder / "config.json", {"schema": SCHEMA, **config})
        return log

    def append_metrics(self, row: Mapping[str, Any]) -> None:
        """Add one row; numbers that are not finite are stored as null."""
        _append(self._metrics, (json.dumps(as_stored(row), allow_nan=False) + "\n").encode())

    def append_iteration(self, stored: StoredIteration) -> None:
        """Add one iteration's rollouts as a gzip member of their own."""
        header = {"schema": SCHEMA, "stage": stored.stage, "iteration": stored.iteration}
        lines = [header] + [
            {
                "task": to_json(task),
                "group": to_json(group),
                "rewards": to_json(rewards),
                "advantages": as_stored(advantages),
            }
            for task, group, rewards, advantages in zip(
                stored.tasks, stored.groups, stored.rewards, stored.advantages, strict=True
            )
        ]
        text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
        _append(self._trajectories, gzip.compress(text.encode(), 6, mtime=0))

    def set_status(self, state: str, **details: Any) -> None:
        """Replace status.json in one go."""
        write_json(self.folder / "status.json", {"state": state, **details})

    def position(self) -> LogPosition:
        """Where the log ends now; everything before it is on disk when this returns."""
        for path in (self._metrics, self._trajectories):
            with open(path, "rb") as file:
                os.fsync(file.fileno())
        return LogPosition(self._metrics.stat().st_size, self._trajectories.stat().st_size)

    def cut(self, position: LogPosition) -> None:
        """Forget everything after `position` (a resumed run makes it again)."""
        ends = (self._metrics, position.metrics), (self._trajectories, position.trajectories)
        for path, size in ends:
            with open(path, "ab") as file:
                file.truncate(min(size, file.tell()))


class StoredGroups(Sequence[Group]):
    """All groups of a run in order; called with a stage or an iteration, those alone."""

    def __init__(self, iterations: Sequence[StoredIteration]):
        self._iterations = iterations
        self._groups = [group for stored in iterations for group in stored.groups]

    def __call__(self, *, iteration: int | None = None, stage: str | None = None) -> list[Group]:
        """The groups of one iteration, of one stage, or of both together."""
        return [
            group
            for stored in self._iterations
            if iteration in (None, stored.iteration) and stage in (None, stored.stage)
            for group in stored.groups
        ]

    def __getitem__(self, index: int | slice) -> Group | list[Group]:
        return self._groups[index]

    def __len__(self) -> int:
        return len(self._groups)


class RunRecord:
    """A stored run. Everything is read when first asked for."""

    def __init__(self, folder: str | Path):
        """Raises ValueError if `folder` holds no run, or one with another schema."""
        self.folder = Path(folder)
        self.config: dict[str, Any] = _read_json(self.folder / "config.json")
        if self.config.get("schema") != SCHEMA:
            raise ValueError(
                f"{self.folder}: expected a run with schema {SCHEMA}, got "
                f"{self.config.get('schema')!r}; record it again with this version"
            )

    @cached_property
    def metrics(self) -> list[dict[str, Any]]:
        """The rows of metrics.jsonl in order."""
        return list(_whole_rows(self.folder / "metrics.jsonl"))

    @cached_property
    def iterations(self) -> list[StoredIteration]:
        """Every stored iteration in order."""
        path = self.folder / "trajectories.jsonl.gz"
        return [_iteration(text) for _, text in gzip_members(path)]

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
        """status.json: "state" is running (also of a killed run), finished, stopped or failed."""
        path = self.folder / "status.json"
        return _read_json(path) if path.exists() else {"state": "unknown"}

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
        return f"RunRecord({str(self.folder)!r}, {state}, {num_rows} rows of metrics)"


def load_run(name_or_folder: str | Path) -> RunRecord:
    """The run in a folder (a demo's will do), below `runs/`, or among the recorded ones.

    Needs no torch. Raises ValueError if there is none, naming the places that were looked at.
    """
    places = [Path(name_or_folder), RUNS / name_or_folder, RECORDED / name_or_folder]
    for place in (p for folder in places for p in (folder, folder / "run")):
        if (place / "config.json").is_file():
            return RunRecord(place)
    known = [p.parent.relative_to(t) for t in (RUNS, RECORDED) for p in t.rglob("metrics.jsonl")]
    raise ValueError(
        f"run: expected a folder with a config.json, found none at {[str(p) for p in places]}; "
        f"runs there are: {sorted(map(str, known)) or 'none yet'}"
    )


def gzip_members(path: Path) -> Iterator[tuple[int, str]]:
    """(offset where it ends, text) of each whole gzip member; stops at a torn one."""
    raw, end = path.read_bytes() if path.exists() else b"", 0
    while end < len(raw):
        unpacker, pieces = zlib.decompressobj(wbits=31), []
        try:
            while not unpacker.eof and end < len(raw):
                pieces.append(unpacker.decompress(raw[end : end + 65536]))
                end = min(end + 65536, len(raw)) - len(unpacker.unused_data)
        except zlib.error:
            return
        if not unpacker.eof:
            return
        yield end, b"".join(pieces).decode()


def write_json(path: Path, value: Any) -> None:
    """Write a JSON file so that a reader, or a kill, sees the old text or the new, never half."""
    part = path.with_name(f".{path.name}.part")
    with open(part, "w", encoding="utf-8") as file:
        file.write(json.dumps(as_stored(value), indent=1, allow_nan=False) + "\n")
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, path)


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
    for line in raw[: raw.rfind(b"\n") + 1].splitlines():
        yield json.loads(line)


def _read_json(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise ValueError(f"expected a run's folder with {path.name}, found no file {path}")
    return json.loads(path.read_text(encoding="utf-8"))


def _append(path: Path, data: bytes) -> None:
    with open(path, "ab") as file:
        file.write(data)


def as_stored(value: Any) -> Any:
    """The value as JSON can hold it: tuples as lists, None in the place of nan and infinities."""
    if isinstance(value, Mapping):
        return {key: as_stored(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_stored(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
