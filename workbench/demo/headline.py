"""The headline run: base, rejection fine-tuning, RL, measured on tasks never seen; headless.

Stage: the whole loop. In: a seed and, if wanted, a number of minutes; out: a run folder with
results.json and pictures. Everything is done by `train`, `evaluate` and `plots`; what is here is
their order. Left out: several seeds at a time (`experiments.compare`).
"""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench import plots
from workbench.demo.counts import (
    NUM_DEV,
    NUM_TEST,
    counts_for,
    fixed_counts,
    timed_episode_s,
)
from workbench.demo.measured import Measured, measure, table
from workbench.demo.telling import attempt_in_words, follow, rows_so_far, run_folder, say
from workbench.learning import TrainConfig, train
from workbench.policies import open_policy
from workbench.records import Task
from workbench.runlog import load_run, write_json
from workbench.sandbox import open_sandbox
from workbench.tasks import load_tasks

CONFIG = replace(TrainConfig(), max_turns=8, evaluate_every=10)
"""Settings of the headline run: the measured defaults, and a curve on unseen tasks."""


def demo(
    seed: int = 0,
    minutes: float | None = None,
    out: str | Path | None = None,
    resume: bool = False,
    config: TrainConfig = CONFIG,
    policy_name: str = "tiny",
    num_test: int = NUM_TEST,
    num_dev: int = NUM_DEV,
) -> Path:
    """Run it and return the run folder.

    Args:
        minutes: about how long it may take, if it is not resumed; turned into
            stored counts before training starts.
        out: run folder; default runs/demo-SEED.
        resume: continue the run in that folder.
        config: settings; `minutes` changes its counts.
        policy_name: a name or folder for `open_policy`.
        num_test, num_dev: unseen tasks for the table and for the curve.
    Raises:
        SetupError: the folder is not empty and `resume` is False, it holds no run of this demo
            and seed and `resume` is True, or there are too few minutes.
    """
    start, name = time.monotonic(), f"demo-{seed}"
    folder = run_folder(name, out, resume)
    results = stored_results(folder) if resume else {}
    if "about" in results:
        print(f"{table(results)}\nfinished before; figures and results: {folder}")
        return folder
    policy, test = open_policy(policy_name), load_tasks("bugfix", "test", num_test)
    with open_sandbox("auto") as sandbox:
        if minutes is not None and not resume:  # too few? then say so now
            counts_for(60 * minutes, timed_episode_s(policy, test, sandbox, seed), config)
        say(start, f"{sandbox.name}, {sandbox.workers} workers; base: {len(test)} test tasks")
        base = measure(policy, test, sandbox, seed)
        config = settle(folder, name, config, minutes, base, time.monotonic() - start)
        show_base(base, folder, start)
        results["base"] = base.row()

        def after_row(row: dict[str, Any]) -> None:
            if row["kind"] == "fine_tuning":  # the policy stands still while this is called
                imitated = measure(policy, test, sandbox, seed)
                solved = imitated.sampled.solve_rate.percent()
                say(start, f"RFT  {len(test)} test tasks: {solved}")
                results["rft"] = imitated.row()
                write_json(folder / "results.json", results)

        begun = rows_so_far(folder / "run")
        run = train(
            *(policy, load_tasks("bugfix", "train"), sandbox, "rft_then_rl"),
            config=config, seed=seed, folder=folder / "run", resume=begun is not None,
            dev=load_tasks("bugfix", "dev", num_dev), on_metrics=after_row,
        )  # fmt: skip
        for text in follow(run, begun or 0):
            say(start, text)
        final = measure(policy, test, sandbox, seed)
    results["rl"] = final.row()
    results["about"] = about(run, time.monotonic() - start, resumed=begun is not None)
    write_json(folder / "results.json", results)
    draw(folder, base, final, run, test)
    for attempt in plots.instructive_pair(base.sampled.groups, final.sampled.groups):
        say(start, "e.g. " + attempt_in_words(attempt))
    print(table(results))
    say(start, f"figures and results: {folder}")
    return folder


def show_base(base: Measured, folder: Path, start: float) -> None:
    """Say what the base does, and draw the first picture."""
    first = plots.actions_by_turn(base.sampled.groups, labels=("base",))
    path = plots.save_png(first, folder / "figures" / "base.png")
    say(start, f"base solves {base.sampled.solve_rate.percent()}; first picture: {path}")
    say(start, "e.g. " + attempt_in_words(base.sampled.groups[0].trajectories[0]))


def settle(
    folder: Path,
    name: str,
    config: TrainConfig,
    minutes: float | None,
    base: Measured,
    spent_s: float,
) -> TrainConfig:
    """The run's settings, fixed before it starts: the counts of the run to be resumed, those that
    fit into `minutes`, or those of `config`."""

    def make() -> dict[str, int]:
        if minutes is None:
            return {"rft_tasks": config.rft.num_tasks, "rl_iterations": config.rl.iterations}
        episode_s = spent_s / (base.sampled.num_episodes + base.greedy.num_episodes)
        return counts_for(60 * minutes - spent_s, episode_s, config, spent_s)

    counts = fixed_counts(folder, name, make)
    return replace(
        config,
        rft=replace(config.rft, num_tasks=counts["rft_tasks"]),
        rl=replace(config.rl, iterations=counts["rl_iterations"]),
    )


def draw(folder: Path, base: Measured, final: Measured, run, test: Sequence[Task]) -> None:
    """Write the pictures of a finished run."""
    labels = ("base", "after RFT and RL")
    pair = plots.instructive_pair(base.sampled.groups, final.sampled.groups)
    statement = {task.task_id: task.statement for task in test}[pair[0].task_id]
    figures = {
        "learning_curve": plots.learning_curve(run, title="Repairing bugs in code never seen"),
        "actions": plots.actions_by_turn(base.sampled.groups, final.sampled.groups, labels=labels),
        "episode": plots.episode_side_by_side(*pair, labels=labels, statement=statement),
    }
    for name, figure in figures.items():
        plots.save_png(figure, folder / "figures" / f"{name}.png")


def about(run, wall_s: float, *, resumed: bool) -> dict[str, Any]:
    """Where it ran and where the time went, for results.json; `wall_s` is of the last leg."""
    seconds = [row["seconds"] for row in run.metrics if row["kind"] != "evaluation"]
    spent = {name: sum(s.get(name, 0.0) for s in seconds) for name in seconds[0]}
    machine = {"cpus": os.cpu_count(), "python": platform.python_version()}
    described = load_run(run.folder).config
    return {"wall_s": wall_s, "resumed": resumed, "spent_s": spent, "machine": machine,
            "config": described}  # fmt: skip


def stored_results(folder: Path) -> dict[str, Any]:
    """results.json of an interrupted run; empty if it had not got that far."""
    path = folder / "results.json"
    return json.loads(path.read_text("utf-8")) if path.exists() else {}
