"""Three rewards, three bases: what partial credit is worth, and when.

Stage: the whole loop on the suite `functions`, one turn an attempt. In: an order; out: solve
rates on test tasks after RL with each reward, from the shipped base, from one whose pretraining
was ended early so that it lacks the skill, and from one that was taught to stumble over its skill;
t intervals over seeds, and the curves of the attempts they learned from.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
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
from workbench.reproduce.fine_tuning import SFTConfig
from workbench.reproduce.report import about, base_hash, percent, publish, table
from workbench.reproduce.stumbling import STUMBLE, stumble
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
BASES = ("shipped", "weak", "stumbling")
"""The order's policy, one made like it with less pretraining, and one made from it by `stumble`."""
WEAK = PretrainConfig(num_documents=6_250, num_updates=250)
"""The weak base: a sixteenth of the shipped one's updates."""
HALF = 0.5
"""The share of an iteration's attempts that is waited for to say how fast an arm learns."""
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
    stumble: SFTConfig = STUMBLE
    """How the stumbling base is made."""


FULL = Sizes()
FAST = Sizes(
    replace(TrainConfig(), rl=RLConfig(iterations=1, tasks_per_iteration=2, group_size=2)),
    num_test=4,
    weak=PretrainConfig(num_documents=60, num_updates=2, hidden=32, layers=1),
    stumble=SFTConfig(num_updates=1, batch_size=2),
)


def measure(order: Order) -> Path:
    """Train what is missing, print the table, return the JSON file's path."""
    sizes, policy_hash = FAST if order.fast else FULL, base_hash(order)
    head = about(order, policy_hash)
    policies = dict(zip(BASES, (order.policy, *made_bases(order, sizes, policy_hash))))
    arms = arms_of(policies, sizes.config)
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
        "group_size": sizes.config.rl.group_size,
        "policy_hashes": {base: open_policy(folder).version for base, folder in policies.items()},
        "made_by": {"weak": asdict(sizes.weak), "stumbling": asdict(sizes.stumble)},
        "arms": {arm.name: summary(comparison, arm) for arm in arms},
    }
    return publish(order, head, found, told(found) + f"\nfigure: {draw(order, found)}")


def made_bases(order: Order, sizes: Sizes, policy_hash: str) -> tuple[str, str]:
    """Folders of the weak and of the stumbling base; made if they are not there."""

    def make_stumbling(folder: Path) -> None:
        policy = open_policy(order.policy)
        stumble(policy, sizes.stumble)
        policy.save(folder)

    weak = _made(order.work, "weak", sizes.weak, lambda folder: pretrain(folder, sizes.weak))
    stumbling = _made(order.work, "stumbling", (policy_hash, sizes.stumble), make_stumbling)
    return str(weak), str(stumbling)


def _made(work: Path, name: str, made_from: Any, make: Callable[[Path], Any]) -> Path:
    """Folder of a base, one for each way of making it; whole, or not there."""
    folder = work / f"{name}-base-{hashlib.sha256(repr(made_from).encode()).hexdigest()[:8]}"
    if not (folder / "config.json").exists():
        print(f"making the {name} base", flush=True)
        unfinished = folder.with_name(f"{name}-base.unfinished")
        make(unfinished)
        unfinished.rename(folder)
    return folder


def arms_of(policies: Mapping[str, str], config: TrainConfig) -> list[Arm]:
    """Each base untrained and with each reward; names like "weak-pass_fraction"."""
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
    """The table: a line for each base and reward."""
    per_iteration = found["tasks_per_iteration"] * found["group_size"]
    lines = [
        [
            "base",
            "paid for",
            f"{found['num_tasks']} test functions solved",
            "groups tied, first quarter",
            f"attempts until {HALF:.0%} are right",
        ]
    ]
    for base in BASES:
        for name in ("untrained", *REWARDS):
            arm = found["arms"][f"{base}-{name}"]
            trained = ["", ""]
            if "curves" in arm:
                trained = [
                    f"{tied_share(arm, found['tasks_per_iteration']):.0%}",
                    _counted(attempts_until(arm, per_iteration)),
                ]
            lines.append([base, name.replace("_", " "), percent(arm["solved"]), *trained])
    return table(lines) + "\nmeans with 95 % t intervals over seeds, temperature 1"


def tied_share(arm: Mapping[str, Any], num_groups: int) -> float:
    """Share of the groups that taught nothing in the first quarter of the iterations.

    num_groups: in an iteration.
    """
    tied = np.array(arm["curves"]["num_tied"], dtype=float)  # (seeds, iterations)
    return float(tied[:, : max(1, tied.shape[1] // 4)].mean()) / num_groups


def attempts_until(arm: Mapping[str, Any], per_iteration: int) -> list[int | None]:
    """Per seed, the attempts made by the end of the first iteration in which the share HALF of
    them was right; None if there was none."""
    found = []
    for shares in arm["curves"]["solved_share"]:
        reached = [i for i, share in enumerate(shares) if share is not None and share >= HALF]
        found.append((reached[0] + 1) * per_iteration if reached else None)
    return found


def _counted(attempts: list[int | None]) -> str:
    if None in attempts:
        return f"never, {attempts.count(None)} of {len(attempts)} seeds"
    found = mean_interval(attempts)
    interval = f" [{found.low:,.0f}, {found.high:,.0f}]" if len(attempts) > 1 else ""
    return f"{found.estimate:,.0f}{interval}"


class Teller:
    """Prints a line whenever a run of the comparison is over."""

    def __init__(self) -> None:
        self._done = -1

    def __call__(self, progress: ComparisonProgress) -> None:
        if progress.num_done != self._done:
            self._done = progress.num_done
            print(f"{progress.num_done} of {progress.num_total} runs are over", flush=True)
