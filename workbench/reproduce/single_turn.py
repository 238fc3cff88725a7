"""Three rewards, two bases: what partial credit is worth, and when.

Stage: the whole loop on the suite `functions`, one turn an attempt. In: an order; out: solve
rates on test tasks after RL with each reward, from the shipped base and from one whose
pretraining was ended early, so that it is hardly ever right; t intervals over seeds, and the
curves of the attempts they learned from.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from workbench import plots
from workbench.experiments import Arm, Comparison, ComparisonProgress, compare
from workbench.learning import RLConfig, TrainConfig
from workbench.policies import open_policy
from workbench.pretraining import PretrainConfig, pretrain
from workbench.reproduce.claims import Order
from workbench.reproduce.report import about, base_hash, percent, publish, table
from workbench.rewards import RewardDesign, all_pass, compiles, pass_fraction
from workbench.runlog import load_run
from workbench.stats import mean_interval
from workbench.tasks import load_tasks

REWARDS = {
    "all_or_nothing": RewardDesign(tests=(all_pass("hidden"), 1.0)),
    "pass_fraction": RewardDesign(tests=(pass_fraction("hidden"), 1.0)),
    "compile_credit": RewardDesign(tests=(all_pass("hidden"), 1.0), compiles=(compiles, 0.2)),
}
"""Name -> what an attempt is paid."""
BASES = ("shipped", "weak")
"""The order's policy, and one made like the shipped one but for the length of its pretraining."""
WEAK = PretrainConfig(num_documents=6_250, num_updates=250)
"""The weak base: a sixteenth of the shipped one's updates."""
CURVES = ("solved_share", "reward_mean", "num_tied")
"""Columns of the runs' metrics that are kept for every iteration."""


@dataclass(frozen=True)
class Sizes:
    """How large the runs are."""

    config: TrainConfig = replace(TrainConfig(), rl=RLConfig(iterations=40))
    """Settings of every run."""
    num_test: int = 256
    """Test tasks."""
    weak: PretrainConfig = WEAK
    """How the weak base is made."""


FULL = Sizes()
FAST = Sizes(
    replace(TrainConfig(), rl=RLConfig(iterations=1, tasks_per_iteration=2, group_size=2)),
    num_test=4,
    weak=PretrainConfig(num_documents=60, num_updates=2, hidden=32, layers=1),
)


def measure(order: Order) -> Path:
    """Train what is missing, print the table, return the JSON file's path."""
    sizes, policy_hash = FAST if order.fast else FULL, base_hash(order)
    head = about(order, policy_hash)
    weak = weak_base(order, sizes)
    arms = arms_of(order, weak, sizes.config)
    comparison = compare(
        arms,
        order.seeds,
        tasks=load_tasks("functions", "train"),
        unseen=load_tasks("functions", "test", sizes.num_test),
        folder=order.work,
        on_progress=Teller(),
    )
    found = {
        "num_tasks": sizes.num_test,
        "tasks_per_iteration": sizes.config.rl.tasks_per_iteration,
        "weak_base": {"policy_hash": open_policy(weak).version, "config": asdict(sizes.weak)},
        "arms": {arm.name: summary(comparison, arm) for arm in arms},
    }
    return publish(order, head, found, told(found) + f"\nfigure: {draw(order, found)}")


def weak_base(order: Order, sizes: Sizes) -> Path:
    """Folder of the weak base, one for each way of making it; made if it is not there."""
    made_from = hashlib.sha256(repr(sizes.weak).encode()).hexdigest()[:8]
    folder = order.work / f"weak-base-{made_from}"
    if not (folder / "config.json").exists():
        unfinished = folder.with_name("weak-base.unfinished")
        pretrain(unfinished, sizes.weak)
        unfinished.rename(folder)
    return folder


def arms_of(order: Order, weak: Path, config: TrainConfig) -> list[Arm]:
    """Each base untrained and with each reward; names like "weak-pass_fraction"."""
    policies = dict(zip(BASES, (order.policy, str(weak))))
    arms = []
    for base, policy in policies.items():
        arms.append(Arm(f"{base}-untrained", recipe=None, policy=policy))
        arms += [
            Arm(f"{base}-{name}", "rl", config, reward, policy) for name, reward in REWARDS.items()
        ]
    return arms


def summary(comparison: Comparison, arm: Arm) -> dict[str, Any]:
    """An arm's solve rate on test tasks, and its curves: {column: [seed][iteration]}."""
    rates = comparison.rates(arm.name)
    row = {"solved": mean_interval(rates), "per_seed": rates.tolist()}
    if arm.recipe is None:
        return row
    runs = [
        load_run(comparison.folder / arm.name / f"seed-{seed}" / "run").metrics
        for seed in comparison.seeds
    ]
    rows = [[r for r in metrics if r["kind"] == "iteration"] for metrics in runs]
    return row | {"curves": {c: [[r[c] for r in seed] for seed in rows] for c in CURVES}}


def draw(order: Order, found: Mapping[str, Any]) -> Path:
    """What the attempts were worth that each arm learned from, a panel a base."""
    panels = {
        f"from the {base} base": {
            name.replace("_", " "): found["arms"][f"{base}-{name}"]["curves"]["solved_share"]
            for name in REWARDS
        }
        for base in BASES
    }
    return plots.save_png(plots.compared_curves(panels), order.folder / "single-turn.png")


def told(found: Mapping[str, Any]) -> str:
    """The table: a line a reward, a pair of columns a base; and how many groups taught nothing."""
    head = [f"{found['num_tasks']} test functions"]
    for base in BASES:
        head += [f"{base} base", "of its groups tied, first quarter"]
    lines = [head]
    for name in ("untrained", *REWARDS):
        cells = []
        for base in BASES:
            arm = found["arms"][f"{base}-{name}"]
            cells += [percent(arm["solved"]), _tied(arm, found["tasks_per_iteration"])]
        lines.append([name.replace("_", " "), *cells])
    return table(lines) + "\nmeans with 95 % t intervals over seeds, temperature 1"


def tied_share(arm: Mapping[str, Any], num_groups: int) -> float:
    """Share of the groups that taught nothing in the first quarter of the iterations.

    num_groups: in an iteration.
    """
    tied = np.array(arm["curves"]["num_tied"], dtype=float)  # (seeds, iterations)
    return float(tied[:, : max(1, tied.shape[1] // 4)].mean()) / num_groups


def _tied(arm: Mapping[str, Any], num_groups: int) -> str:
    return f"{tied_share(arm, num_groups):.0%}" if "curves" in arm else ""


class Teller:
    """Prints a line whenever a run of the comparison is over."""

    def __init__(self) -> None:
        self._done = -1

    def __call__(self, progress: ComparisonProgress) -> None:
        if progress.num_done != self._done:
            self._done = progress.num_done
            print(f"{progress.num_done} of {progress.num_total} runs are over", flush=True)
