"""The headline over several seeds: base, rejection fine-tuning, RL on the test split.

Stage: the whole loop, `demo` a seed. In: an order; out: solve rates at temperature 1 and greedy
with t intervals over seeds, minutes, and where the time went.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from workbench import plots
from workbench.bootstrap import SetupError
from workbench.demo import demo
from workbench.demo.counts import NUM_DEV, NUM_TEST
from workbench.demo.headline import CONFIG
from workbench.demo.measured import NAMES
from workbench.learning import RFTConfig, RLConfig, TrainConfig
from workbench.learning.provenance import describe_config
from workbench.reproduce.claims import Order
from workbench.reproduce.jobs import Job, is_done, run_jobs, stored
from workbench.reproduce.report import about, base_hash, over_seeds, percent, publish, table
from workbench.runlog import load_run
from workbench.stats import mean_interval


@dataclass(frozen=True)
class Sizes:
    """How large a seed's run is."""

    config: TrainConfig = CONFIG
    """Settings of the run."""
    num_test: int = NUM_TEST
    """Test tasks for the table."""
    num_dev: int = NUM_DEV
    """Dev tasks for the curve."""


TINY_CONFIG = replace(
    TrainConfig(),
    rft=RFTConfig(num_tasks=2, group_size=2, tasks_per_iteration=2),
    rl=RLConfig(iterations=1, tasks_per_iteration=2, group_size=2),
)
"""Settings with which every stage runs and nothing is learned."""
FULL, FAST = Sizes(), Sizes(TINY_CONFIG, num_test=4, num_dev=2)


def measure(order: Order) -> Path:
    """Run the seeds that are missing, print the table, return the JSON file's path."""
    policy_hash = base_hash(order)
    head = about(order, policy_hash)
    rows = run_jobs([job(order, seed, policy_hash) for seed in order.seeds])
    found = {"per_seed": rows, "means": means(rows), "time": where_time_went(rows)}
    return publish(order, head, found, told(rows, found) + f"\nfigure: {draw(order)}")


def job(order: Order, seed: int, policy_hash: str) -> Job:
    """One seed."""
    sizes = FAST if order.fast else FULL
    settings = {"policy_hash": policy_hash, "num_test": sizes.num_test, "num_dev": sizes.num_dev}
    return Job(
        result=order.folder / "headline" / f"seed-{seed}.json",
        function=run_seed,
        arguments={"seed": seed, "folder": seed_folder(order, seed), "policy": order.policy,
                   "sizes": sizes},
        settings=settings | {"config": describe_config(sizes.config)},
    )  # fmt: skip


def stored_row(order: Order, seed: int, policy_hash: str) -> dict[str, Any]:
    """The row of a seed that has been measured. Raises SetupError if it has not, or not on this
    base with these settings."""
    wanted = job(order, seed, policy_hash)
    if not is_done(wanted):
        raise SetupError(
            f"{order.name}: expected a finished headline seed at {wanted.result}, found none; "
            f"run `python3 -m workbench reproduce headline --seeds {seed + 1}` first"
        )
    return stored(wanted)


def seed_folder(order: Order, seed: int) -> Path:
    """The folder `demo` writes: results.json, figures, and the run with its policy."""
    return order.folder / "headline" / f"seed-{seed}"


def run_seed(seed: int, folder: Path, policy: str, sizes: Sizes) -> dict[str, Any]:
    """Run, or go on with, one seed of the demo; returns its row."""
    interrupted = (folder / "counts.json").exists()
    demo(seed=seed, out=folder, resume=interrupted, config=sizes.config, policy_name=policy,
         num_test=sizes.num_test, num_dev=sizes.num_dev)  # fmt: skip
    results = json.loads((folder / "results.json").read_text("utf-8"))
    spent = results["about"]["spent_s"] | {"total": results["about"]["wall_s"]}
    return {
        "seed": seed,
        "interrupted": interrupted,
        "spent_s": spent,
        "training_cpu_s": training_cpu_s(folder / "run"),
        **{stage: results[stage] for stage in NAMES},
    }


def training_cpu_s(run: Path) -> float:
    """CPU seconds of RFT and RL: sampling, sandbox and updates, evaluations not counted."""
    seconds = [row["seconds"] for row in load_run(run).metrics if row["kind"] != "evaluation"]
    return sum(s[f"{name}_cpu"] for s in seconds for name in ("sampling", "sandbox", "update"))


def draw(order: Order) -> Path:
    """The learning curves of all seeds, on the dev tasks that `demo` evaluates meanwhile."""
    runs = [load_run(seed_folder(order, seed) / "run") for seed in order.seeds]
    title = f"Repairing bugs in functions never seen before ({len(runs)} runs)"
    figure = plots.learning_curve(runs if len(runs) > 1 else runs[0], title=title)
    return plots.save_png(figure, order.folder / "headline.png")


def means(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """{stage: {"sampled" | "greedy": Interval over seeds}}."""
    return {
        stage: {how: over_seeds(rows, stage, how, "estimate") for how in ("sampled", "greedy")}
        for stage in NAMES
    }


def where_time_went(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Minutes a seed, with intervals, and the share of each part; of seeds that were never
    interrupted (of the others only the last leg's minutes are known)."""
    whole = [row for row in rows if not row["interrupted"]]
    if not whole:
        return {}
    totals = [row["spent_s"]["total"] for row in whole]
    parts = {name: _seconds(whole, f"{name}_wall") for name in ("sampling", "update")}
    parts["evaluation and the rest"] = [t - sum(p) for t, p in zip(totals, zip(*parts.values()))]
    return {
        "minutes": mean_interval([t / 60 for t in totals]),
        "training_cpu_minutes": mean_interval([row["training_cpu_s"] / 60 for row in whole]),
        "shares": {name: sum(seconds) / sum(totals) for name, seconds in parts.items()},
        "sandbox_cpu_share": sum(_seconds(whole, "sandbox_cpu")) / sum(totals),
    }


def _seconds(rows: Sequence[Mapping[str, Any]], name: str) -> list[float]:
    return [row["spent_s"].get(name, 0.0) for row in rows]


def told(rows: Sequence[Mapping[str, Any]], found: Mapping[str, Any]) -> str:
    """The table: a line a stage, a column a seed, and the time."""
    head = ["test tasks solved", "temperature 1", "greedy"]
    lines = [[*head, *(f"seed {row['seed']}" for row in rows)]]
    for stage, name in NAMES.items():
        cells = [percent(found["means"][stage][how]) for how in ("sampled", "greedy")]
        cells += [_pair(row[stage]) for row in rows]
        lines.append([name, *cells])
    lines.append(["minutes", "", "", *(_minutes(row) for row in rows)])
    text = table(lines) + "\nmeans with 95 % t intervals over seeds; a seed: temperature 1 / greedy"
    handed_in = {name: over_seeds(rows, s, "sampled", "submit_share") for s, name in NAMES.items()}
    shares = ", ".join(f"{name} {percent(share)}" for name, share in handed_in.items())
    text += f"\nhanded in at temperature 1: {shares}"
    if time := found["time"]:
        shares = ", ".join(f"{name} {share:.0%}" for name, share in time["shares"].items())
        text += f"\nwhere the time went: {shares}; the sandbox used {time['sandbox_cpu_share']:.0%}"
        text += " in CPU seconds"
    return text


def _pair(stage: Mapping[str, Any]) -> str:
    return f"{100 * stage['sampled']['estimate']:.1f} / {100 * stage['greedy']['estimate']:.1f}"


def _minutes(row: Mapping[str, Any]) -> str:
    return "resumed" if row["interrupted"] else f"{row['spent_s']['total'] / 60:.1f}"
