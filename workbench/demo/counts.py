"""How much fits into some minutes: counts, fixed before a run starts.

Stage: the whole loop. In: minutes and the measured seconds of one episode; out: numbers of tasks
and iterations. Left out: a clock that stops a run, which would make two equal runs differ.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from workbench.bootstrap import SetupError
from workbench.learning import TrainConfig
from workbench.runlog import write_json

NUM_TEST, NUM_DEV = 256, 128
"""Unseen tasks for the table (split "test"), and for the curve (split "dev")."""
OVERHEAD_S = 30.0
"""Imports, figures and writing, in seconds, set aside when a run is fitted into minutes."""
RL_COST = 1.6
"""An RL episode costs about this many times an episode: it is also learned from."""


def fixed_counts(folder: Path, make: Callable[[], dict[str, int]]) -> dict[str, int]:
    """The counts in the folder's counts.json, or those that `make` returns, stored there: a
    resumed run keeps the counts it was started with, however fast the machine is today."""
    path = folder / "counts.json"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        write_json(path, make())
    return json.loads(path.read_text("utf-8"))


def counts_for(
    seconds_left: float, episode_s: float, config: TrainConfig, spent_s: float = 0.0
) -> dict[str, int]:
    """How many RFT tasks and RL iterations fit, given the wall-clock seconds of one episode.

    A quarter of the time for attempts goes to RFT, the rest to RL, whose attempts are also
    learned from. Raises SetupError if not even a small run fits.
    """
    per_rl = RL_COST * config.rl.tasks_per_iteration * config.rl.group_size * episode_s
    per_dev = NUM_DEV * episode_s / (config.evaluate_every or 10**9)  # spread over iterations
    fixed = OVERHEAD_S + 4 * NUM_TEST * episode_s + 3 * NUM_DEV * episode_s
    free = seconds_left - fixed
    rft_tasks = min(config.rft.num_tasks, int(free / 4 / (config.rft.group_size * episode_s)))
    free -= rft_tasks * config.rft.group_size * episode_s
    iterations = int(free / (per_rl + per_dev))
    if rft_tasks < 16 or iterations < 2:
        need_s = spent_s + fixed + 64 * config.rft.group_size * episode_s + 4 * per_rl
        raise SetupError(
            f"--minutes: expected at least about {need_s / 60:.0f} on this machine, got "
            f"{(seconds_left + spent_s) / 60:g}; give more, or leave --minutes out"
        )
    return {"rft_tasks": rft_tasks, "rl_iterations": iterations}


