"""Sharpened or new? The base's pass@k against RL's, and what the solutions look like.

Stage: evaluation. In: an order, and the policies of finished headline seeds; out: pass@k with
bootstrap intervals over tasks, tasks only one of them solves, the share of solved episodes that
restore the original line, and a figure. Source of the question: Yue et al. 2025
(arXiv:2504.13837). The RFT policy is not stored by the headline run: it is made again from the
same seed, and its hash is compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from workbench import plots
from workbench.demo.counts import NUM_TEST
from workbench.demo.measured import NAMES
from workbench.episodes import rollout_many
from workbench.evaluation import SOLVED
from workbench.learning import TrainConfig, train
from workbench.learning.checkpoint import derive_seed
from workbench.policies import CausalLMPolicy, open_policy
from workbench.pretraining.behaviours import find_bug
from workbench.records import Task, Trajectory
from workbench.reproduce import headline
from workbench.reproduce.claims import Order
from workbench.reproduce.jobs import Job, run_jobs
from workbench.reproduce.report import about, base_hash, over_seeds, percent, publish, table
from workbench.rewards import totals
from workbench.sandbox import Sandbox, open_sandbox
from workbench.stats import Interval, bootstrap_tasks, paired_difference, pass_at_k, wilson
from workbench.tasks import load_tasks

TASKS_AT_ONCE = 16
"""Tasks sampled in one call: bounds the memory."""


@dataclass(frozen=True)
class Sizes:
    """How much is sampled."""

    num_test: int = NUM_TEST
    """Test tasks."""
    attempts: int = 64
    """Attempts a task of the base and of RL; the largest k."""
    rft_attempts: int = 8
    """Attempts a task of the RFT policy, whose pass@k is not drawn."""


FULL, FAST = Sizes(), Sizes(num_test=2, attempts=4, rft_attempts=2)


def measure(order: Order) -> Path:
    """Sample what is missing, print the table, draw the figure, return the JSON file's path."""
    sizes, policy_hash = FAST if order.fast else FULL, base_hash(order)
    head = about(order, policy_hash)
    rows = run_jobs(list(jobs(order, sizes, policy_hash)))
    base, rft, rl = ([r for r in rows if r["stage"] == stage] for stage in ("base", "rft", "rl"))
    curves = {"base": pass_at(base, sizes.attempts), "RFT, then RL": pass_at(rl, sizes.attempts)}
    measured = [headline.stored_row(order, seed, policy_hash) for seed in order.seeds]
    found = {
        "num_tasks": sizes.num_test,
        "attempts": sizes.attempts,
        "pass_at_k": curves,
        "rl_first_try_minus_base_at_most": difference(base, sizes.attempts, rl, 1),
        "rl_at_most_minus_base_at_most": difference(base, sizes.attempts, rl, sizes.attempts),
        "ever_solved": overlap(base, rl),
        "restores_line": {n: restored(r) for n, r in (("base", base), ("rft", rft), ("rl", rl))},
        "greedy": {stage: over_seeds(measured, stage, "greedy", "estimate") for stage in NAMES},
        "per_policy": rows,
    }
    figure = plots.pass_at_k_curve(curves, title="Sharpened or new? Test tasks solved in k tries")
    picture = plots.save_png(figure, order.folder / "sharpening.png")
    return publish(order, head, found, told(found) + f"\nfigure: {picture}")


def jobs(order: Order, sizes: Sizes, policy_hash: str) -> Iterator[Job]:
    """The base once, and the RFT and RL policies of each headline seed.

    Raises SetupError if a seed of the headline is missing.
    """
    yield _job(order, sizes, "base", 0, sizes.attempts, policy_hash, {})
    for seed in order.seeds:
        row = headline.stored_row(order, seed, policy_hash)
        hashes = {stage: row[stage]["policy_version"] for stage in ("rft", "rl")}
        yield _job(order, sizes, "rl", seed, sizes.attempts, policy_hash, hashes)
        yield _job(order, sizes, "rft", seed, sizes.rft_attempts, policy_hash, hashes)


def _job(order, sizes, stage, seed, attempts, policy_hash, hashes) -> Job:
    settings = {"policy_hash": policy_hash, "num_test": sizes.num_test, "attempts": attempts}
    return Job(
        result=order.work / (f"{stage}.json" if stage == "base" else f"{stage}-{seed}.json"),
        function=sample,
        arguments={"stage": stage, "seed": seed, "order": order, "num_test": sizes.num_test,
                   "attempts": attempts, "expected": hashes.get(stage, policy_hash)},
        settings=settings | {"of_headline": hashes},
    )  # fmt: skip


def sample(
    stage: str, seed: int, order: Order, num_test: int, attempts: int, expected: str
) -> dict[str, Any]:
    """Attempts at every test task by the policy of one stage; returns counts, a row a task."""
    tasks = load_tasks("bugfix", "test", num_test)
    with open_sandbox("auto") as sandbox:
        policy = policy_of(stage, seed, order, sandbox)
        rows = []
        for start in range(0, num_test, TASKS_AT_ONCE):
            some = tasks[start : start + TASKS_AT_ONCE]
            rows += attempt(policy, some, sandbox, attempts, derive_seed(seed, "pass@k", start))
            solved = sum(row["num_solved"] for row in rows)
            print(f"{len(rows)} of {num_test} tasks: {solved} attempts solved", flush=True)
    same = policy.version == expected
    return {"stage": stage, "seed": seed, "policy_version": policy.version,
            "same_as_headline": same, "tasks": rows}  # fmt: skip


def policy_of(stage: str, seed: int, order: Order, sandbox: Sandbox) -> CausalLMPolicy:
    """The policy a headline seed had at a stage."""
    run = headline.seed_folder(order, seed) / "run"
    if stage == "rl":
        return open_policy(run / "policy")
    policy = open_policy(order.policy)
    if stage == "rft":
        folder = order.work / f"rft-{seed}"
        config: TrainConfig = (headline.FAST if order.fast else headline.FULL).config
        train(
            *(policy, load_tasks("bugfix", "train"), sandbox, "rft"),
            config=config, seed=seed, folder=folder, resume=(folder / "config.json").exists(),
            dev=load_tasks("bugfix", "dev", 1),
        ).wait()  # fmt: skip
    return policy


def attempt(
    policy: CausalLMPolicy, tasks: Sequence[Task], sandbox: Sandbox, attempts: int, seed: int
) -> list[dict[str, Any]]:
    """One row a task: attempts judged, solved, and solved by restoring the original line."""
    groups = rollout_many(policy, tasks, sandbox, attempts, seed)
    solved = totals(SOLVED.score_groups(groups, tasks))  # (tasks, attempts), NaN = not judged
    rows = []
    for task, group, row in zip(tasks, groups, solved, strict=True):
        right = [t for t, value in zip(group.trajectories, row, strict=True) if value == 1.0]
        rows.append(
            {
                "task_id": task.task_id,
                "num_scored": int((~np.isnan(row)).sum()),
                "num_solved": len(right),
                "num_restored": sum(restores_line(t, task) for t in right),
            }
        )
    return rows


def restores_line(trajectory: Trajectory, task: Task) -> bool:
    """Whether the broken line is the original one again; anything else was written anew."""
    bug = find_bug(task)
    lines = trajectory.final_files.get(bug.path, "").splitlines()
    return len(lines) >= bug.number and lines[bug.number - 1] == bug.right


def pass_at(rows: Sequence[Mapping[str, Any]], largest: int) -> dict[int, Interval]:
    """{k: pass@k} for k = 1, 2, 4, ... `largest`, tasks resampled, seeds averaged in a task."""
    ks = [2**power for power in range(largest.bit_length()) if 2**power <= largest]
    return {k: bootstrap_tasks(_per_task(rows, k)) for k in ks}


def difference(base: Sequence[Mapping], k_base: int, rl: Sequence[Mapping], k_rl: int) -> Interval:
    """pass@k_rl of RL minus pass@k_base of the base, paired by task."""
    return paired_difference(_per_task(base, k_base), _per_task(rl, k_rl))


def _per_task(rows: Sequence[Mapping[str, Any]], k: int) -> np.ndarray:
    """(tasks, seeds) of pass@k; NaN where fewer than k attempts could be judged."""
    return np.array(
        [
            [
                pass_at_k(t["num_scored"], t["num_solved"], k) if t["num_scored"] >= k else np.nan
                for t in row["tasks"]
            ]
            for row in rows
        ]
    ).T


def overlap(base: Sequence[Mapping], rl: Sequence[Mapping]) -> dict[str, float]:
    """Tasks by who ever solved them, base and RL with equally many attempts; mean over seeds."""
    ever = [np.array([t["num_solved"] > 0 for t in row["tasks"]]) for row in (base[0], *rl)]
    old, new = ever[0], np.array(ever[1:])  # (tasks,), (seeds, tasks)
    cells = {"both": new & old, "base_only": ~new & old, "rl_only": new & ~old,
             "neither": ~new & ~old}  # fmt: skip
    return {name: float(cell.sum(axis=1).mean()) for name, cell in cells.items()}


def restored(rows: Sequence[Mapping[str, Any]]) -> Interval | None:
    """Share of the solved episodes that restore the original line; None if nothing is solved.

    Wilson over episodes: attempts at one task are alike, so the truth may lie further off.
    """
    tasks = [task for row in rows for task in row["tasks"]]
    solved = sum(task["num_solved"] for task in tasks)
    return wilson(sum(task["num_restored"] for task in tasks), solved) if solved else None


def told(found: Mapping[str, Any]) -> str:
    """The tables: pass@k, who ever solves what, and how."""
    base, rl = found["pass_at_k"].values()
    lines = [["k", "base pass@k", "RFT, then RL pass@k"]]
    lines += [[str(k), base[k].percent(), rl[k].percent()] for k in base]
    size = f"{found['num_tasks']} test tasks, {found['attempts']} attempts each"
    ever = ", ".join(f"{who.replace('_', ' ')} {n:.0f}" for who, n in found["ever_solved"].items())
    how = [["solved episodes that restore the original line", ""]]
    for stage, share in found["restores_line"].items():
        how.append([stage, share.percent() if share else "nothing solved"])
    first, most = (found[f"rl_{n}_minus_base_at_most"] for n in ("first_try", "at_most"))
    k = found["attempts"]
    greedy = ", ".join(f"{NAMES[s]} {percent(rate)}" for s, rate in found["greedy"].items())
    return "\n".join(
        (
            size + ", bootstrap over tasks",
            table(lines),
            f"RL pass@1 - base pass@{k}: {first.percent()}; at {k} tries each: {most.percent()}",
            f"tasks ever solved in {k}: {ever}",
            f"one greedy try (from the headline): {greedy}",
            "",
            table(how),
        )
    )
