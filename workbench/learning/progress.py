"""Progress: how much of a run is done and how long the rest will take.

Stage: learning. Rows of metrics and the settings go in; a `Progress` comes out. A pure function,
so it also works on a stored run. Left out: time for the evaluations still to come.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.learning.config import TrainConfig

RL_PER_RFT = 1.6
"""An RL rollout costs about this many times an RFT rollout: it is also learned from."""


@dataclass(frozen=True)
class Progress:
    """How far a run is."""

    stage: str
    """"rft", "rl", or "start" before the first row."""
    num_done: int
    """Iterations done in that stage."""
    num_total: int
    """Iterations of that stage."""
    elapsed_s: float
    """Seconds spent in iterations so far, earlier parts of a resumed run included."""
    left_s: float | None
    """Seconds until the end at this pace; None until an iteration has been timed."""

    def __str__(self) -> str:
        if self.left_s is None:
            return "starting"
        left = round(self.left_s)
        return f"{self.stage} {self.num_done}/{self.num_total}, {left // 60}:{left % 60:02d} left"


def progress_of(
    rows: Sequence[Mapping[str, Any]], config: TrainConfig, recipe: str, num_tasks: int
) -> Progress:
    """Progress of a run with these rows so far; `num_tasks` are the tasks it may train on."""
    totals = {}
    if recipe != "rl":
        rft_tasks = min(config.rft.num_tasks, num_tasks)
        totals["rft"] = -(-rft_tasks // config.rft.tasks_per_iteration)
    if recipe != "rft":
        totals["rl"] = config.rl.iterations
    per_iteration = {
        "rft": config.rft.tasks_per_iteration * config.rft.group_size,
        "rl": config.rl.tasks_per_iteration * config.rl.group_size * RL_PER_RFT,
    }
    iterations = [row for row in rows if row["kind"] == "iteration"]
    elapsed = sum(row["seconds"]["wall"] for row in iterations)
    if not iterations:
        return Progress("start", 0, sum(totals.values()), 0.0, None)
    done = {stage: sum(r["stage"] == stage for r in iterations) for stage in totals}
    stage = iterations[-1]["stage"]
    left = 0.0
    for name, total in totals.items():
        timed = [r for r in iterations if r["stage"] == name] or iterations
        pace = sum(r["seconds"]["wall"] for r in timed) / sum(
            per_iteration[r["stage"]] for r in timed
        )  # seconds a rollout, in units of RFT rollouts
        left += (total - done[name]) * per_iteration[name] * pace
    return Progress(stage, done[stage], totals[stage], elapsed, left)
