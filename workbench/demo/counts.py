"""How much fits into some minutes: counts, fixed before a run starts.

Stage: the whole loop. In: minutes and the measured seconds of one episode; out: numbers of tasks
and iterations. A few attempts are timed before anything else, so that too few minutes are refused
at once and not after the base was evaluated. Left out: a clock that stops a run, which would make
two equal runs differ.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from workbench.bootstrap import SetupError
from workbench.evaluation import evaluate
from workbench.learning import TrainConfig
from workbench.records import Task
from workbench.runlog import write_json

NUM_TEST, NUM_DEV = 256, 128
"""Unseen tasks for the table (split "test"), and for the curve (split "dev")."""
OVERHEAD_S = 30.0
"""Imports, figures and writing, in seconds, set aside when a run is fitted into minutes."""
RL_COST = 1.6
"""An RL episode costs about this many times an episode: it is also learned from."""

COUNTS = "counts.json"
"""A run's file of them."""
NUM_TIMED = 32
"""Attempts that are timed before a run that has to fit into minutes."""
MIN_CHEAT = 5
"""Iterations of each cheating run; with fewer there is nothing to be seen."""


def timed_episode_s(policy, tasks: Sequence[Task], sandbox, seed: int) -> float:
    """Wall-clock seconds of one of NUM_TIMED attempts that are made together."""
    start, timed = time.monotonic(), tasks[:NUM_TIMED]
    evaluate(policy, timed, sandbox, seed=seed)
    return (time.monotonic() - start) / len(timed)


def fixed_counts(
    folder: Path, name: str, make: Callable[[], dict[str, int]]
) -> dict[str, int | str]:
    """The counts that the folder's file holds, or those that `make` returns, stored there with the
    run's name ("demo-0"): a resumed run keeps the counts it was started with, however fast the
    machine is today."""
    if begun_in(folder) is None:
        counts = {"name": name, **make()}
        folder.mkdir(parents=True, exist_ok=True)
        write_json(folder / COUNTS, counts)
    return _stored_counts(folder)


def begun_in(folder: Path) -> str | None:
    """Name of the run that was begun in this folder ("demo-0"), or None if there is none."""
    return _stored_counts(folder).get("name")


def _stored_counts(folder: Path) -> dict[str, int | str]:
    path = folder / COUNTS
    return json.loads(path.read_text("utf-8")) if path.is_file() else {}


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
        raise _too_few(need_s, seconds_left + spent_s)
    return {"rft_tasks": rft_tasks, "rl_iterations": iterations}


def cheat_counts_for(
    seconds_left: float, episode_s: float, config: TrainConfig, num_test: int, num_arms: int,
    spent_s: float = 0.0,
) -> dict[str, int]:  # fmt: skip
    """How many RL iterations each of `num_arms` cheating runs can have beside RFT and evaluation.

    Raises SetupError if it is less than MIN_CHEAT.
    """
    rft_s = config.rft.num_tasks * config.rft.group_size * episode_s
    fixed = OVERHEAD_S + rft_s + num_arms * num_test * episode_s
    per_iteration = RL_COST * config.rl.tasks_per_iteration * config.rl.group_size * episode_s
    iterations = int((seconds_left - fixed) / num_arms / per_iteration)
    if iterations < MIN_CHEAT:
        need_s = spent_s + fixed + num_arms * MIN_CHEAT * per_iteration
        raise _too_few(need_s, seconds_left + spent_s)
    return {"rl_iterations": iterations}


def _too_few(need_s: float, given_s: float) -> SetupError:
    return SetupError(
        f"--minutes: expected at least about {math.ceil(need_s / 60)} on this machine as busy as "
        f"it is now, got {given_s / 60:.3g}; give more, or leave --minutes out"
    )
