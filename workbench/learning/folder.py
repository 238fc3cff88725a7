"""Whose folder is it? A new run's, or that of the run which goes on.

Stage: learning, before anything is sampled. A folder and what the run is made of go in; the log it
writes to comes out. Left out: the checkpoints inside (`checkpoint`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from workbench.learning.provenance import RESUME_NEEDS
from workbench.runlog import RunLog, as_stored, load_run

UNBEGUN = {"metrics.jsonl", "trajectories.jsonl.gz", ".config.json.part"}
"""What a run leaves that was killed before it had written its settings: another may begin there."""


class AnotherRun(ValueError):
    """A run to be resumed was started with other settings, or where its numbers would differ."""


def open_log(folder: Path, described: dict[str, Any], *, resume: bool) -> RunLog:
    """The log of a new run in `folder`, or of the one there if it was started with these settings.

    Raises ValueError for a new run if the folder holds anything, for the other if it holds none;
    AnotherRun if it holds one with other settings.
    """
    if resume:
        _check_same_run(folder, described)
        return RunLog(folder)
    names = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    if "config.json" not in names and (others := sorted(names - UNBEGUN)):
        raise ValueError(
            f"folder: expected a new one, but {folder} holds {', '.join(others[:3])} and no run; "
            "give another folder (runlog.new_folder(NAME) finds one)"
        )
    return RunLog.create(folder, described)


def _check_same_run(folder: Path, described: dict[str, Any]) -> None:
    stored, described = load_run(folder).config, as_stored(described)
    described = described | {"config": described["config"] | {"update_threads": None}}
    stored = stored | {"config": stored["config"] | {"update_threads": None}}  # changes nothing
    for name in RESUME_NEEDS:
        if stored[name] != described[name]:
            raise AnotherRun(
                f"resume: expected the settings the run in {folder} was started with, but "
                f"{first_difference(name, stored[name], described[name])}"
            )
    frozen = [("policy", "frozen_hash"), ("machine", "torch_threads")]
    for group, name in frozen:
        if stored[group][name] != described[group][name]:
            raise AnotherRun(
                f"resume: {group} {name}: expected {stored[group][name]!r} as when the run in "
                f"{folder} was started, got {described[group][name]!r}; the numbers would differ"
            )


def first_difference(name: str, stored: Any, got: Any) -> str:
    """Where two pieces of plain JSON that differ do so first.

    >>> first_difference("config", {"rl": {"lr": 1, "betas": [0, 0.9]}}, {"rl": {"lr": 1}})
    "config.rl.betas: stored [0, 0.9], got 'nothing'"
    """
    if isinstance(stored, list) and isinstance(got, list):
        stored, got = dict(enumerate(stored)), dict(enumerate(got))
    if not (isinstance(stored, dict) and isinstance(got, dict)):
        return f"{name}: stored {stored!r:.200}, got {got!r:.200}"
    pairs = ((key, stored.get(key, "nothing"), got.get(key, "nothing")) for key in stored | got)
    return next(first_difference(f"{name}.{key}", a, b) for key, a, b in pairs if a != b)
