"""What a headless run prints, and the folder it writes to.

Stage: the whole loop. In: a run that is going on; out: lines with the minutes they came at.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from workbench import plots
from workbench.bootstrap import SetupError
from workbench.demo.counts import begun_in
from workbench.records import Trajectory
from workbench.runlog import RUNS, load_run, new_folder
from workbench.stats import Interval

COMMAND_CHARS = 32
"""A longer command is cut when an attempt is told in one line."""


def follow(run, seen: int = 0) -> Iterator[str]:
    """A line for each row of a run after the first `seen`, until it ends.

    Ctrl-C stops the run, waits for it to write its log, and is raised again.
    """
    try:
        while True:
            done = run.done  # before reading the rows, so that the last ones are seen
            for row in run.metrics[seen:]:
                yield row_in_words(row, run.progress.left_s)
                seen += 1
            if done:
                break
            time.sleep(0.3)
    except KeyboardInterrupt:
        run.stop()
        again = f"--resume --out {run.folder.parent}"
        print(f"stopping; {again} goes on after the last whole iteration", flush=True)
        run.wait()
        raise
    run.wait()  # raises the run's own error


def row_in_words(row: Mapping[str, Any], left_s: float | None = None) -> str:
    """One row of metrics as a line, with the minutes left beside an iteration."""
    if row["kind"] == "evaluation":
        rate = Interval(row["solve_rate"], row["low"], row["high"], row["interval"])
        return f"     {row['num_tasks']} dev tasks: {rate.percent()}"
    if row["kind"] == "fine_tuning":
        num_examples, num_tasks = row["num_examples"], row["num_tasks_solved"]
        return f"RFT  imitated {num_examples} solved attempts at {num_tasks} tasks"
    share = "none" if row["solved_share"] is None else f"{row['solved_share']:.0%}"
    left = "" if left_s is None else f", {left_s / 60:.1f} min left"
    number = f"{row['iteration'] + 1}/{row['num_iterations']}"
    stage, attempts = row["stage"].upper(), row["num_rollouts"]
    return f"{stage:<4} {number:<7}{attempts} attempts, {share} solved{left}"


def attempt_in_words(trajectory: Trajectory) -> str:
    """An episode in one line: its task, its commands, how it ended."""
    commands = [turn.action.text.replace("\n", "⏎") for turn in trajectory.turns]
    short = [c if len(c) <= COMMAND_CHARS else c[: COMMAND_CHARS - 1] + "…" for c in commands]
    return f"{trajectory.task_id}: {' > '.join(short)} = {plots.verdict_words(trajectory)[1]}"


def run_folder(name: str, out: str | Path | None, resume: bool) -> Path:
    """Where a run is written: `out`, or the first free of runs/NAME, runs/NAME-2, ...; with
    `resume` the one in `out`, or the newest in those folders.

    Raises SetupError if `out` holds something that is not to be resumed, or the run to be resumed
    is not there or has another name: another seed, or the other demo.
    """
    if resume:
        ours = [path for path in RUNS.glob(f"{name}*") if begun_in(path) == name]
        folder = Path(out or max(ours, key=lambda path: path.stat().st_mtime, default=RUNS / name))
        if (there := begun_in(folder)) != name:
            raise SetupError(
                f"--resume: expected a run of {name} in {folder}, found {there or 'none'}; give "
                "the options it was begun with, or leave --resume out."
            )
        return folder
    if out and Path(out).exists() and any(Path(out).iterdir()):
        raise SetupError(f"{out} is not empty: give another --out, or --resume to continue it.")
    return Path(out) if out else new_folder(name)


def rows_so_far(folder: Path) -> int | None:
    """Rows of the run that `train` has begun in this folder, or None if it has not."""
    return len(load_run(folder).metrics) if (folder / "config.json").exists() else None


def say(start: float, text: str) -> None:
    """Print a line with the minutes and seconds since the start."""
    elapsed = int(time.monotonic() - start)
    print(f"{elapsed // 60:3d}:{elapsed % 60:02d}  {text}", flush=True)
