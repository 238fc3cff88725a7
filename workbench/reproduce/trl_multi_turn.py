"""LoRA through TRL's GRPOTrainer on `bugfix`, several turns a task, beside our own loop.

Stage: the whole loop, with both trainers. In: an order; out: solve rates on test tasks before and
after, the curve in fifths of the run, and minutes, with t intervals over seeds. Both trainers get
the same base, adapters, settings, tasks and reward; a third arm is TRL with the learning rate it
has by default.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from peft import LoraConfig

from workbench.evaluation import Evaluation, evaluate
from workbench.learning import HONEST, RLConfig, TrainConfig, train
from workbench.learning.config import LR_LORA
from workbench.learning.provenance import describe_config
from workbench.policies import CausalLMPolicy, open_policy
from workbench.records import Task
from workbench.reproduce.claims import Order
from workbench.reproduce.jobs import Job, run_jobs
from workbench.reproduce.report import about, base_hash, over_seeds, percent, publish, table
from workbench.runlog import load_run
from workbench.sandbox import Sandbox, open_sandbox
from workbench.stats import Interval, mean_interval
from workbench.tasks import load_tasks

ADAPTERS = LoraConfig(r=16, lora_alpha=32, lora_dropout=0.0, target_modules="all-linear")
"""What is trained in every arm."""
FIFTHS = 5
"""Parts of the run whose mean is told."""


@dataclass(frozen=True)
class Sizes:
    """How large a seed's run is."""

    rl: RLConfig = RLConfig(iterations=20, tasks_per_iteration=8, lr=LR_LORA["rl"])
    """Settings of both trainers: 64 attempts and 4 updates an iteration."""
    num_test: int = 256
    """Test tasks."""


FULL = Sizes()
FAST = Sizes(RLConfig(iterations=1, tasks_per_iteration=2, group_size=2, updates_per_iteration=2,
                      lr=LR_LORA["rl"]), num_test=4)  # fmt: skip


def through_trl(policy: str, rl: RLConfig, seed: int, sandbox: Sandbox, folder: Path):
    """The policy after a run of TRL's trainer, logged in `folder`."""
    from workbench.trl_bridge import (
        MultiTurn,
        RunLogCallback,
        TurnGRPOTrainer,
        grpo_config,
        trained_policy,
    )

    episodes = MultiTurn(load_tasks("bugfix", "train"), sandbox, HONEST, rl)
    trainer = TurnGRPOTrainer(
        model=policy,
        args=grpo_config(folder.with_name(f"{folder.name}-trl"), rl, seed=seed),
        train_dataset=episodes.dataset(),
        rollout_func=episodes.rollout,
        reward_funcs=episodes.reward,
        peft_config=ADAPTERS,
        callbacks=[RunLogCallback(folder, episodes)],
    )
    trainer.train()
    return trained_policy(trainer)


def by_our_loop(policy: str, rl: RLConfig, seed: int, sandbox: Sandbox, folder: Path):
    """The policy after a run of our own loop, logged in `folder`."""
    learner = open_policy(policy, lora=ADAPTERS, seed=seed)
    config = replace(TrainConfig(), rl=rl, dtype="float32", update_threads=1)
    tasks = load_tasks("bugfix", "train")
    resume = (folder / "config.json").exists()
    options = dict(config=config, seed=seed, folder=folder, resume=resume)
    return train(learner, tasks, sandbox, "rl", **options).wait().policy


def with_trl_s_rate(policy: str, rl: RLConfig, seed: int, sandbox: Sandbox, folder: Path):
    """As `through_trl`, at TRL's default learning rate."""
    return through_trl(policy, replace(rl, lr=1e-6), seed, sandbox, folder)


ARMS: dict[str, tuple[str, Callable[..., CausalLMPolicy]]] = {
    "trl": ("TRL, LoRA", through_trl),
    "ours": ("our loop, LoRA", by_our_loop),
    "trl-1e-6": ("TRL, its default rate 1e-6", with_trl_s_rate),
}
"""Name -> (how it is told, what trains)."""
FIRST_SEED_ONLY = "trl-1e-6"
"""An arm that does not move needs no second seed to say so."""


def measure(order: Order) -> Path:
    """Run what is missing, print the table, return the JSON file's path."""
    sizes, policy_hash = FAST if order.fast else FULL, base_hash(order)
    rows = run_jobs(jobs(order, sizes, policy_hash))
    by_arm = {name: [row for row in rows if row["arm"] == name] for name in ARMS}
    found = {"arms": {name: summary(rows) for name, rows in by_arm.items()}, "per_run": rows}
    return publish(order, about(order, policy_hash), found, told(found, sizes))


def jobs(order: Order, sizes: Sizes, policy_hash: str) -> list[Job]:
    """One run a seed and arm; of FIRST_SEED_ONLY one."""
    settings = {"policy_hash": policy_hash, "num_test": sizes.num_test,
                "rl": describe_config(sizes.rl)}  # fmt: skip
    return [
        Job(
            result=order.work / f"{arm}-{seed}.json",
            function=run_arm,
            arguments={"arm": arm, "seed": seed, "order": order, "sizes": sizes},
            settings=settings | {"arm": arm},
        )
        for seed in order.seeds
        for arm in ARMS
        if arm != FIRST_SEED_ONLY or seed == order.seeds[0]
    ]


def run_arm(arm: str, seed: int, order: Order, sizes: Sizes) -> dict[str, Any]:
    """One run, evaluated before and after."""
    base = open_policy(order.policy)
    tasks, folder = load_tasks("bugfix", "test", sizes.num_test), order.work / f"{arm}-{seed}-run"
    with open_sandbox("auto") as sandbox:
        before = _rate(base, tasks, sandbox, seed)
        model = base.model.config._name_or_path  # the folder that a name stands for
        policy = ARMS[arm][1](model, sizes.rl, seed, sandbox, folder)
        after = _rate(policy, tasks, sandbox, seed)
    rows = [row for row in load_run(folder).metrics if row["kind"] == "iteration"]
    return {
        "arm": arm,
        "seed": seed,
        "before": before.solve_rate.estimate,
        "after": after.solve_rate.estimate,
        "handed_in": after.submit_share,
        "curve": [row["solved_share"] for row in rows],
        "tied": [row["num_tied"] / row["num_groups"] for row in rows],
        "wall_minutes": sum(row["seconds"]["wall"] for row in rows) / 60,
        "sampling_cpu_s": sum(row["seconds"]["sampling_cpu"] for row in rows),
        "policy_version": policy.version,
    }


def _rate(policy: CausalLMPolicy, tasks: Sequence[Task], sandbox: Sandbox, seed: int) -> Evaluation:
    return evaluate(policy, tasks, sandbox, seed=seed)


def summary(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """One arm: intervals over seeds."""
    curves = np.array([row["curve"] for row in rows])  # (seeds, iterations)
    parts = [part.mean(axis=1) for part in np.array_split(curves, FIFTHS, axis=1) if part.size]
    return {
        "before": over_seeds(rows, "before"),
        "after": over_seeds(rows, "after"),
        "gain": mean_interval([row["after"] - row["before"] for row in rows]),
        "fifths": [mean_interval(part) for part in parts],
        "cpu_minutes": over_seeds(rows, "cpu_minutes"),
    }


def told(found: Mapping[str, Any], sizes: Sizes) -> str:
    """The table: a line an arm, and its curve."""
    lines = [["", "before", "after", "gain", "CPU minutes", "training attempts solved, by fifths"]]
    for name, row in found["arms"].items():
        curve = " ".join(f"{100 * part.estimate:.0f}" for part in row["fifths"])
        minutes: Interval = row["cpu_minutes"]
        lines.append([ARMS[name][0], percent(row["before"]), percent(row["after"]),
                      row["gain"].percent() if not np.isnan(row["gain"].low) else "",
                      f"{minutes.estimate:.1f}", curve])  # fmt: skip
    attempts = sizes.rl.tasks_per_iteration * sizes.rl.group_size * sizes.rl.iterations
    return table(lines) + (
        f"\n{attempts} attempts and {sizes.rl.iterations * sizes.rl.updates_per_iteration} updates "
        f"a run, {sizes.num_test} test tasks at temperature 1; means with 95 % t intervals over "
        "seeds (the default rate: one seed); CPU minutes with imports and both evaluations"
    )
