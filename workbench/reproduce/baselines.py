"""What the headline is to be compared with: chance, brute force, and imitation of good scripts.

Stage: beside the loop. In: an order; out: solve rates on the headline's test tasks.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from workbench.demo.counts import NUM_TEST
from workbench.reproduce import competent
from workbench.reproduce.claims import Order
from workbench.reproduce.fine_tuning import SFTConfig
from workbench.reproduce.jobs import Job, run_jobs
from workbench.reproduce.report import about, base_hash, over_seeds, percent, publish, table
from workbench.reproduce.search import Found, random_edits, try_every_mutation
from workbench.sandbox import open_sandbox
from workbench.stats import bootstrap_tasks, pass_at_k, wilson
from workbench.tasks import load_tasks


@dataclass(frozen=True)
class Sizes:
    """How much is tried."""

    num_test: int = NUM_TEST
    """Test tasks."""
    tries: int = 32
    """Random edits a task and seed."""
    sft: SFTConfig = SFTConfig()
    """The supervised fine-tuning."""


FULL = Sizes()
FAST = Sizes(num_test=4, tries=2, sft=SFTConfig(num_updates=2, batch_size=4))


def measure(order: Order) -> Path:
    """Measure all three, print the table, return the JSON file's path."""
    sizes, policy_hash = FAST if order.fast else FULL, base_hash(order)
    head = about(order, policy_hash)
    tasks = load_tasks("bugfix", "test", sizes.num_test)
    with open_sandbox("auto") as sandbox:
        by_chance = {s: random_edits(tasks, sandbox, sizes.tries, s) for s in order.seeds}
        searched = try_every_mutation(tasks, sandbox)
    rows = run_jobs([sft_job(order, seed, policy_hash, sizes) for seed in order.seeds])
    found = {
        "num_tasks": len(tasks),
        "random_edits": random_summary(by_chance, sizes.tries),
        "every_mutation": search_summary(searched),
        "competent_sft": {
            "config": dataclasses.asdict(sizes.sft),
            "per_seed": rows,
            "means": {how: over_seeds(rows, how, "estimate") for how in ("sampled", "greedy")},
            "cpu_minutes": over_seeds(rows, "training_cpu_minutes"),
        },
    }
    return publish(order, head, found, told(found, order.folder / "headline.json", policy_hash))


def sft_job(order: Order, seed: int, policy_hash: str, sizes: Sizes) -> Job:
    """One seed of the supervised fine-tuning."""
    return Job(
        result=order.work / f"sft-{seed}.json",
        function=competent.run_seed,
        arguments={"seed": seed, "policy": order.policy, "config": sizes.sft,
                   "num_test": sizes.num_test},
        settings={"policy_hash": policy_hash, "num_test": sizes.num_test,
                  "config": dataclasses.asdict(sizes.sft)},
    )  # fmt: skip


def random_summary(by_seed: Mapping[int, np.ndarray], tries: int) -> dict[str, Any]:
    """From {seed: (tasks, tries) passes}: chance of one edit and of the best of `tries`."""
    per_seed = []
    for seed, passed in by_seed.items():
        counts = [(int((~np.isnan(row)).sum()), int(np.nansum(row))) for row in passed]
        best = [pass_at_k(n, c, n) for n, c in counts if n]
        per_seed.append({"seed": seed, "one_edit": float(np.nanmean(passed)),
                         "best_of_all": float(np.mean(best))})  # fmt: skip
    return {
        "tries": tries,
        "per_seed": per_seed,
        "one_edit": bootstrap_tasks(np.concatenate(list(by_seed.values()), axis=1)),
        "best_of_all": over_seeds(per_seed, "best_of_all"),
    }


def search_summary(found: Sequence[Found]) -> dict[str, Any]:
    """Solve rate and executions of the search; a task that could not be judged leaves the rate."""
    judged = [f for f in found if f.solved is not None]
    executions = [f.executions for f in found]
    submitted = sum(f.submitted for f in found)
    return {
        "solved": wilson(sum(f.solved for f in judged), len(judged)),
        "submitted_share": submitted / len(found),
        "reference_reachable_share": sum(f.reachable for f in found) / len(found),
        "num_dropped": len(found) - len(judged),
        "mean_executions": float(np.mean(executions)),
        "median_executions": float(np.median(executions)),
        "max_executions": max(executions),
    }


def told(found: Mapping[str, Any], headline: Path, policy_hash: str) -> str:
    """The table, with the headline beside it where it has been measured on the same base."""
    chance, search, sft = (found[n] for n in ("random_edits", "every_mutation", "competent_sft"))
    means, note = sft["means"], f"{search['mean_executions']:.0f} executions a task (mean)"
    lines = [
        [f"{found['num_tasks']} test tasks", "solved", "greedy", "notes"],
        ["random edit of the right file", percent(chance["one_edit"]), "", "one try"],
        ["", percent(chance["best_of_all"]), "", f"the best of {chance['tries']}, by hidden cases"],
        ["every mutation of every line", percent(search["solved"]), "", note],
        ["fine-tuned on competent scripts", percent(means["sampled"]), percent(means["greedy"]),
         f"{sft['cpu_minutes'].estimate:.1f} CPU-minutes"],
        *headline_rows(headline, policy_hash),
    ]  # fmt: skip
    return table(lines) + (
        f"\nthe search hands in on {search['submitted_share']:.0%} of the tasks; the right text is "
        f"among its candidates on {search['reference_reachable_share']:.0%}"
        "\n95 % intervals: over tasks for edits and search, t over seeds for trained policies"
    )


def headline_rows(path: Path, policy_hash: str) -> list[list[str]]:
    """The headline's rows, if `reproduce headline` has measured them on this base."""
    if not path.exists():
        return []
    stored = json.loads(path.read_text("utf-8"))
    if stored["policy_hash"] != policy_hash:
        return []
    rows = []
    for stage, name in (("base", "the base"), ("rft", "RFT"), ("rl", "RFT, then RL")):
        cells = [f"{100 * stored['means'][stage][how]['estimate']:.1f} %"
                 for how in ("sampled", "greedy")]  # fmt: skip
        minutes = stored["time"].get("training_cpu_minutes") if stage == "rl" else None
        rows.append([name, *cells, f"{minutes['estimate']:.1f} CPU-minutes" if minutes else ""])
    return rows
