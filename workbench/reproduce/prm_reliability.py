"""How far a process reward model can be trusted, by what it was fitted to.

Stage: around the loop. In: an order; out: for models fitted to outcomes, to executed workspaces and
to Monte-Carlo labels (soft, hard), how their scores of test attempts compare with measured values;
for the first also on another policy's attempts, what it chooses among N, and what padding gains.
Values are shares of a dozen re-rolls. Thresholds are chosen on dev tasks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from workbench.counterfactuals import (
    exact_turn_values,
    planted_policy,
    reroll,
    reroll_many,
)
from workbench.episodes import rollout, rollout_many
from workbench.learning.provenance import describe_config
from workbench.policies import CausalLMPolicy, open_policy
from workbench.process_rewards import (
    PROBES,
    FitConfig,
    TurnModel,
    best_of_n_curve,
    best_threshold,
    execution_labels,
    first_error,
    fit,
    padded,
    reliability,
    score_turns,
    value_labels,
)
from workbench.records import Group, Task
from workbench.reproduce.claims import Order
from workbench.reproduce.headline import TINY_CONFIG
from workbench.reproduce.jobs import Job, run_jobs
from workbench.reproduce.prm_preparation import Preparation, attempts, fine_tuned, fitted
from workbench.reproduce.prm_report import draw, means, powers, told
from workbench.reproduce.report import about, base_hash, publish
from workbench.rewards import AGGREGATIONS, RewardDesign, aggregate, all_pass
from workbench.sandbox import Sandbox, open_sandbox
from workbench.tasks import load_tasks

LOOKED_AT = RewardDesign(
    solved=(all_pass("hidden"), 1.0), visible=(all_pass("visible_pristine"), 0.0)
)
"""What is true of an attempt, and what the visible tests say."""


@dataclass(frozen=True)
class Sizes:
    """How large a seed is."""

    prepare: Preparation = Preparation()
    """How policy and model are made."""
    num_mc: int = 10
    """Training tasks with Monte-Carlo labels, 8 attempts each, 8 re-rolls from every turn."""
    fit_mc: FitConfig = FitConfig(epochs=6)
    """Fit to those: fewer attempts, more passes."""
    num_dev: int = 5
    """Dev tasks, 4 attempts each, for thresholds."""
    num_test: int = 14
    """Test tasks, 4 attempts each, on which scores are compared with values."""
    num_choose: int = 40
    """Test tasks for best of N."""
    most: int = 16
    """The largest N."""
    num_planted: int = 4
    """Tasks on which label noise is measured against exact values."""
    num_rerolls: int = 12
    """Re-rolls behind each measured value."""


FULL = Sizes()
FAST = Sizes(Preparation(TINY_CONFIG, 2, 2, FitConfig(epochs=1)), 1, FitConfig(epochs=1), 1, 1, 1,
             2, 1, 2)  # fmt: skip


def measure(order: Order) -> Path:
    """Measure what is missing, print the tables, return the JSON file's path."""
    policy_hash = base_hash(order)
    head = about(order, policy_hash)
    rows = run_jobs([job(order, seed, policy_hash) for seed in order.seeds])
    found = {"means": means(rows), "per_seed": rows}
    figures = "".join(f"\nfigure: {path}" for path in draw(rows, order.folder))
    return publish(order, head, found, told(found["means"]) + figures)


def job(order: Order, seed: int, policy_hash: str) -> Job:
    """One seed."""
    sizes = FAST if order.fast else FULL
    return Job(
        result=order.work / f"seed-{seed}.json",
        function=run_seed,
        arguments={"seed": seed, "shared": order.folder / "prm" / f"seed-{seed}",
                   "policy": order.policy, "sizes": sizes},
        settings={"policy_hash": policy_hash, "sizes": describe_config(sizes)},
    )  # fmt: skip


def run_seed(seed: int, shared: Path, policy: str, sizes: Sizes) -> dict[str, Any]:
    """Everything about one seed."""
    with open_sandbox("auto") as sandbox:
        tuned = fine_tuned(shared, seed, policy, sizes.prepare, sandbox)
        models = fitted_models(shared, tuned, seed, sizes, sandbox)
        print("fitted", flush=True)
        dev = measured(tuned, tuned, "dev", sizes.num_dev, seed, sizes, sandbox)
        test = measured(tuned, tuned, "test", sizes.num_test, seed, sizes, sandbox)
        base = open_policy(policy)
        other = measured(base, tuned, "test", sizes.num_test // 2 or 1, seed, sizes, sandbox)
        print("measured", flush=True)
        row = {"seed": seed, "models": {}, "noise": label_noise(seed, sizes, sandbox)}
        for name, model in models.items():
            threshold = best_threshold(*dev, model.predict(dev[0]))
            here, there = (
                reliability(*at, model.predict(at[0]), threshold=threshold) for at in (test, other)
            )
            row["models"][name] = {"own": asdict(here), "other": asdict(there)}
        row["halving"] = halving(*test)
        row["probes"] = probed(models["outcome"], tuned, *test, sandbox)
        row["choosing"] = chosen(models["outcome"], tuned, seed, sizes, sandbox)
    return row


def fitted_models(
    shared: Path, policy: CausalLMPolicy, seed: int, sizes: Sizes, sandbox: Sandbox
) -> dict[str, TurnModel]:
    """Label source -> a model fitted to it."""
    how = sizes.prepare
    models = {"outcome": fitted(shared, policy, seed, how, sandbox)}
    groups, tasks = attempts(policy, seed, how, sandbox)
    few = slice(sizes.num_mc)
    some, _ = reroll_many(policy, groups[few], tasks[few], sandbox, 8, seed)
    sources = {
        "execution": (groups, execution_labels(groups, tasks, sandbox), how.fit),
        "soft": (some, value_labels(some, tasks), sizes.fit_mc),
        "hard": (some, value_labels(some, tasks, hard=True), sizes.fit_mc),
    }
    for name, (labelled, labels, config) in sources.items():
        models[name] = TurnModel.from_policy(policy)
        fit(models[name], labelled, labels, config, seed=seed)
    return models


def measured(
    sampled_by: CausalLMPolicy,
    continued_by: CausalLMPolicy,
    split: str,
    num_tasks: int,
    seed: int,
    sizes: Sizes,
    sandbox: Sandbox,
) -> tuple[list[Group], Sequence[Task]]:
    """Attempts of one policy with the values they have if the other one goes on, and the tasks."""
    tasks = load_tasks("bugfix", split, num_tasks)
    groups = rollout_many(sampled_by, tasks, sandbox, n=4, seed=seed + 1000)
    known, _ = reroll_many(continued_by, groups, tasks, sandbox, sizes.num_rerolls, seed)
    return known, tasks


def label_noise(seed: int, sizes: Sizes, sandbox: Sandbox) -> dict[str, float]:
    """Monte-Carlo labels of 8 re-rolls against exact values: error, and its formula."""
    said, truth = [], []
    for task in load_tasks("bugfix", "train", sizes.num_planted):
        policy = planted_policy(task)
        group = rollout(policy, task, sandbox, n=8, seed=seed, max_turns=5)
        for made, into in (
            (reroll(policy, group, task, sandbox, 8, seed, max_turns=5)[0], said),
            (exact_turn_values(policy, group, task, sandbox, max_turns=5)[0], truth),
        ):
            into += [numbers[:-1] for numbers in value_labels([made], [task])[0]]
    said, truth = np.concatenate(said), np.concatenate(truth)
    live = truth > 0
    return {
        "rmse": float(np.sqrt(np.mean((said - truth) ** 2))),
        "rmse_by_formula": float(np.sqrt(np.mean(truth * (1 - truth) / 8))),
        "bias": float(np.mean(said - truth)),
        "missed": float(np.mean(said[live] == 0)),
        "missed_by_formula": float(np.mean((1 - truth[live]) ** 8)),
        "num_turns": len(truth),
    }


def halving(groups: Sequence[Group], tasks: Sequence[Task]) -> dict[str, float]:
    """The search for first errors on failed attempts that were not hopeless: how often it asks,
    and how often it finds what asking about every turn finds."""
    asked, turns, agrees = [], [], []
    both = (value_labels(groups, tasks, reads=reads) for reads in ("before", "end"))
    for before, after in zip(*(sum(map(list, side), []) for side in both)):
        if np.isnan(before).any() or before[0] == 0 or after[-1] > 0:
            continue
        found = first_error(len(after), (before > 0).__getitem__)
        asked.append(found.num_asked)
        turns.append(len(after))
        agrees.append(found.turn_index == np.nonzero(after == 0)[0][0])
    if not asked:
        return {"asked": float("nan"), "turns": float("nan"), "agrees": float("nan")}
    return {name: float(np.mean(x)) for name, x in
            (("asked", asked), ("turns", turns), ("agrees", agrees))}  # fmt: skip


def probed(
    model: TurnModel,
    policy: CausalLMPolicy,
    groups: Sequence[Group],
    tasks: Sequence[Task],
    sandbox: Sandbox,
) -> dict[str, dict[str, float]]:
    """Probe -> {aggregation: mean gain of attempts that were padded with nothing}."""
    pairs = [(t, task) for group, task in zip(groups, tasks) for t in group.trajectories]
    plain = scored(model, [padded(t, task, _as_it_is, sandbox, policy.tokenizer)
                           for t, task in pairs])  # fmt: skip
    gains = {}
    for name, padding in PROBES.items():
        longer = scored(
            model, [padded(t, task, padding, sandbox, policy.tokenizer) for t, task in pairs]
        )
        gains[name] = {
            how: float(np.mean([aggregate(b, how) - aggregate(a, how)
                                for a, b in zip(plain, longer)]))
            for how in AGGREGATIONS
        }  # fmt: skip
    return gains


def _as_it_is(commands: Sequence[str], task: Task) -> list[str]:
    return list(commands)


def scored(model: TurnModel, trajectories: Sequence) -> list[np.ndarray]:
    """The scores of attempts that are in no group."""
    return model.predict([Group("", "", tuple(trajectories))])[0]


def chosen(
    model: TurnModel, policy: CausalLMPolicy, seed: int, sizes: Sizes, sandbox: Sandbox
) -> dict[str, list[float]]:
    """Way to choose -> share of tasks solved for N = 1, 2, 4, ..."""
    tasks = load_tasks("bugfix", "test", sizes.num_choose)
    groups = score_turns(model, rollout_many(policy, tasks, sandbox, sizes.most, seed + 2000))
    right = [[LOOKED_AT.score(t, task).parts for t in g.trajectories]
             for g, task in zip(groups, tasks)]  # fmt: skip
    solved, visible = (
        [[float(parts[i].raw or 0.0) for parts in row] for row in right] for i in (0, 1)
    )
    scores = [[t.evidence.turn_scores for t in group.trajectories] for group in groups]
    ways = {how: [[aggregate(s, how) for s in row] for row in scores] for how in AGGREGATIONS}
    ways |= {
        "visible tests": visible,
        "visible tests, then last": [
            [10 * v + last for v, last in zip(*pair)] for pair in zip(visible, ways["last"])
        ],
        "truth": solved,
    }
    sizes_of_n = powers(sizes.most)
    return {
        name: best_of_n_curve(numbers, solved, sizes_of_n).mean(axis=0).tolist()
        for name, numbers in ways.items()
    }
