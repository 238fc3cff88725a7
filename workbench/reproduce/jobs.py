"""Seeds as processes of one torch thread, a few at a time; a finished one is never run again.

Stage: around the loop. In: jobs. Out: each job's JSON result, from its file where there is one.
Ctrl-C lets the running ones stop in good order; the same command goes on from there. Left out:
several machines.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing import connection
from pathlib import Path
from typing import Any

import torch

from workbench.bootstrap import SetupError
from workbench.runlog import write_json

AT_ONCE = 2
"""Processes side by side: one thread each, two cores."""
LOG_LINES = 12
"""Lines of a failed job's log that are shown."""


@dataclass(frozen=True)
class Job:
    """One piece of work for a process of its own."""

    result: Path
    """JSON file that exists once it is done; what it prints goes to the .log beside it."""
    function: Callable[..., dict[str, Any]]
    """A module's function that returns what the file is to hold."""
    arguments: Mapping[str, Any]
    """Its keyword arguments."""
    settings: Mapping[str, Any]
    """Plain JSON that must be equal for a stored result to stand for this job."""

    @property
    def log(self) -> Path:
        """What it prints."""
        return self.result.with_suffix(".log")


def run_jobs(
    jobs: Sequence[Job], *, at_once: int = AT_ONCE, say: Callable[[str], None] = print
) -> list[dict[str, Any]]:
    """The jobs' results in order; those without a stored result are run.

    Raises SetupError if a stored result was made with other settings, or a job fails.
    """
    waiting = [job for job in jobs if not is_done(job)]
    if len(jobs) > len(waiting):
        say(f"{len(jobs) - len(waiting)} of {len(jobs)} were finished before")
    running: dict[int, tuple[Job, multiprocessing.Process]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < at_once:
                job = waiting.pop(0)
                say(f"{job.result.stem}: started; its log is {job.log}")
                process = _start(job)
                running[process.sentinel] = job, process
            for sentinel in connection.wait(list(running)):
                job, process = running.pop(sentinel)
                process.join()
                if process.exitcode != 0:
                    raise SetupError(_failure(job, process.exitcode))
                say(f"{job.result.stem}: done in {stored(job)['minutes']:.1f} minutes")
    except BaseException:  # Ctrl-C reaches the processes too: let them write their logs
        for _, process in running.values():
            process.join(60)
            process.terminate()
        raise
    return [stored(job) for job in jobs]


def is_done(job: Job) -> bool:
    """Whether the job's result is there. Raises SetupError if other settings made it.

    Code is not compared: move the results away after a change that moves the numbers.
    """
    if not job.result.exists():
        return False
    there, wanted = _flat(stored(job)["settings"]), _flat(json.loads(json.dumps(job.settings)))
    if different := sorted(
        name
        for name in {*there, *wanted}
        if there.get(name) != wanted.get(name) and not name.endswith("source_hash")
    ):
        lines = [f"  {k}: {there.get(k)!r:.150}, now {wanted.get(k)!r:.150}" for k in different]
        raise SetupError(
            "\n".join((f"{job.result} was made with other settings:", *lines))
            + f"\nMove {job.result.parent} away, or give another --out."
        )
    return True


def stored(job: Job) -> dict[str, Any]:
    """The job's result file."""
    return json.loads(job.result.read_text("utf-8"))


def _start(job: Job) -> multiprocessing.Process:
    # spawn: a fork of a process with threads and a sandbox would inherit both half-alive
    process = multiprocessing.get_context("spawn").Process(target=_work, args=(job,), daemon=True)
    process.start()
    return process


def _work(job: Job) -> None:
    """In the process: run the function, write its result."""
    torch.set_num_threads(1)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    job.result.parent.mkdir(parents=True, exist_ok=True)
    with open(job.log, "a", encoding="utf-8", buffering=1) as log:
        with contextlib.redirect_stdout(log), contextlib.redirect_stderr(log):
            wall, cpu = time.monotonic(), time.process_time()
            try:
                found = job.function(**job.arguments)
            except BaseException:
                import traceback

                traceback.print_exc()
                raise SystemExit(1) from None
            minutes = {
                "minutes": (time.monotonic() - wall) / 60,
                "cpu_minutes": (time.process_time() - cpu) / 60,
            }
            write_json(job.result, {"settings": job.settings} | minutes | found)


def _end_with_parent() -> None:
    """A parent that was killed must not leave seeds behind that write beside their successors."""
    connection.wait([multiprocessing.parent_process().sentinel])
    os._exit(1)


def _flat(value: Any, path: str = "") -> dict[str, Any]:
    """{"config.rl.lr": value, ...}: nested objects by dotted path."""
    if not isinstance(value, dict):
        return {path: value}
    flat = {}
    for name, inner in value.items():
        flat |= _flat(inner, f"{path}.{name}" if path else name)
    return flat


def _failure(job: Job, exitcode: int | None) -> str:
    tail = job.log.read_text("utf-8").splitlines()[-LOG_LINES:] if job.log.exists() else []
    return "\n".join(
        (f"{job.result.stem} failed (exit status {exitcode}); the end of {job.log}:", *tail)
    )
