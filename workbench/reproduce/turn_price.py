"""What a price on turns does: the headline's recipe without a penalty for late turns, with it, and
with it for attempts that solve their task only.

Stage: the whole loop. In: an order; out: solve rate, share handed in and turns on test tasks for
the three designs, with t intervals over seeds and the paired difference. The penalty is that of
Golubev et al. 2025 (arXiv:2508.03501): nothing up to half of the turns, then a line.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from workbench.experiments import Arm, Comparison, compare
from workbench.learning import HONEST, RLConfig, TrainConfig
from workbench.reproduce.claims import Order
from workbench.reproduce.headline import TINY_CONFIG
from workbench.reproduce.report import about, base_hash, percent, publish, table
from workbench.reproduce.single_turn import Teller
from workbench.rewards import RewardDesign, all_pass, tampered, turn_penalty
from workbench.stats import mean_interval
from workbench.tasks import load_tasks

PRICED = RewardDesign(
    tests=(all_pass("hidden"), 1.0),
    tampering=(tampered, -1.0),
    turns=(turn_penalty(free=4, limit=8), 0.5),
)
DESIGNS = {
    "free": HONEST,
    "priced": PRICED,
    "priced-if-solved": PRICED.gate("turns", needs="tests"),
}
"""Arm -> what an attempt is paid; the penalty is at most half of what solving pays. Behind the
gate giving up early saves nothing: a failed attempt is paid 0 however long it took."""


@dataclass(frozen=True)
class Sizes:
    """How large a seed's runs are."""

    config: TrainConfig = replace(TrainConfig(), rl=RLConfig(iterations=60))
    """Settings of the runs."""
    num_test: int = 256
    """Test tasks."""


FULL, FAST = Sizes(), Sizes(TINY_CONFIG, num_test=4)


def measure(order: Order) -> Path:
    """Train what is missing, print the table, return the JSON file's path."""
    sizes, head = FAST if order.fast else FULL, about(order, base_hash(order))
    arms = [
        Arm(name, "rft_then_rl", config=sizes.config, reward=design, policy=order.policy)
        for name, design in DESIGNS.items()
    ]
    comparison = compare(
        arms,
        order.seeds,
        tasks=load_tasks("bugfix", "train"),
        unseen=load_tasks("bugfix", "test", sizes.num_test),
        folder=order.work,
        on_progress=Teller(),
    )
    found = {name: summary(comparison, name) for name in DESIGNS}
    return publish(order, head, found, told(found) + f"\n\n{comparison}")


def summary(comparison: Comparison, name: str) -> dict[str, Any]:
    """One arm: intervals over seeds, each seed's rate, and the difference to the first arm."""
    row = comparison.arms.index(name)
    return {
        "solved": comparison.mean(name),
        "solved_per_seed": comparison.rates(name).tolist(),
        "handed_in": mean_interval(comparison.submit_share[row]),
        "turns": mean_interval(comparison.mean_turns[row]),
        "minus_free_over_seeds": comparison.difference_by_seed(name, comparison.arms[0]),
        "minus_free_over_tasks": comparison.difference(name, comparison.arms[0]),
    }


def told(found: dict[str, Any]) -> str:
    """The table: a line a design."""
    lines = [["paid for", "solved", "handed in", "turns", "single seeds"]]
    for name, row in found.items():
        turns = f"{row['turns'].estimate:.2f} [{row['turns'].low:.2f}, {row['turns'].high:.2f}]"
        seeds = ", ".join(f"{100 * rate:.1f}" for rate in row["solved_per_seed"])
        lines.append([name, percent(row["solved"]), percent(row["handed_in"]), turns, seeds])
    return table(lines) + "\nmeans with 95 % t intervals over seeds, temperature 1, test tasks"
