"""`train`: the recipes, in a thread of their own, with a handle to watch and stop them.

Stage: learning. A policy, tasks and a sandbox go in; a `Run` comes back at once while the policy
is trained in place. Left out: several runs at a time on one policy (use `experiments.compare`).
"""

from __future__ import annotations

import atexit
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from workbench.evaluation import evaluate
from workbench.grading.collectors import check_collectors
from workbench.learning.checkpoint import Place, derive_seed
from workbench.learning.config import TrainConfig, resolve
from workbench.learning.folder import open_log
from workbench.learning.forward import plain_attention
from workbench.learning.journal import Journal, StopRequested
from workbench.learning.loop import improve_by_rl
from workbench.learning.progress import Progress, progress_of
from workbench.learning.provenance import describe_run
from workbench.learning.rft import improve_by_rft
from workbench.learning.rows import evaluation_row
from workbench.records import Task
from workbench.records.arguments import expect_episode, expect_seed, expect_tasks
from workbench.rewards import RewardDesign, all_pass, tampered
from workbench.rewards.design import expect_design
from workbench.runlog import new_folder

if TYPE_CHECKING:
    from workbench.policies import CausalLMPolicy
    from workbench.sandbox import Sandbox

HONEST = RewardDesign(tests=(all_pass("hidden"), 1.0), tampering=(tampered, -1.0))
"""The default reward: hidden tests decide, and editing the visible ones costs."""

Recipe = Literal["rft", "rl", "rft_then_rl"]
STAGES: dict[str, tuple[str, ...]] = {"rft": ("rft",), "rl": ("rl",), "rft_then_rl": ("rft", "rl")}
"""Stages of each recipe, in order."""


def stages_of(recipe: Recipe) -> tuple[str, ...]:
    """Its entry of STAGES. Raises ValueError for a recipe that is none."""
    if recipe not in STAGES:
        raise ValueError(f"recipe: expected one of {sorted(STAGES)}, got {recipe!r}")
    return STAGES[recipe]


@dataclass(frozen=True)
class TrainResult:
    """What a run that ended leaves behind."""

    policy: CausalLMPolicy
    """The trained policy, the same object that was given to `train`."""
    folder: Path
    """The run's folder; `load_run` reads it."""
    state: Literal["finished", "stopped"]
    """Whether it came to its end."""


class Run:
    """A training run in its thread. `metrics` grows while it runs."""

    def __init__(self, folder: Path, journal: Journal, progress: Callable[[], Progress]):
        """Made by `train`."""
        self.folder = folder
        self._journal, self._progress = journal, progress
        self._result: TrainResult | None = None
        self._error: BaseException | None = None
        # Not Thread.join: an interrupt in the middle of it makes Python 3.11 believe that the
        # thread has ended.
        self._ended = threading.Event()

    @property
    def metrics(self) -> list[dict[str, Any]]:
        """The rows so far (a copy): iterations, fine-tuning, evaluations."""
        return list(self._journal.rows)

    @property
    def done(self) -> bool:
        """Whether the thread has ended."""
        return self._ended.is_set()

    @property
    def state(self) -> Literal["running", "finished", "stopped", "failed"]:
        """What the run is doing, or how it ended."""
        if not self.done:
            return "running"
        return "failed" if self._error else self._result.state

    @property
    def progress(self) -> Progress:
        """How far it is, and the time left at this pace."""
        return self._progress()

    @property
    def result(self) -> TrainResult:
        """What it left behind. Raises RuntimeError while it runs; its own error if it failed."""
        if not self.done:
            raise RuntimeError("result: expected a run that has ended; call run.wait() first")
        if self._error:
            raise self._error
        return self._result

    def stop(self) -> None:
        """Ask the run to stop; it does so within seconds, and the iteration under way is undone.
        `train(..., folder=run.folder, resume=True)` continues it."""
        self._journal.stop()

    def wait(self, timeout_s: float | None = None) -> TrainResult:
        """Wait for the end and return the result.

        Raises the run's own error if it failed, TimeoutError if it is still running after
        `timeout_s` seconds. An interrupt (Ctrl-C, the notebook's stop button) stops the run,
        waits for it to write its log, and is raised again.
        """
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        try:
            while not self.done:
                self._ended.wait(0.2)  # short waits: Ctrl-C gets through on every platform
                if deadline is not None and time.monotonic() > deadline and not self.done:
                    raise TimeoutError(f"the run is still going after {timeout_s} s: {self}")
        except KeyboardInterrupt:
            self.stop()
            self._ended.wait()
            raise
        return self.result

    def __repr__(self) -> str:
        detail = f", {self.progress}" if self.state == "running" else ""
        return f"Run({str(self.folder)!r}, {self.state}{detail})"

    def _start(self, work: Callable[[], TrainResult]) -> None:
        def body() -> None:
            try:
                self._result = work()
                if self._result.state == "stopped" and not threading.main_thread().is_alive():
                    print(
                        f"the program ended, which stopped its run in {self.folder}. Wait for it "
                        "with run.wait(); train(..., folder=..., resume=True) goes on.",
                        file=sys.stderr,
                    )
            except BaseException as error:  # re-raised by wait() and result
                self._error = error
                self._journal.log.set_status("failed", error=f"{type(error).__name__}: {error}")
            finally:
                atexit.unregister(self._stop_at_exit)
                self._ended.set()

        thread = threading.Thread(target=body, name=f"train {self.folder.name}", daemon=True)
        atexit.register(self._stop_at_exit)  # a script that ends does not tear the log
        thread.start()

    def _stop_at_exit(self) -> None:
        self.stop()
        self._ended.wait(30)


def train(
    policy: CausalLMPolicy,
    tasks: Sequence[Task],
    sandbox: Sandbox,
    recipe: Recipe = "rft",
    *,
    config: TrainConfig = TrainConfig(),
    reward: RewardDesign = HONEST,
    seed: int = 0,
    folder: str | Path | None = None,
    resume: bool = False,
    dev: Sequence[Task] = (),
    on_metrics: Callable[[dict[str, Any]], None] | None = None,
) -> Run:
    """Start training `policy` in place, in a thread, and return the handle at once.

    Args:
        policy: from `open_policy`; its weights, or its LoRA adapters, are trained.
        tasks: what is practised on.
        recipe: "rft", "rl" or "rft_then_rl".
        reward: pays RL; RFT keeps what solved its task whatever the reward says.
        seed: same seed, policy, tasks and thread count: same numbers.
        folder: of the run log; default: a new one below runs/.
        resume: continue the run in `folder` from its newest checkpoint. On the same machine and
            thread count it ends with the same weights, bit for bit, as if never interrupted.
        dev: unseen tasks for `config.evaluate_every`.
        on_metrics: called in the training thread with each new row.
    Raises:
        ValueError: settings that cannot work; a folder that holds anything else.
    """
    _check(policy, tasks, sandbox, recipe, reward, dev)
    seed = expect_seed("seed", seed)
    lora = any(not p.requires_grad for p in policy.model.parameters())
    config = resolve(config, lora=lora, tasks=tasks)
    _check_settings(config, dev, folder, resume)
    described = describe_run(policy, tasks, sandbox, recipe, config, reward, seed, dev)
    name = f"{time.strftime('%Y%m%d-%H%M%S')}-{recipe}-seed{seed}"
    folder = Path(folder) if folder else new_folder(name)
    log = open_log(folder, described, resume=resume)

    def evaluate_now(stage: str, iteration: int) -> dict[str, Any]:
        start = time.perf_counter()
        found = evaluate(
            *(policy, dev, sandbox),
            seed=derive_seed(seed, "evaluate"),
            sampler=config.sampler,
            max_turns=config.max_turns,
            stop=journal.stop_requested,
        )
        return evaluation_row(stage, iteration, found, time.perf_counter() - start)

    journal = Journal(
        *(log, policy.model, Place(STAGES[recipe][0], 0)),
        checkpoint_every=config.checkpoint_every,
        evaluate=evaluate_now if dev else None,
        evaluate_every=config.evaluate_every,
        on_metrics=on_metrics,
    )
    run = Run(folder, journal, lambda: progress_of(list(journal.rows), config, recipe, len(tasks)))
    run._start(lambda: _run_stages(recipe, policy, tasks, sandbox, reward, config, seed, journal))
    return run


def _run_stages(
    recipe: Recipe,
    policy: CausalLMPolicy,
    tasks: Sequence[Task],
    sandbox: Sandbox,
    reward: RewardDesign,
    config: TrainConfig,
    seed: int,
    journal: Journal,
) -> TrainResult:
    """The work of the thread."""
    arguments = (policy, tasks, sandbox, reward, config, seed, journal)
    folder, stages = journal.log.folder, STAGES[recipe]
    journal.log.set_status("running")
    try:
        with plain_attention(policy.model):
            journal.evaluate_if_due("base", 0)
            if journal.place.stage == "rft":
                improve_by_rft(*arguments)
                journal.end_stage(Place("rl" if "rl" in stages else "end", 0))
            if "rft" in stages:
                journal.evaluate_if_due("rft", 0)
            if journal.place.stage == "rl":
                improve_by_rl(*arguments)
                journal.evaluate_if_due("rl", config.rl.iterations, always=True)
                journal.end_stage(Place("end", 0))
    except (StopRequested, RuntimeError) as error:
        if isinstance(error, RuntimeError) and threading.main_thread().is_alive():
            raise
        # else: the program has ended, and Python takes no new work for its thread pools
        journal.save_if_behind()
        journal.log.set_status("stopped", stage=journal.place.stage, next=journal.place.iteration)
        return TrainResult(policy, folder, "stopped")
    policy.save(folder / "policy")
    journal.log.set_status("finished", policy_version=policy.version)
    return TrainResult(policy, folder, "finished")


def _check(
    policy: object, tasks: object, sandbox: object, recipe: object, reward: object, dev: object
) -> None:
    """Raise ValueError for an argument that is not what it should be."""
    if not hasattr(policy, "model"):
        raise ValueError(
            f"policy: expected one with weights, from open_policy, got {type(policy).__name__}"
        )
    stages_of(recipe)
    expect_episode(policy, tasks, sandbox)
    expect_tasks("dev", dev)
    expect_design("reward", reward)
    if not tasks:
        raise ValueError("tasks: expected at least one, got none")
    check_collectors(reward.collectors, sandbox, tasks)


def _check_settings(
    config: TrainConfig, dev: Sequence[Task], folder: str | Path | None, resume: bool
) -> None:
    """Raise ValueError for settings that do not go together."""
    if resume and folder is None:
        raise ValueError("resume: expected the run's folder too, got none; give folder=run.folder")
    if resume and hasattr(config.rl.evidence, "fresh"):
        raise ValueError(
            f"resume: expected a run that its checkpoints hold whole, got {config.rl.evidence}, "
            "which learns on the side; start again in another folder"
        )
    if config.evaluate_every and not dev:
        raise ValueError(
            f"dev: expected tasks to evaluate on, because config.evaluate_every is "
            f"{config.evaluate_every}, got none; pass dev=load_tasks(..., split='dev')"
        )
