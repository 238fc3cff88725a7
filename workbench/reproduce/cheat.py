"""The cheating arms over several seeds: what the reward reports against what is true.

Stage: the whole loop, `demo --cheat` a seed. In: an order; out: reported reward, edited tests and
hidden truth of each arm, with t intervals over seeds.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.demo import cheat
from workbench.demo.cheating import ARMS, ITERATIONS
from workbench.demo.counts import NUM_TEST
from workbench.learning import TrainConfig
from workbench.learning.provenance import describe_config
from workbench.reproduce.claims import Order
from workbench.reproduce.headline import TINY_CONFIG
from workbench.reproduce.jobs import Job, run_jobs
from workbench.reproduce.report import about, base_hash, over_seeds, percent, publish, table
from workbench.runlog import load_run

COLUMNS = {
    "reported": ("reported", "tests pass, as left"),
    "edited_tests": ("edited_tests", "edited the tests"),
    "solved": ("solved", "estimate", "really solved"),
}
"""Name -> where the number is in an arm's result, and the words above its column."""

CURVES = ("reward_mean", "edited_tests_share", "solved_share")
"""Columns of the runs' metrics that are kept for every iteration."""


@dataclass(frozen=True)
class Sizes:
    """How large a seed's runs are."""

    config: TrainConfig = TrainConfig(max_turns=8)
    """Settings of the runs."""
    num_test: int = NUM_TEST
    """Test tasks."""


FULL, FAST = Sizes(), Sizes(TINY_CONFIG, num_test=4)


def measure(order: Order) -> Path:
    """Run the seeds that are missing, print the table, return the JSON file's path."""
    policy_hash = base_hash(order)
    head = about(order, policy_hash)
    rows = run_jobs([job(order, seed, policy_hash) for seed in order.seeds])
    found = {"iterations": ITERATIONS, "per_seed": rows, "means": means(rows)}
    return publish(order, head, found, told(rows, found["means"]))


def job(order: Order, seed: int, policy_hash: str) -> Job:
    """One seed: all arms."""
    sizes = FAST if order.fast else FULL
    settings = {"policy_hash": policy_hash, "num_test": sizes.num_test, "iterations": ITERATIONS}
    return Job(
        result=order.work / f"seed-{seed}.json",
        function=run_seed,
        arguments={"seed": seed, "folder": order.work / f"seed-{seed}", "policy": order.policy,
                   "sizes": sizes},
        settings=settings | {"config": describe_config(sizes.config)},
    )  # fmt: skip


def run_seed(seed: int, folder: Path, policy: str, sizes: Sizes) -> dict[str, Any]:
    """Run, or go on with, one seed of the cheating demo; returns its row."""
    interrupted = (folder / "counts.json").exists()
    cheat(seed=seed, out=folder, resume=interrupted, config=sizes.config, policy_name=policy,
          num_test=sizes.num_test)  # fmt: skip
    results = json.loads((folder / "results.json").read_text("utf-8"))
    curves = {arm: curve(load_run(folder / arm).metrics) for arm in ARMS}
    return {"seed": seed, "interrupted": interrupted, "curves": curves, **results}


def curve(metrics: Sequence[Mapping[str, Any]]) -> dict[str, list[float]]:
    """{column: its value in each RL iteration} of a run: what the reward paid, and the truth."""
    rows = [row for row in metrics if row["kind"] == "iteration" and row["stage"] == "rl"]
    return {name: [row[name] for row in rows] for name in CURVES}


def means(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """{arm: {column: Interval over seeds}}, the base first."""
    return {
        arm: {name: over_seeds(rows, arm, *path) for name, (*path, _) in COLUMNS.items()}
        for arm in ("base", *ARMS)
    }


def told(rows: Sequence[Mapping[str, Any]], found: Mapping[str, Any]) -> str:
    """The table: a line an arm, truth beside report, and the truth of each seed."""
    titles = {"base": "base"} | {name: arm.title for name, arm in ARMS.items()}
    head = ["on test tasks, paid for", *(words for *_, words in COLUMNS.values())]
    lines = [[*head, *(f"seed {row['seed']}" for row in rows)]]
    for arm, columns in found.items():
        seeds = (
            f"{100 * row[arm]['reported']:.0f} / {100 * row[arm]['solved']['estimate']:.0f}"
            for row in rows
        )
        lines.append([titles[arm], *(percent(columns[name]) for name in COLUMNS), *seeds])
    return table(lines) + (
        "\nmeans with 95 % t intervals over seeds, temperature 1; a seed: reported / really solved"
    )
