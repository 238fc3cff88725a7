"""Re-scoring 1,000 rollouts after a weight changed, beside calling every component again.

    python benchmarks/rescore.py [--rollouts 1000] [--rounds 5]

Rollouts of `bugfix` tasks in groups of eight, made here from the tasks' own files, references and
known cheats; nothing is sampled or executed. Read the ratios: the median over rounds, the methods
interleaved. Before the clock starts, both methods must give the same rewards, bit for bit.

    again     design.score_groups: every component is called for every trajectory
    matrix    Scores.rewards: arithmetic on what the components returned once
    once      Scores.of: what it costs to have the matrix

Two designs: one that only reads verdicts, and one that also compares files.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import time
from collections.abc import Callable

import numpy as np

from workbench import load_tasks
from workbench.grading import collect_evidence
from workbench.records import (
    Action,
    Group,
    SamplerSettings,
    Task,
    TestOutcome,
    Trajectory,
    Turn,
    Verdict,
)
from workbench.rewards import (
    RewardDesign,
    Scores,
    all_pass,
    complexity_change,
    diff_size,
    pass_fraction,
    similarity,
    tampered,
    totals,
    turn_penalty,
)

GROUP_SIZE = 8
VERDICTS = RewardDesign(
    tests=(all_pass("hidden"), 1.0),
    partial=(pass_fraction("hidden"), 0.3),
    tampering=(tampered, -1.0),
    turns=(turn_penalty(3, 8), 0.2),
).gate("turns", needs="tests")
FILES = RewardDesign(
    tests=(all_pass("hidden"), 1.0),
    tampering=(tampered, -1.0),
    size=(diff_size(2, 20), 0.2),
    alike=(similarity, 0.1),
    complexity=(complexity_change(), 0.1),
).gate("complexity", needs="tests")
DESIGNS = {"reads verdicts, 4 components": VERDICTS, "compares files, 5 components": FILES}


def make_trajectory(task: Task, number: int) -> Trajectory:
    """An attempt that solves, leaves or spoils the task, by turns."""
    solved, cheats = number % 3 == 0, number % 3 == 1
    files = {**task.files, **(task.reference if solved else {})}
    if cheats:
        files[task.tests_file] = ""
    outcomes = [
        TestOutcome(f"hidden:{i}", "hidden", "passed" if solved or i % 2 else "wrong")
        for i, _ in enumerate(task.hidden, 1)
    ]
    turn = Turn(Action((7, 2), (-0.5, -0.1), "ls", "end_of_turn"), None, None, "", "0" * 16)
    return Trajectory(
        task_id=task.task_id,
        seed=number,
        sampler=SamplerSettings(),
        turns=(turn,) * (1 + number % 8),
        final_files=files,
        verdict=Verdict("call", "ok", tuple(outcomes)),
        evidence=collect_evidence(task, files),
        stop_reason="submitted",
    )


def make_groups(num_rollouts: int) -> tuple[list[Group], list[Task]]:
    """Groups of GROUP_SIZE, a task each."""
    tasks = load_tasks("bugfix", split="train", count=-(-num_rollouts // GROUP_SIZE))
    groups = [
        Group(task.task_id, "", tuple(make_trajectory(task, i) for i in range(GROUP_SIZE)))
        for task in tasks
    ]
    return groups, list(tasks)


def milliseconds(call: Callable[[], object]) -> float:
    """CPU milliseconds of one call."""
    start = time.process_time()
    call()
    return 1000 * (time.process_time() - start)


def measure(design: RewardDesign, groups: list[Group], tasks: list[Task], rounds: int) -> None:
    """Print the medians and their ratio for one design."""
    scores = Scores.of(groups, tasks, design)
    weights = {"tests": 0.7, "tampering": -0.4}
    moved = design.with_weights(**weights)
    again = totals(moved.score_groups(groups, tasks))
    assert np.array_equal(again, scores.grid(scores.rewards(weights)), equal_nan=True)
    methods = {
        "again": lambda: moved.score_groups(groups, tasks),
        "matrix": lambda: scores.rewards(weights),
        "once": lambda: Scores.of(groups, tasks, design),
        "matrix and advantages": lambda: scores.with_weights(**weights).advantages(),
    }
    times = {name: [] for name in methods}
    for _ in range(rounds):
        for name, call in methods.items():
            times[name].append(milliseconds(call))
    medians = {name: statistics.median(values) for name, values in times.items()}
    for name, median in medians.items():
        ratio = f"{medians['again'] / median:8.1f} x" if name != "again" else ""
        print(f"  {name:24}{median:10.2f} ms{ratio}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rollouts", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    groups, tasks = make_groups(options.rollouts)
    num_rollouts = sum(len(group.trajectories) for group in groups)
    print(f"{num_rollouts} rollouts, {platform.machine()}, {os.cpu_count()} CPUs, CPU time")
    for name, design in DESIGNS.items():
        print(name)
        measure(design, groups, tasks, options.rounds)


if __name__ == "__main__":
    main()
