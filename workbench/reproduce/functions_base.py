"""The base on `functions`: write f from its spec, one turn, dev split.

Stage: evaluation. In: an order; out: solve rates over seeds of the sampling, and greedy.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from workbench.evaluation import evaluate
from workbench.policies import open_policy
from workbench.reproduce.claims import Order
from workbench.reproduce.report import about, over_seeds, percent, publish, table
from workbench.sandbox import open_sandbox
from workbench.tasks import load_tasks

NUM_TASKS, NUM_TASKS_FAST = 256, 8


def measure(order: Order) -> Path:
    """Sample each task once a seed, print the table, return the JSON file's path."""
    policy = open_policy(order.policy)
    tasks = load_tasks("functions", "dev", NUM_TASKS_FAST if order.fast else NUM_TASKS)
    with open_sandbox("auto") as sandbox:
        rows = [
            {"seed": seed} | rates(evaluate(policy, tasks, sandbox, seed=seed))
            for seed in order.seeds
        ]
        greedy = rates(evaluate(policy, tasks, sandbox, greedy=True))
    means = {name: over_seeds(rows, name) for name in greedy}
    found = {"num_tasks": len(tasks), "per_seed": rows, "means": means, "greedy": greedy}
    lines = [[f"{len(tasks)} functions, dev", "temperature 1", "greedy"]]
    for name, words in (("solved", "solved"), ("compiles", "is Python")):
        lines.append([words, percent(means[name]), f"{100 * greedy[name]:.1f} %"])
    text = table(lines) + "\nmean with a 95 % t interval over seeds of the sampling"
    return publish(order, about(order, policy.version), found, text)


def rates(evaluation) -> dict[str, Any]:
    """Share of the answers that are right, and share that at least compiles."""
    verdicts = [t.verdict for group in evaluation.groups for t in group.trajectories]
    compiles = sum(verdict.status != "compile_error" for verdict in verdicts)
    return {"solved": evaluation.solve_rate.estimate, "compiles": compiles / len(verdicts)}
