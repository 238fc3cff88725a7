"""The recorded run of the credit lab: groups about which it is known what each turn changed.

Stage: evaluation. In: an order, and the policy that a finished seed of `headline` left; out: a
run's folder that `load_run` reads. Its groups hold solved and failed attempts, the value of every
place before a turn (`turn_values`) and what is left without some turns (`subset_values`). What
lies in `data/runs/` comes from here.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from workbench.bootstrap import SetupError
from workbench.counterfactuals import (
    exact_turn_values,
    planted_policy,
    replay_subsets,
    reroll,
)
from workbench.episodes import rollout, rollout_many
from workbench.evaluation import SOLVED
from workbench.learning.provenance import describe_reward, describe_tasks
from workbench.policies import open_policy
from workbench.records import Group, Task
from workbench.reproduce.bugfix_before_after import keep
from workbench.reproduce.claims import Order
from workbench.reproduce.report import about, base_hash, publish, table
from workbench.runlog import RunLog
from workbench.sandbox import Sandbox, open_sandbox
from workbench.tasks import load_tasks

STAGES = {
    "base": "before learning; values by re-rolls",
    "trained": "after RFT and RL, paid for hidden tests; values by re-rolls",
    "planted": "a policy with known probabilities, which repairs with one turn; exact values",
}
"""Stage of the recording -> whose attempts it holds, and where the values come from."""
NUM_GROUPS = {"base": 4, "trained": 4, "planted": 4}
NUM_TASKS, ATTEMPTS, REROLLS = 32, 8, 128
"""Tasks to choose from, attempts at each, re-rolls from each place."""
PLANTED_TURNS = 6
"""Turns of an attempt of the planted policy, which is not told when to stop."""


def measure(order: Order) -> Path:
    """Roll out, value every turn, print how well it is known, return the JSON file's path."""
    head = about(order, base_hash(order))
    tasks = load_tasks("bugfix", "dev", 2 if order.fast else NUM_TASKS)
    sources = policies(order)
    shutil.rmtree(order.work, ignore_errors=True)
    log, found = RunLog.create(order.work, config(head, tasks)), {}
    with open_sandbox("auto") as sandbox:
        for stage, source in sources.items():
            chosen, groups = sampled(source, tasks, sandbox, order, stage)
            found[stage] = keep(log, stage, groups, chosen) | accuracy(groups)
        chosen, groups = planted(tasks, sandbox, order)
        found["planted"] = keep(log, "planted", groups, chosen) | accuracy(groups)
    log.set_status("finished")
    size = (order.work / "trajectories.jsonl.gz").stat().st_size
    return publish(order, head, found, told(found) + f"\n{order.work}: {size / 1e6:.2f} MB")


def sampled(
    source: str, tasks: Sequence[Task], sandbox: Sandbox, order: Order, stage: str
) -> tuple[list[Task], list[Group]]:
    """The tasks on which a policy is of two minds, and its groups with all their values."""
    policy, seed = open_policy(source), order.seeds[0]
    attempts, num_rerolls = (2, 2) if order.fast else (ATTEMPTS, REROLLS)
    pairs = zip(tasks, rollout_many(policy, tasks, sandbox, attempts, seed))
    chosen = sorted(pairs, key=lambda pair: lopsided(*pair))[: NUM_GROUPS[stage]]
    groups = []
    for task, group in chosen:
        valued, _ = reroll(policy, group, task, sandbox, num_rerolls, seed)
        groups.append(replay_subsets(valued, task, sandbox)[0])
    return [task for task, _ in chosen], groups


def planted(
    tasks: Sequence[Task], sandbox: Sandbox, order: Order
) -> tuple[list[Task], list[Group]]:
    """Groups of the planted policy at the first tasks, with exact values."""
    groups, chosen = [], list(tasks[: NUM_GROUPS["planted"]])
    for number, task in enumerate(chosen):  # the same seed would make the same moves
        policy, limit = planted_policy(task), dict(max_turns=PLANTED_TURNS)
        group = rollout(policy, task, sandbox, ATTEMPTS, order.seeds[0] + number, **limit)
        valued, _ = exact_turn_values(policy, group, task, sandbox, **limit)
        groups.append(replay_subsets(valued, task, sandbox)[0])
    return chosen, groups


def lopsided(task: Task, group: Group) -> float:
    """How far the share of solved attempts is from a half."""
    totals = [SOLVED.score(trajectory, task).total for trajectory in group.trajectories]
    return abs(np.mean([total for total in totals if total is not None] or [0.0]) - 0.5)


def accuracy(groups: Sequence[Group]) -> dict[str, float]:
    """How many values there are and how well they are known."""
    errors = [value.standard_error for group in groups for value in group.turn_values]
    return {
        "num_turn_values": len(errors),
        "standard_error_mean": float(np.mean(errors)),
        "standard_error_max": float(np.max(errors)),
        "num_subset_values": sum(len(group.subset_values) for group in groups),
    }


def policies(order: Order) -> dict[str, str]:
    """{stage: name or folder of its policy}. Raises SetupError if one has to be made first."""
    trained = order.folder / "headline" / f"seed-{order.seeds[0]}" / "run" / "policy"
    if not trained.is_dir():
        raise SetupError(
            f"the trained policy is expected in {trained}, and is not there; run `python3 -m "
            "workbench reproduce headline` with the same --out first"
        )
    return {"base": order.policy, "trained": str(trained)}


def config(head: Mapping[str, Any], tasks: Sequence[Task]) -> dict[str, Any]:
    """What config.json says: which command made it, of what."""
    keys = ("command", "date", "versions", "policy_hash", "seeds")
    return {
        "recipe": "recording",
        "stages": STAGES,
        "tasks": describe_tasks(tasks),
        "reward": describe_reward(SOLVED),
        **{key: head[key] for key in keys},
    }


def told(found: Mapping[str, Any]) -> str:
    """The table: a line a stage."""
    lines = [["stage", "solved", "turn values", "standard error", "at most", "subsets", "what"]]
    for stage, row in found.items():
        numbers = (f"{row['standard_error_mean']:.3f}", f"{row['standard_error_max']:.3f}")
        counts = str(row["num_turn_values"]), str(row["num_subset_values"])
        solved = row["solved"].percent()
        lines.append([stage, solved, counts[0], *numbers, counts[1], STAGES[stage]])
    return table(lines)
