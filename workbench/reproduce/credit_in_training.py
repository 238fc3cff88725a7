"""Per-turn credit in training: every scheme drives RL on `bugfix` with the same number of rollouts.

Stage: the whole loop. In: an order; out: for each scheme the test solve rate, the mean height of
the dev curve, and what was spent, with t intervals over seeds and differences to `broadcast`. All
arms of a seed start from one policy, fine-tuned once. Re-rolls are rollouts like any other, so
arms that make them take fewer attempts or fewer iterations. Left out: a learning rate for each arm.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from workbench.counterfactuals import Rerolls
from workbench.credit import (
    broadcast,
    gigpo,
    reroll_advantage,
    return_to_go,
    seen_passing,
    shaping_rewards,
    turn_gae,
)
from workbench.evaluation import evaluate
from workbench.learning import RFTConfig, RLConfig, TrainConfig, train
from workbench.learning.provenance import describe_config
from workbench.policies import open_policy
from workbench.process_rewards import Critic
from workbench.reproduce.claims import Order
from workbench.reproduce.jobs import Job, run_jobs
from workbench.reproduce.report import about, base_hash, percent, publish, table
from workbench.runlog import load_run
from workbench.sandbox import open_sandbox
from workbench.stats import Interval, mean_interval
from workbench.tasks import load_tasks

FIRST = "broadcast"
"""The arm that the others are compared with."""


@dataclass(frozen=True)
class CreditArm:
    """One way of giving credit."""

    credit: Callable[..., list[np.ndarray]] = broadcast
    """The scheme."""
    evidence: Callable[..., Any] | None = None
    """What the scheme needs beyond the rollouts."""
    scale: str = "std"
    """Whether advantages are divided by their spread."""
    attempts: tuple[int, int] = (16, 8)
    """Tasks in an iteration, attempts at each."""
    pace: float = 1.0
    """Iterations, over those of the first arm: chosen so that all rollouts together are as many."""

    def config(self, base: TrainConfig, num_evaluations: int) -> TrainConfig:
        """Settings of a run of this arm."""
        tasks, group_size = self.attempts
        iterations = max(1, round(base.rl.iterations * self.pace / num_evaluations))
        rl = replace(
            base.rl,
            iterations=iterations * num_evaluations,
            tasks_per_iteration=min(tasks, base.rl.tasks_per_iteration),
            group_size=min(group_size, base.rl.group_size),
            credit=self.credit,
            evidence=self.evidence,
            advantage_scale=self.scale,
        )
        return replace(base, rl=rl, evaluate_every=iterations)


BY_TESTS = partial(shaping_rewards, potential=seen_passing)
DISCOUNTED = partial(return_to_go, gamma=0.9)
REROLLED = CreditArm(reroll_advantage, scale="none", pace=0.8)
ARMS = {
    FIRST: CreditArm(),
    "gigpo": CreditArm(gigpo),
    "re-rolls x 2": replace(REROLLED, evidence=Rerolls(2), attempts=(6, 4)),
    "critic, lambda 0.95": CreditArm(turn_gae, Critic(), "none"),
    "return to go, 0.9": CreditArm(DISCOUNTED),
    "same, by turn index": CreditArm(partial(DISCOUNTED, baseline="turn_index")),
    "potential: tests passed": CreditArm(partial(return_to_go, turn_rewards=BY_TESTS)),
    "broadcast, not divided": CreditArm(scale="none"),
    "re-rolls x 4": replace(REROLLED, evidence=Rerolls(4), attempts=(3, 4)),
}
"""Name -> arm. Schemes that compare a turn with a value are not divided by the spread."""


@dataclass(frozen=True)
class Sizes:
    """How large a seed's runs are."""

    config: TrainConfig = TrainConfig(rl=RLConfig(iterations=12), max_turns=8)
    """Settings of the first arm."""
    num_evaluations: int = 3
    """Evaluations on dev tasks after the first one, at equal distances."""
    num_dev: int = 64
    """Dev tasks."""
    num_test: int = 256
    """Test tasks."""
    arms: tuple[str, ...] = tuple(ARMS)
    """Which of them."""


FULL = Sizes()
FAST = Sizes(
    TrainConfig(
        rft=RFTConfig(num_tasks=2, group_size=2, tasks_per_iteration=2),
        rl=RLConfig(iterations=1, tasks_per_iteration=2, group_size=2),
    ),
    num_evaluations=1,
    num_dev=2,
    num_test=2,
    arms=(FIRST, "re-rolls x 2", "critic, lambda 0.95"),
)


def measure(order: Order) -> Path:
    """Run what is missing, print the table, return the JSON file's path."""
    policy_hash = base_hash(order)
    head, sizes = about(order, policy_hash), FAST if order.fast else FULL
    run_jobs([fine_tuning(order, seed, sizes, policy_hash) for seed in order.seeds])
    jobs = [
        job(order, seed, name, sizes, policy_hash) for name in sizes.arms for seed in order.seeds
    ]
    rows = run_jobs(jobs)
    found = {"arms": {name: summary(rows, name) for name in sizes.arms}, "runs": rows}
    return publish(order, head, found, told(found["arms"]))


def fine_tuning(order: Order, seed: int, sizes: Sizes, policy_hash: str) -> Job:
    """The policy that all arms of a seed start from."""
    settings = {"policy_hash": policy_hash, "config": describe_config(sizes.config)}
    return Job(
        result=order.work / f"rft-{seed}.json",
        function=run_fine_tuning,
        arguments={"seed": seed, "folder": rft_folder(order, seed), "policy": order.policy,
                   "config": sizes.config},
        settings=settings,
    )  # fmt: skip


def job(order: Order, seed: int, name: str, sizes: Sizes, policy_hash: str) -> Job:
    """One arm with one seed."""
    config = ARMS[name].config(sizes.config, sizes.num_evaluations)
    settings = {"policy_hash": policy_hash, "num_dev": sizes.num_dev, "num_test": sizes.num_test}
    return Job(
        result=order.work / f"{name.replace(' ', '_').replace(':', '')}-{seed}.json",
        function=run_arm,
        arguments={"seed": seed, "name": name, "config": config, "sizes": sizes,
                   "folder": order.work / f"seed-{seed}" / name.replace(":", ""),
                   "policy": rft_folder(order, seed) / "policy"},
        settings=settings | {"config": describe_config(config)},
    )  # fmt: skip


def rft_folder(order: Order, seed: int) -> Path:
    """The folder of a seed's fine-tuning."""
    return order.work / f"seed-{seed}" / "rft"


def run_fine_tuning(seed: int, folder: Path, policy: str, config: TrainConfig) -> dict[str, Any]:
    """Fine-tune; an interrupted run starts again."""
    shutil.rmtree(folder, ignore_errors=True)
    with open_sandbox("local", workers=1) as sandbox:
        tasks = load_tasks("bugfix", "train")
        options = dict(config=replace(config, update_threads=1), seed=seed, folder=folder)
        train(open_policy(policy), tasks, sandbox, "rft", **options).wait()
    return {"seed": seed}


def run_arm(
    seed: int, name: str, folder: Path, policy: Path, config: TrainConfig, sizes: Sizes
) -> dict[str, Any]:
    """Train one arm and evaluate it; an interrupted run starts again."""
    shutil.rmtree(folder, ignore_errors=True)
    learner, tasks = open_policy(policy), load_tasks("bugfix", "train")
    dev = load_tasks("bugfix", "dev", sizes.num_dev)
    test = load_tasks("bugfix", "test", sizes.num_test)
    config = replace(config, update_threads=1)
    with open_sandbox("local", workers=1) as sandbox:
        options = dict(config=config, seed=seed, folder=folder, dev=dev)
        train(learner, tasks, sandbox, "rl", **options).wait()
        found = evaluate(learner, test, sandbox, max_turns=config.max_turns)
    numbers = {"solved": found.solve_rate.estimate, "mean_turns": found.mean_turns}
    numbers |= {"submit_share": found.submit_share}
    return {"seed": seed, "arm": name} | numbers | spent(load_run(folder).metrics)


def spent(metrics: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What a run cost, and its dev curve: [(rollouts so far, solve rate), ...]."""
    rows = [row for row in metrics if row["kind"] == "iteration"]
    rollouts = np.cumsum([0, *(r["num_rollouts"] + r["num_extra_rollouts"] for r in rows)])
    curve = [
        (int(rollouts[row["iteration"]]), row["solve_rate"])
        for row in metrics
        if row["kind"] == "evaluation" and row["stage"] == "rl"
    ]
    start = [r["solve_rate"] for r in metrics if r["kind"] == "evaluation" and r["stage"] == "base"]
    cpu = [sum(r["seconds"][f"{w}_cpu"] for w in ("sampling", "sandbox", "update")) for r in rows]
    return {
        "curve": [(0, rate) for rate in start] + curve,
        "rollouts": int(rollouts[-1]),
        "extra_rollouts": sum(r["num_extra_rollouts"] for r in rows),
        "sampled_tokens": sum(
            r["num_sampled_tokens"] + r["num_extra_sampled_tokens"] for r in rows
        ),
        "updates": sum(r["num_updates"] for r in rows),
        "cpu_s": float(sum(cpu)),
    }


def area(curve: Sequence[tuple[float, float]]) -> float:
    """Mean height of a curve of (rollouts, rate), by trapezoids.

    >>> area([(0, 0.4), (100, 0.6), (300, 0.6)])
    0.5666666666666667
    """
    x, y = np.array(curve, dtype=float).T
    return float(((y[1:] + y[:-1]) / 2 * np.diff(x)).sum() / (x[-1] - x[0]))


def summary(rows: Sequence[Mapping[str, Any]], name: str) -> dict[str, Any]:
    """One arm: intervals over seeds, and the differences to the first arm seed by seed."""

    def numbers(arm: str, of: Callable[[Mapping[str, Any]], float]) -> np.ndarray:
        return np.array([of(row) for row in rows if row["arm"] == arm])

    def both(of: Callable[[Mapping[str, Any]], float]) -> tuple[Interval, Interval]:
        own = numbers(name, of)
        return mean_interval(own), mean_interval(own - numbers(FIRST, of))

    solved, solved_more = both(itemgetter("solved"))
    under, under_more = both(lambda row: area(row["curve"]))
    spent = ("rollouts", "extra_rollouts", "sampled_tokens", "updates", "cpu_s")
    spent += ("submit_share", "mean_turns")
    means = {what: float(numbers(name, itemgetter(what)).mean()) for what in spent}
    return {
        "solved": solved,
        "solved_minus_first": solved_more,
        "area": under,
        "area_minus_first": under_more,
        "solved_per_seed": numbers(name, itemgetter("solved")).tolist(),
        **means,
    }


def told(arms: Mapping[str, Mapping[str, Any]]) -> str:
    """The table: a line an arm."""
    head = ["credit", "test solved", "minus broadcast", "dev, mean of the curve"]
    head += ["minus broadcast", "handed in", "turns"]
    lines = [[*head, "rollouts", "of them extra", "updates", "CPU s"]]
    for name, row in arms.items():
        more = ["", ""]
        if name != FIRST:
            more = [points(row[f"{what}_minus_first"]) for what in ("solved", "area")]
        counts = [f"{row[what]:.0f}" for what in ("rollouts", "extra_rollouts", "updates", "cpu_s")]
        solved, under = percent(row["solved"]), percent(row["area"])
        ended = [f"{row['submit_share']:.0%}", f"{row['mean_turns']:.1f}"]
        lines.append([name, solved, more[0], under, more[1], *ended, *counts])
    return table(lines) + (
        "\nmeans with 95 % t intervals over seeds, temperature 1; differences in points, seed by "
        "seed\nrollouts: all episodes, rests of episodes included; CPU s: of training, evaluations "
        "not counted"
    )


def points(interval: Interval) -> str:
    """A difference of shares in percentage points.

    >>> points(mean_interval([0.01, 0.03]))
    '+2.0 [-10.7, +14.7]'
    """
    if np.isnan(interval.low):
        return f"{100 * interval.estimate:+.1f}"
    numbers = (interval.estimate, interval.low, interval.high)
    return "{:+.1f} [{:+.1f}, {:+.1f}]".format(*(100 * number for number in numbers))
