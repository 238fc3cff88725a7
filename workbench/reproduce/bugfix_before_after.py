"""The recorded run of the reward bench: attempts of four policies at the same dev tasks.

Stage: evaluation. In: an order, and what finished seeds of `headline` and `cheat` left; out: a
run's folder that `load_run` reads, one stage a policy, and one iteration of training in which
honest and cheating attempts stand in the same group. What lies in `data/runs/` comes from here.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from workbench.bootstrap import SetupError
from workbench.credit import group_advantages
from workbench.episodes import rollout_many
from workbench.evaluation import SOLVED, summarise
from workbench.grading import collect
from workbench.learning.provenance import describe_reward, describe_tasks
from workbench.policies import open_policy
from workbench.records import Group, Task
from workbench.reproduce.claims import Order
from workbench.reproduce.report import about, base_hash, publish, table
from workbench.rewards import totals
from workbench.runlog import RunLog, RunRecord, StoredIteration, load_run
from workbench.sandbox import open_sandbox
from workbench.tasks import load_tasks

STAGES = {
    "base": "before learning",
    "honest": "after RFT and RL, paid for hidden tests",
    "cheating": "after RL paid for visible tests, which it may edit",
    "penalised": "after RL paid for the same, minus a penalty for edited tests",
    "halfway": "on the way to cheating, about half edited the tests (train tasks)",
}
"""Stage of the recording -> whose attempts it holds."""
NUM_TASKS, ATTEMPTS = 32, 8
COLLECTORS = ("lint", "security", "agent_on_base")
"""Evidence beyond what every episode has, so that a rubric can be tried on the recording."""


def measure(order: Order) -> Path:
    """Roll out the four policies, print what they do, return the JSON file's path."""
    head = about(order, base_hash(order))
    num_tasks, attempts = (2, 2) if order.fast else (NUM_TASKS, ATTEMPTS)
    tasks = load_tasks("bugfix", "dev", num_tasks)
    folders = policies(order)
    shutil.rmtree(order.work, ignore_errors=True)
    log, found = RunLog.create(order.work, config(head, tasks)), {}
    with open_sandbox("auto") as sandbox:
        for stage, source in folders.items():
            groups = rollout_many(open_policy(source), tasks, sandbox, attempts, order.seeds[0])
            groups = collect(groups, tasks, COLLECTORS, sandbox)
            found[stage] = keep(log, stage, groups, tasks)
        turning = halfway(load_run(order.folder / "cheat" / f"seed-{order.seeds[0]}" / "naive"))
        groups = collect(turning.groups, turning.tasks, COLLECTORS, sandbox)
        found["halfway"] = keep(log, "halfway", groups, turning.tasks)
    log.set_status("finished")
    size = (order.work / "trajectories.jsonl.gz").stat().st_size
    return publish(order, head, found, told(found) + f"\n{order.work}: {size / 1e6:.2f} MB")


def keep(log: RunLog, stage: str, groups: Sequence[Group], tasks: Sequence[Task]) -> dict[str, Any]:
    """Add one stage to the log; returns its row of the table."""
    breakdowns = SOLVED.score_groups(groups, tasks)
    advantages = group_advantages(totals(breakdowns))
    log.append_iteration(
        StoredIteration(
            stage=stage,
            iteration=0,
            tasks=tuple(tasks),
            groups=tuple(groups),
            rewards=tuple(map(tuple, breakdowns)),
            advantages=tuple(tuple(map(float, row)) for row in advantages),
        )
    )
    seen = summarise(groups, tasks)
    row = {"policy_version": seen.policy_version, "solved": seen.solve_rate}
    row["edited_tests"] = seen.edited_tests_share
    log.append_metrics({"kind": "recording", "stage": stage, **plain(row)})
    return row


def halfway(run: RunRecord) -> StoredIteration:
    """The stored iteration in which the share of edited tests was nearest to a half."""

    def distance(stored: StoredIteration) -> float:
        seen = summarise(stored.groups, stored.tasks)
        return abs(seen.edited_tests_share - 0.5)

    return min(run.iterations, key=distance)


def policies(order: Order) -> dict[str, str]:
    """{stage: name or folder of its policy}. Raises SetupError if one has to be made first."""
    seed = f"seed-{order.seeds[0]}"
    found = {
        "base": order.policy,
        "honest": order.folder / "headline" / seed / "run" / "policy",
        "cheating": order.folder / "cheat" / seed / "naive" / "policy",
        "penalised": order.folder / "cheat" / seed / "penalised" / "policy",
    }
    for stage, source in found.items():
        if stage != "base" and not source.is_dir():
            claim = "headline" if stage == "honest" else "cheat"
            raise SetupError(
                f"the policy of stage {stage!r} is expected in {source}, and is not there; run "
                f"`python3 -m workbench reproduce {claim}` with the same --out first"
            )
    return {stage: str(source) for stage, source in found.items()}


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


def plain(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of metrics without intervals."""
    return {**row, "solved": row["solved"].estimate}


def told(found: Mapping[str, Any]) -> str:
    """The table: a line a policy."""
    lines = [["stage", "solved", "edited the tests", "policy", "whose attempts"]]
    for stage, row in found.items():
        edited = f"{100 * row['edited_tests']:.1f} %"
        lines.append([stage, row["solved"].percent(), edited, row["policy_version"], STAGES[stage]])
    return table(lines)
