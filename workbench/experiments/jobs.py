"""Jobs: the runs of a comparison, in processes of their own with one thread each.

Stage: above learning. Jobs go in; each leaves a folder with its run log, its output and a
result.json. A few processes work through them, one job after the other: to start one takes longer
than a small job. They are started fresh (no fork of a process that holds torch) and end when the
one that started them ends; a job that was cut off continues from its newest checkpoint when it is
given to one again. Left out: several hosts.
"""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.records import Task
from workbench.runlog import load_run, write_json

if TYPE_CHECKING:
    from workbench.learning import TrainConfig
    from workbench.rewards import RewardDesign

POLL_S = 0.5
"""Seconds between two looks at the running processes."""


@dataclass(frozen=True)
class Arm:
    """One way of training that is compared with others."""

    name: str
    """Short, unique, usable as a folder's name."""
    recipe: str | None = "rft_then_rl"
    """As for `train`; None = the policy as it is."""
    config: TrainConfig | None = None
    """Settings; None = the defaults."""
    reward: RewardDesign | None = None
    """Reward design; None = the default. Its components must live in an importable module."""
    policy: str = "tiny"
    """Name or folder, as for `open_policy`."""
    lora: Any | None = None
    """A `peft.LoraConfig`, or None."""
    tasks: tuple[Task, ...] | None = None
    """Tasks to practise on; None = those given to `compare`."""


@dataclass(frozen=True)
class Job:
    """One run of a comparison: what a process is told."""

    arm: Arm
    """What is trained, with its tasks filled in."""
    seed: int
    """Of training; the evaluation has the same seed in every job."""
    unseen: tuple[Task, ...]
    """Tasks the result is measured on."""
    greedy: bool
    """Whether the likeliest token is taken in the evaluation."""
    folder: Path
    """Where run log, output and result go."""


@dataclass(frozen=True)
class ComparisonProgress:
    """How far a comparison is."""

    num_done: int
    """Runs that are over."""
    num_total: int
    """Runs in all."""
    running: Mapping[str, str]
    """Run under way -> its newest row in words."""


def work_through(paths: Iterator[str]) -> None:
    """The life of a process: jobs' files come in, a folder's result.json goes out for each."""
    import torch

    torch.set_num_threads(1)
    for path in paths:
        job: Job = pickle.loads(Path(path).read_bytes())
        with open(job.folder / "output.txt", "ab") as output:
            for descriptor in (1, 2):
                os.dup2(output.fileno(), descriptor)
        result = run_job(job)
        sys.stdout.flush()  # the next job's output is another file
        write_json(job.folder / "result.json", result)


def run_job(job: Job) -> dict[str, Any]:
    """Train and evaluate: what result.json is to hold."""
    from workbench.evaluation import evaluate
    from workbench.learning import HONEST, train
    from workbench.policies import open_policy
    from workbench.sandbox import open_sandbox

    arm, config = job.arm, replace(_settings(job.arm), update_threads=1)
    policy = open_policy(arm.policy, lora=arm.lora, seed=job.seed)
    with open_sandbox("local", workers=1) as sandbox:
        if arm.recipe is not None:
            train(
                *(policy, arm.tasks, sandbox, arm.recipe),
                config=config,
                reward=arm.reward or HONEST,
                seed=job.seed,
                folder=job.folder / "run",
                resume=(job.folder / "run" / "config.json").exists(),
            ).wait()
        found = evaluate(
            *(policy, job.unseen, sandbox),
            sampler=config.sampler,
            greedy=job.greedy,
            max_turns=config.max_turns,
        )
    result = {"job": _describe(job), "solved": found.solved().tolist()}
    return result | {"submit_share": found.submit_share, "mean_turns": found.mean_turns}


def given_on_stdin() -> Iterator[str]:
    """The texts that come in, a JSON line each; the process ends as soon as no more can come."""
    lines: queue.SimpleQueue[str] = queue.SimpleQueue()

    def listen() -> None:
        for line in sys.stdin:
            lines.put(json.loads(line))
        os._exit(1)  # in the middle of a job, perhaps: the run continues from its newest checkpoint

    threading.Thread(target=listen, daemon=True).start()
    while True:
        yield lines.get()


def prepare(job: Job) -> None:
    """Write the job's file; refuse a folder that belongs to another job."""
    result, stored = job.folder / "result.json", job.folder / "job.json"
    job.folder.mkdir(parents=True, exist_ok=True)
    described = json.loads(json.dumps(_describe(job)))
    for path in (p for p in (result, stored) if p.exists()):
        content = json.loads(path.read_text())
        if _given(content.get("job", content)) != _given(described):
            raise ValueError(
                f"{job.folder}: expected the run of these settings, found another one under the "
                "same name; give another folder or arm name"
            )
    write_json(stored, described)
    (job.folder / "job.pickle").write_bytes(pickle.dumps(job))


def _describe(job: Job) -> dict[str, Any]:
    """What must be equal for a stored result to count."""
    from workbench.learning import HONEST
    from workbench.learning.provenance import describe_config, describe_reward, describe_tasks

    return {
        "arm": job.arm.name,
        "seed": job.seed,
        "recipe": job.arm.recipe,
        "policy": job.arm.policy,
        "lora": job.arm.lora.to_dict() if job.arm.lora else None,
        "config": describe_config(_settings(job.arm)),
        "reward": describe_reward(job.arm.reward or HONEST),
        "tasks": describe_tasks(job.arm.tasks),
        "unseen": describe_tasks(job.unseen),
        "greedy": job.greedy,
    }


def _settings(arm: Arm) -> TrainConfig:
    """Settings of an arm with its tasks filled in, turns included: its evaluation has as many."""
    from workbench.environments import default_turns
    from workbench.learning import TrainConfig

    config = arm.config or TrainConfig()
    if config.max_turns is not None:
        return config
    return replace(config, max_turns=default_turns(*arm.tasks))


def _given(described: Any) -> Any:
    """`described` without what is None, so that a setting invented later, off as None, voids no
    run that was finished before."""
    if not isinstance(described, dict):
        return described
    return {name: _given(value) for name, value in described.items() if value is not None}


def run_all(
    jobs: Sequence[Job],
    workers: int,
    on_progress: Callable[[ComparisonProgress], None] | None,
) -> None:
    """Run the jobs without a result in at most `workers` processes; end them all if one fails."""
    waiting = [job for job in jobs if not _is_done(job)]
    processes: list[subprocess.Popen] = []
    running: dict[subprocess.Popen, Job] = {}

    def give_next(process: subprocess.Popen) -> None:
        running[process] = job = waiting.pop(0)
        with contextlib.suppress(BrokenPipeError):  # that it has ended is seen when it is looked at
            process.stdin.write(json.dumps(str(job.folder / "job.pickle")).encode() + b"\n")
            process.stdin.flush()

    try:
        for job in waiting[:workers]:
            processes.append(_start(job.folder))
            give_next(processes[-1])
        while running:
            time.sleep(POLL_S)
            for process, job in list(running.items()):
                if _is_done(job):
                    del running[process]
                    if waiting:
                        give_next(process)
                elif process.poll() is not None and not _is_done(job):
                    raise RuntimeError(_failure(process, job))
            if on_progress:
                num_done = len(jobs) - len(waiting) - len(running)
                words = {_name(job): _newest(job) for job in running.values()}
                on_progress(ComparisonProgress(num_done, len(jobs), words))
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def _start(folder: Path) -> subprocess.Popen:
    code = "from workbench.experiments import jobs; jobs.work_through(jobs.given_on_stdin())"
    environment = os.environ | {
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join(p for p in [os.getcwd(), *sys.path] if p),
    }
    with open(folder / "output.txt", "ab") as output:  # of its first job
        return subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,  # closed when this process ends, however it ends
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment,
        )


def _is_done(job: Job) -> bool:
    return (job.folder / "result.json").exists()


def _failure(process: subprocess.Popen, job: Job) -> str:
    output = (job.folder / "output.txt").read_text(errors="replace").strip()
    return (
        f"the run {_name(job)} ended with status {process.returncode}; the end of "
        f"{job.folder / 'output.txt'}:\n{output[-1500:]}"
    )


def _newest(job: Job) -> str:
    if not (job.folder / "run" / "config.json").exists():
        return "starting"
    rows = [row for row in load_run(job.folder / "run").metrics if row["kind"] == "iteration"]
    if not rows:
        return "starting"
    return f"{rows[-1]['stage']} {rows[-1]['iteration'] + 1}/{rows[-1]['num_iterations']}"


def _name(job: Job) -> str:
    return f"{job.arm.name}/seed-{job.seed}"


def read_result(job: Job) -> dict[str, Any]:
    """result.json of a job that is over; "solved" has one number a task, nan = not judged."""
    result = json.loads((job.folder / "result.json").read_text())
    return result | {"solved": [np.nan if s is None else s for s in result["solved"]]}
