"""A process reward as the thing that is paid, with the hidden tests as the meter beside it.

Stage: the whole loop. In: an order; out: for every way of paying by a model of turns, what was paid
and what was really solved, iteration by iteration, and on test tasks at the end; t intervals over
seeds. The model is fitted to how the policy's own attempts ended before training begins. Arms:
hidden tests (what is to be reached); the scores added up, or the last one; the last one behind the
visible tests; those tests with the score as a baseline, or with each turn paid its own change of
it; the sum of a model that is fitted again every few iterations; and with one of the two visible
tests withheld, that test alone, and the score behind it.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from workbench import plots
from workbench.credit import broadcast, score_changes
from workbench.evaluation import evaluate
from workbench.learning import RLConfig, TrainConfig, train
from workbench.learning.provenance import describe_config
from workbench.policies import open_policy
from workbench.process_rewards import FitConfig, Refitting, Scoring, TurnModel
from workbench.records import UNSCORABLE, Task, Trajectory
from workbench.reproduce.claims import Order
from workbench.reproduce.headline import TINY_CONFIG
from workbench.reproduce.jobs import Job, run_jobs
from workbench.reproduce.prm_preparation import Preparation, fine_tuned, fitted
from workbench.reproduce.report import about, base_hash, over_seeds, percent, publish, table
from workbench.rewards import Component, RewardDesign, all_pass, configured, prm_score
from workbench.runlog import load_run
from workbench.sandbox import open_sandbox
from workbench.tasks import load_tasks

MAX_TURNS = 8
"""Of every attempt; a sum of scores is divided by it, so that it lies in [0, 1]."""
LATEST = 3
"""Iterations at the end of a run over which paid and solved are averaged."""


@configured
def first_visible(number: int = 1) -> Component:
    """Component: 1.0 if handed in and the first `number` visible tests pass, else 0.0: what is
    left when the others are withheld."""

    def component(trajectory: Trajectory, task: Task) -> float | None:
        if trajectory.verdict.status in UNSCORABLE:
            return None
        known = trajectory.verdict.of_suite("visible_pristine")[:number]
        passed = all(outcome.status == "passed" for outcome in known)
        return float(trajectory.stop_reason == "submitted" and passed)

    return component


@dataclass(frozen=True)
class Arm:
    """One way of being paid."""

    title: str
    """What it is called in the table and the figure."""
    design: RewardDesign
    """What an attempt is paid."""
    credit: Callable[..., list[np.ndarray]] = broadcast
    """Which turn is paid it."""
    refits: bool = False
    """Fit the model again every few iterations."""


VISIBLE = all_pass("visible_pristine")
TESTS = RewardDesign(tests=(VISIBLE, 1.0))
SUM = RewardDesign(prm=(prm_score("sum"), 1 / MAX_TURNS))
BEHIND_TESTS = RewardDesign(prm=(prm_score("last"), 1.0), tests=(VISIBLE, 0.0))
BEHIND_ONE = RewardDesign(prm=(prm_score("last"), 1.0), tests=(first_visible(1), 0.0))
ARMS: Mapping[str, Arm] = {
    "sum": Arm("PRM, sum", SUM),
    "gated": Arm("PRM behind tests", BEHIND_TESTS.gate("prm", needs="tests")),
    "changes": Arm("tests, PRM baseline", TESTS, score_changes),
    "own_changes": Arm("tests, PRM changes", TESTS, partial(score_changes, lam=0.0)),
    "sum_refitted": Arm("PRM, sum, refitted", SUM, refits=True),
    "hidden": Arm("hidden tests", RewardDesign(tests=(all_pass("hidden"), 1.0))),
    "one_test": Arm("one test", RewardDesign(tests=(first_visible(1), 1.0))),
    "one_test_prm": Arm("PRM behind one test", BEHIND_ONE.gate("prm", needs="tests")),
    "last": Arm("PRM, last", RewardDesign(prm=(prm_score("last"), 1.0))),
}
"""Name -> how it is paid."""


@dataclass(frozen=True)
class Sizes:
    """How large a seed is."""

    prepare: Preparation = Preparation()
    """How policy and model are made."""
    config: TrainConfig = replace(
        TrainConfig(max_turns=8),
        rl=RLConfig(iterations=16, tasks_per_iteration=6, lr=6e-4, lr_final_fraction=1.0),
    )
    """Settings of the RL runs: short, at twice the usual learning rate, which does not fall."""
    num_test: int = 48
    """Test tasks on which the trained policies are compared."""
    refit_every: int = 4
    """Iterations between two fits of the arm that refits."""
    refit: FitConfig = field(default_factory=lambda: FitConfig(epochs=1))
    """Each of those fits."""


FULL = Sizes()
FAST = Sizes(
    Preparation(TINY_CONFIG, num_tasks=2, group_size=2, fit=FitConfig(epochs=1)),
    replace(TINY_CONFIG, rl=replace(TINY_CONFIG.rl, iterations=2)),
    num_test=2,
    refit_every=1,
)


def measure(order: Order) -> Path:
    """Train what is missing, print the table, return the JSON file's path."""
    policy_hash = base_hash(order)
    head = about(order, policy_hash)
    rows = run_jobs([job(order, seed, policy_hash) for seed in order.seeds])
    found = {"arms": {name: summary(rows, name) for name in ARMS}, "per_seed": rows}
    figure = plots.save_png(plots.paid_and_true(panels(rows)), order.folder / "prm-gaming.png")
    return publish(order, head, found, told(found["arms"]) + f"\nfigure: {figure}")


def job(order: Order, seed: int, policy_hash: str) -> Job:
    """One seed: all arms."""
    sizes = FAST if order.fast else FULL
    return Job(
        result=order.work / f"seed-{seed}.json",
        function=run_seed,
        arguments={"seed": seed, "folder": order.work / f"seed-{seed}", "policy": order.policy,
                   "shared": order.folder / "prm" / f"seed-{seed}", "sizes": sizes},
        settings={"policy_hash": policy_hash, "num_test": sizes.num_test, "arms": list(ARMS),
                  "config": describe_config(sizes.config), "refit_every": sizes.refit_every,
                  "prepare": describe_config(sizes.prepare), "refit": asdict(sizes.refit)},
    )  # fmt: skip


def run_seed(seed: int, folder: Path, shared: Path, policy: str, sizes: Sizes) -> dict[str, Any]:
    """Train every arm from the same policy and model; what was paid, and what was solved."""
    unseen = load_tasks("bugfix", "test", sizes.num_test)
    with open_sandbox("auto") as sandbox:
        start = fine_tuned(shared, seed, policy, sizes.prepare, sandbox)
        model = fitted(shared, start, seed, sizes.prepare, sandbox)
        row = {"seed": seed, "before": evaluate(start, unseen, sandbox).solve_rate.estimate}
        for name, arm in ARMS.items():
            trained = train_arm(arm, folder / name, shared, model, seed, sizes, sandbox)
            print(name, flush=True)
            solved = evaluate(trained, unseen, sandbox)
            row[name] = curves(folder / name) | {
                "test": solved.solve_rate.estimate,
                "handed_in": solved.submit_share,
                "turns": solved.mean_turns,
            }
    return row


def train_arm(
    arm: Arm, folder: Path, shared: Path, model: TurnModel, seed: int, sizes: Sizes, sandbox
):
    """The policy of one arm. An arm that refits has a memory: interrupted, it begins anew."""
    if arm.refits and folder.exists():
        if load_run(folder).state == "finished":
            return open_policy(folder / "policy")
        shutil.rmtree(folder)
    hook: Any = None if arm.design == ARMS["hidden"].design else Scoring(model)
    if arm.refits:
        hook = Refitting(model, every=sizes.refit_every, config=sizes.refit, seed=seed)
    rl = replace(sizes.config.rl, evidence=hook, credit=arm.credit)
    policy = open_policy(shared / "rft" / "policy")
    train(
        *(policy, load_tasks("bugfix", "train"), sandbox, "rl"),
        config=replace(sizes.config, rl=rl, max_turns=MAX_TURNS),
        reward=arm.design,
        seed=seed,
        folder=folder,
        resume=(folder / "config.json").exists(),
    ).wait()
    return open_policy(folder / "policy")


def curves(folder: Path) -> dict[str, list[float]]:
    """Paid, solved, handed in and turns of each iteration's attempts."""
    rows = [row for row in load_run(folder).metrics if row["kind"] == "iteration"]
    columns = {"paid": "reward_mean", "solved": "solved_share", "submitted": "submit_share",
               "num_turns": "mean_turns"}  # fmt: skip
    return {name: [row[column] for row in rows] for name, column in columns.items()}


def summary(rows: Sequence[Mapping[str, Any]], name: str) -> dict[str, Any]:
    """Intervals over seeds: paid and solved at the start and at the end, and on test tasks."""
    ends = [
        {f"{what}_{end}": float(np.mean(row[name][what][part]))
         for what in ("paid", "solved")
         for end, part in (("first", slice(LATEST)), ("last", slice(-LATEST, None)))}
        | {what: row[name][what] for what in ("test", "handed_in", "turns")}
        | {"gain": row[name]["test"] - row["before"]}
        for row in rows
    ]  # fmt: skip
    return {what: over_seeds(ends, what) for what in ends[0]}


def panels(rows: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, list[list[float]]]]:
    """{title: {"paid": (seeds, iterations), "solved": the same}} for the figure."""
    return {
        arm.title: {what: [row[name][what] for row in rows] for what in ("paid", "solved")}
        for name, arm in ARMS.items()
    }


def told(arms: Mapping[str, Any]) -> str:
    """The table: a line an arm."""
    lines = [["paid for", "paid, first to last", "solved, first to last", "test tasks solved",
              "handed in", "turns"]]  # fmt: skip
    for name, row in arms.items():
        paid, solved = (
            f"{row[f'{what}_first'].estimate:.2f} -> {row[f'{what}_last'].estimate:.2f}"
            for what in ("paid", "solved")
        )
        turns = f"{row['turns'].estimate:.1f}"
        lines.append([ARMS[name].title, paid, solved, percent(row["test"]),
                      percent(row["handed_in"]), turns])  # fmt: skip
    return table(lines) + (
        f"\nmeans over seeds, 95 % t intervals; first and last {LATEST} iterations of training"
    )
