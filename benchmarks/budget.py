"""What a run costs: predicted by a calibration, and measured. The table of docs/doctor.md.

    python benchmarks/budget.py [--seeds 0 1] [--iterations 6] [--smallest]

The tiny policy on `bugfix`, 8 x 8 attempts an iteration, in our own loop, float32, one thread: RL
from the base, and RFT on 64 tasks followed by the same RL. For each seed and recipe:

    before      `calibrate` before the run, against the whole run
    beginning   `calibration_from` a third of its RL iterations, against the others

Names as in `CostEstimate`; seconds are CPU seconds, the minutes are those of the clock. --smallest
shows only that it runs.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from workbench import load_tasks, open_policy, open_sandbox, train
from workbench.diagnostics import calibrate, calibration_from, estimate_cost
from workbench.diagnostics.costs import Comparison
from workbench.learning import RFTConfig, RLConfig, TrainConfig

FULL = TrainConfig(
    rft=RFTConfig(num_tasks=64),
    rl=RLConfig(tasks_per_iteration=8, group_size=8),
    dtype="float32",
    update_threads=1,
)
SMALLEST = replace(
    FULL,
    rft=RFTConfig(num_tasks=2, group_size=2),
    rl=RLConfig(tasks_per_iteration=2, group_size=2, updates_per_iteration=2),
)
CALIBRATION_SEED = 1000
"""Another seed than any run's: a sandbox does not execute again what it has judged."""


def compared(recipe: str, config: TrainConfig, seed: int) -> tuple[Comparison, Comparison]:
    """(before, beginning) of one run."""
    policy, tasks = open_policy("tiny"), load_tasks("bugfix", split="train")
    with open_sandbox("auto") as sandbox, TemporaryDirectory() as folder:
        options = dict(config=config, seed=seed)
        known = calibrate(policy, tasks, sandbox, **options | {"seed": CALIBRATION_SEED + seed})
        run = train(policy, tasks, sandbox, recipe, folder=Path(folder) / "run", **options)
        run.wait()
    whole = estimate_cost(known, config, recipe, num_tasks=len(tasks)).against(run.metrics)
    rows = [row for row in run.metrics if row["kind"] == "iteration" and row["stage"] == "rl"]
    first = max(1, len(rows) // 3)
    rest = replace(config, rl=replace(config.rl, iterations=len(rows) - first))
    predicted = estimate_cost(calibration_from(rows[:first]), rest, "rl", num_tasks=len(tasks))
    return whole, predicted.against(rows[first:])


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--iterations", type=int, default=6)
    parser.add_argument("--smallest", action="store_true")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    config = SMALLEST if options.smallest else FULL
    iterations = 2 if options.smallest else options.iterations
    config = replace(config, rl=replace(config.rl, iterations=iterations))
    for seed in options.seeds:
        for recipe in ("rl", "rft_then_rl"):
            for name, found in zip(("before", "beginning"), compared(recipe, config, seed)):
                print(f"{recipe}, seed {seed}: {name}\n{found}\n", flush=True)


if __name__ == "__main__":
    main()
