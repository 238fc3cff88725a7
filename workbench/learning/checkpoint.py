"""Checkpoints: everything a run needs to continue as if it had never stopped.

Stage: learning. Weights, optimiser and counters go to disk and come back bit-equal. A checkpoint
is written beside its place and then renamed, so a kill at any moment leaves whole ones only.
Random numbers need no state of their own: each use derives its seed from the run's seed, the
stage and the iteration (`derive_seed`), and the update has no dropout.
Left out: sharded weights, uploads.
"""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from workbench.learning.optimiser import trained_parameters
from workbench.runlog import LogPosition, write_json

KEEP = 2
"""Newest checkpoints that are kept."""


@dataclass(frozen=True)
class Place:
    """Where a run is: the next thing it will do."""

    stage: str
    """"rft", "rl" or "end"."""
    iteration: int
    """Index of the next iteration in that stage."""


@dataclass(frozen=True)
class Snapshot:
    """A copy of what training changes."""

    weights: dict[str, torch.Tensor]
    """Trained parameters by name."""
    optimiser: dict[str, Any] | None
    """State of the stage's optimiser; None before its first use."""


def snapshot(model: nn.Module, optimiser: torch.optim.Optimizer | None) -> Snapshot:
    """A copy in memory of weights and optimiser."""
    weights = {name: p.detach().clone() for name, p in trained_parameters(model).items()}
    return Snapshot(weights, _copied(optimiser.state_dict()) if optimiser else None)


def restore(
    saved: Snapshot, model: nn.Module, optimiser: torch.optim.Optimizer | None = None
) -> None:
    """Put a snapshot back. Raises ValueError if the model trains other parameters."""
    parameters = trained_parameters(model)
    if parameters.keys() != saved.weights.keys():
        odd = sorted(parameters.keys() ^ saved.weights.keys())[:3]
        raise ValueError(
            f"checkpoint: expected the parameters this policy trains, got others ({odd} ...); "
            "resume with the policy the run was started with, LoRA settings included"
        )
    with torch.no_grad():
        for name, parameter in parameters.items():
            parameter.copy_(saved.weights[name])
    if optimiser and saved.optimiser:
        optimiser.load_state_dict(_copied(saved.optimiser))


def save_checkpoint(folder: Path, saved: Snapshot, place: Place, position: LogPosition) -> Path:
    """Write checkpoint number n + 1 below `folder`, then drop all but the newest KEEP."""
    folder.mkdir(parents=True, exist_ok=True)
    for unfinished in folder.glob(".writing-*"):
        shutil.rmtree(unfinished)
    existing = _numbers(folder)
    number = existing[-1] + 1 if existing else 0
    part, final = folder / f".writing-{number:06d}", folder / f"{number:06d}"
    part.mkdir()
    _save(part / "weights.pt", saved.weights)
    _save(part / "optimiser.pt", saved.optimiser)
    counters = {"place": dataclasses.asdict(place), "log": dataclasses.asdict(position)}
    write_json(part / "counters.json", counters)
    _sync_folder(part)
    os.rename(part, final)
    _sync_folder(folder)
    for old in (existing + [number])[:-KEEP]:
        # Renamed first: half a deleted folder must not look like a checkpoint.
        os.rename(folder / f"{old:06d}", folder / f".writing-{old:06d}")
        shutil.rmtree(folder / f".writing-{old:06d}")
    return final


def load_checkpoint(folder: Path) -> tuple[Snapshot, Place, LogPosition] | None:
    """The newest checkpoint below `folder`, or None if there is none."""
    if not (numbers := _numbers(folder)):
        return None
    newest = folder / f"{numbers[-1]:06d}"
    counters = json.loads((newest / "counters.json").read_text())
    saved = Snapshot(
        weights=torch.load(newest / "weights.pt", weights_only=True),
        optimiser=torch.load(newest / "optimiser.pt", weights_only=True),
    )
    return saved, Place(**counters["place"]), LogPosition(**counters["log"])


def derive_seed(seed: int, *purpose: str | int) -> int:
    """A seed below 2**63 for one purpose, for instance `derive_seed(0, "rl", 12, "sample")`.

    Other purposes or seeds give unrelated numbers; the same ones always give the same.
    """
    words = [seed] + [w if isinstance(w, int) else int.from_bytes(w.encode()) for w in purpose]
    state = np.random.SeedSequence(words).generate_state(1, np.uint64)
    return int(state[0] >> np.uint64(1))


def _numbers(folder: Path) -> list[int]:
    return sorted(int(p.name) for p in folder.glob("[0-9]*"))


def _save(path: Path, value: Any) -> None:
    with open(path, "wb") as file:
        torch.save(value, file)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _copied(value: Any) -> Any:
    """A deep copy whose tensors share no memory with the original."""
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    if isinstance(value, dict):
        return {key: _copied(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_copied(inner) for inner in value]
    return value
