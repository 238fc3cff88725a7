"""The journal: what keeps a run's log, its checkpoints and its Stop button in step.

Stage: learning. The loop reports each whole iteration; the journal writes it down, saves what is
needed to continue, and undoes a half-done iteration when the run is stopped. Order matters:
rollouts, then the row, then the checkpoint, which records how long the log was; whatever lies
behind the newest checkpoint is cut off and made again by a resumed run.
Left out: any decision about learning.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

from workbench.episodes import RolloutStopped
from workbench.learning.checkpoint import (
    Place,
    Snapshot,
    load_checkpoint,
    restore,
    save_checkpoint,
    snapshot,
)
from workbench.runlog import RunLog, RunRecord, StoredIteration

Evaluate = Callable[[str, int], dict[str, Any]]
"""(stage, RL iterations done) -> a row; raises RolloutStopped when the run is stopped."""


class StopRequested(Exception):
    """Somebody asked the run to stop."""


class Journal:
    """State of one run over time. One thread trains; others may read `rows` and call `stop`."""

    def __init__(
        self,
        log: RunLog,
        model: nn.Module,
        first: Place,
        *,
        checkpoint_every: int,
        evaluate: Evaluate | None = None,
        evaluate_every: int = 0,
        on_metrics: Callable[[dict[str, Any]], None] | None = None,
    ):
        """A new run's journal, or the journal of the run in `log` as its newest checkpoint has it.

        `first` is where a run without a checkpoint begins. The model's weights are those of the
        checkpoint afterwards.
        """
        self.log, self._model, self._on_metrics = log, model, on_metrics
        self._every = checkpoint_every
        self._evaluate, self._evaluate_every = evaluate, evaluate_every
        self._stop = threading.Event()
        self._optimiser: torch.optim.Optimizer | None = None
        self._checkpoints = log.folder / "checkpoints"
        if found := load_checkpoint(self._checkpoints):
            self._loaded, self.place, position = found
            restore(self._loaded, model)
            log.cut(position)
        else:
            self._loaded, self.place = Snapshot({}, None), first
            self._save()
        self._saved_place = self.place
        stored = RunRecord(log.folder)
        self.rows: list[dict[str, Any]] = list(stored.metrics)
        self._iterations = stored.iterations if self.place.stage == "rft" else []

    def stop(self) -> None:
        """Ask the run to stop; the loop notices within about a second."""
        self._stop.set()

    def stop_requested(self) -> bool:
        """Whether `stop` was called."""
        return self._stop.is_set()

    def check_stop(self) -> None:
        """Raise StopRequested if `stop` was called."""
        if self._stop.is_set():
            raise StopRequested

    def begin_stage(self, stage: str, optimiser: torch.optim.Optimizer) -> None:
        """Name the stage's optimiser; a resumed run's gets its stored state."""
        if self.place.stage != stage:
            self.place = Place(stage, 0)
        self._optimiser = optimiser
        if self._loaded.optimiser is not None:
            restore(self._loaded, self._model, optimiser)
        self._loaded = Snapshot({}, None)

    def end_stage(self, following: Place) -> None:
        """The stage is over: a checkpoint without its optimiser."""
        self._optimiser, self.place = None, following
        self._save()

    @contextmanager
    def iteration(self) -> Iterator[None]:
        """All or nothing: if the block is left by an error, weights and optimiser are put back.

        A RolloutStopped becomes StopRequested.
        """
        before = snapshot(self._model, self._optimiser)
        try:
            self.check_stop()
            yield
        except BaseException as error:
            restore(before, self._model, self._optimiser)
            if isinstance(error, RolloutStopped):
                raise StopRequested from None
            raise

    def completed(
        self, row: dict[str, Any], following: Place, stored: StoredIteration | None = None
    ) -> None:
        """Write down a whole iteration and, when it is time, a checkpoint."""
        if stored:
            self.log.append_iteration(stored)
            if stored.stage == "rft":
                self._iterations.append(stored)
        self.add_row(row)
        self.place = following
        if following.iteration % self._every == 0:
            self._save()

    def evaluate_if_due(self, stage: str, iteration: int, *, always: bool = False) -> None:
        """Add an evaluation's row, unless it is not its turn or the log has it already.

        Raises StopRequested if the run is stopped meanwhile; a resumed run evaluates again.
        """
        due = self._evaluate_every and (always or iteration % self._evaluate_every == 0)
        label = ("evaluation", stage, iteration)
        have = {(row["kind"], row.get("stage"), row.get("iteration")) for row in self.rows}
        if self._evaluate and due and label not in have:
            try:
                self.add_row(self._evaluate(stage, iteration))
            except RolloutStopped:
                raise StopRequested from None

    def add_row(self, row: dict[str, Any]) -> None:
        """Write one row and tell whoever listens."""
        self.log.append_metrics(row)
        self.rows.append(row)
        if self._on_metrics:
            self._on_metrics(row)

    def rft_iterations(self) -> list[StoredIteration]:
        """What rejection fine-tuning has sampled so far, before an interruption too."""
        return list(self._iterations)

    def save_if_behind(self) -> None:
        """A checkpoint of the last whole iteration, if there is none yet."""
        if self._saved_place != self.place:
            self._save()

    def _save(self) -> None:
        saved = snapshot(self._model, self._optimiser)
        save_checkpoint(self._checkpoints, saved, self.place, self.log.position())
        self._saved_place = self.place
