"""Writing a run's folder, so that a kill at any moment loses nothing that was whole.

Stage: beside the loop. In: settings, rows of metrics, iterations; out: the files that the room's
docstring lists. Left out: what they mean (`learning.journal`).
"""

from __future__ import annotations

import gzip
import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.records import SCHEMA, to_json
from workbench.runlog.stored import StoredIteration


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
                "give another folder (runlog.new_folder(NAME) finds one), or resume that run"
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


def write_json(path: Path, value: Any) -> None:
    """Write a JSON file so that a reader, or a kill, sees the old text or the new, never half."""
    part = path.with_name(f".{path.name}.part")
    with open(part, "w", encoding="utf-8") as file:
        file.write(json.dumps(as_stored(value), indent=1, allow_nan=False) + "\n")
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, path)


def as_stored(value: Any) -> Any:
    """The value as JSON can hold it: tuples as lists, None in the place of nan and infinities."""
    if isinstance(value, Mapping):
        return {key: as_stored(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_stored(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _append(path: Path, data: bytes) -> None:
    with open(path, "ab") as file:
        file.write(data)
