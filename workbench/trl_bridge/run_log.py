"""A TRL run in our run log: `load_run`, the plots and the widgets read it as one of ours.

Stage: beside the loop, through TRL. A callback hears what TRL logs and takes the rollouts from
`MultiTurn` or `SingleTurn`; one row and one set of groups an iteration (in TRL's words a generation
batch) go to a folder. TRL's checkpoints note how long the log was, so that a resumed run goes on in
the same folder.
Left out: rollouts of other processes than the first; a Stop button (interrupt the kernel, resume).
"""

from __future__ import annotations

import dataclasses
import importlib.metadata
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from transformers import TrainerCallback

from workbench.evaluation import SOLVED
from workbench.learning import TrainConfig
from workbench.learning.checkpoint import derive_seed
from workbench.learning.loop import as_logged
from workbench.learning.provenance import describe_run
from workbench.learning.rows import (
    IterationRow,
    Seconds,
    Stopwatch,
    evaluation_row,
    rollout_stats,
)
from workbench.learning.update import UpdateStats
from workbench.policies import CausalLMPolicy
from workbench.records import Task
from workbench.rewards import totals
from workbench.runlog import LogPosition, RunLog, StoredIteration, load_run, write_json
from workbench.trl_bridge.multi_turn import MultiTurn, mode_kept
from workbench.trl_bridge.rolled import Rolled
from workbench.trl_bridge.single_turn import SingleTurn
from workbench.trl_bridge.turn_trainer import SAMPLER_GAP

if TYPE_CHECKING:
    from trl import GRPOConfig

POSITION = "run_log.json"
"""File in each of TRL's checkpoints: how long our log was."""


class RunLogCallback(TrainerCallback):
    """Writes what `episodes` rolled out and what TRL made of it to `folder`.

    >>> callbacks=[RunLogCallback("runs/trl/log", episodes, dev=dev)]       # doctest: +SKIP
    >>> learning_curve(load_run("runs/trl/log"))                            # doctest: +SKIP
    """

    def __init__(
        self,
        folder: str | Path,
        episodes: MultiTurn | SingleTurn,
        *,
        dev: Sequence[Task] = (),
        evaluate_every: int = 10,
        on_metrics: Callable[[dict[str, Any]], None] | None = None,
    ):
        """A log that begins with the training.

        Args:
            folder: new; or, for `trainer.train(resume_from_checkpoint=True)`, the one of the run
                that is resumed.
            dev: unseen tasks, evaluated before, after every `evaluate_every` iterations, and at
                the end, with the prompt of the training; none = no evaluation.
            on_metrics: called with each new row, an iteration's or an evaluation's.
        """
        self.folder, self.episodes, self._on_metrics = Path(folder), episodes, on_metrics
        self.dev, self._evaluate_every = list(dev), evaluate_every
        self._updates: list[UpdateStats] = []
        self._lr = 0.0

    def on_train_begin(self, args, state, control, *, model, processing_class, **_):
        """A new log, or the old one cut to where the checkpoint was made. Raises ValueError if
        iterations would not end where rows are written."""
        self._per_iteration = updates_per_generation(args)
        self._num_iterations, rest = divmod(state.max_steps, self._per_iteration)
        if rest:
            raise ValueError(
                f"max_steps: expected a multiple of the {self._per_iteration} optimiser steps on "
                f"one generation batch, got {state.max_steps}; the log would lack the last batch"
            )
        with mode_kept(model):
            self._policy = CausalLMPolicy(model, processing_class)
        if not state.is_world_process_zero:
            return
        if state.global_step:
            self._log = RunLog(load_run(self.folder).folder)
            noted = Path(args.output_dir) / f"checkpoint-{state.global_step}" / POSITION
            if not noted.exists():
                raise ValueError(
                    f"resume: expected {noted}, which this callback writes with each checkpoint, "
                    "found none; log to a new folder, from the start"
                )
            self._log.cut(LogPosition(**json.loads(noted.read_text("utf-8"))))
        else:
            self._log = RunLog.create(self.folder, self._description(args))
            self._evaluate("base", 0, args)
        self._log.set_status("running")

    def on_step_begin(self, args, state, control, **_):
        """The clock of an optimiser step; the first of an iteration samples before it updates."""
        self._step = Stopwatch()
        if not self._updates:
            self._first, self._steps = self._step, np.zeros(2)

    def on_step_end(self, args, state, control, **_):
        """What the step took is added up."""
        self._steps += _since(self._step)

    def on_log(self, args, state, control, *, logs, **_):
        """Note one optimiser step; of the iteration's last one, write the row and the groups."""
        if "grad_norm" not in logs or not state.is_world_process_zero:
            return
        if not self._updates:  # later ones may follow an evaluation, whose batch is no training's
            self._rolled = self.episodes.last
        self._updates.append(_stats(logs))
        self._lr = logs["learning_rate"]
        if state.global_step - self._rolled.global_step == self._per_iteration:
            self._write(self._rolled)
            done = state.global_step // self._per_iteration
            if done % self._evaluate_every == 0 and state.global_step < state.max_steps:
                self._evaluate("rl", done, args)

    def on_save(self, args, state, control, **_):
        """Note in TRL's checkpoint how long the log is."""
        if state.is_world_process_zero:
            folder = Path(args.output_dir) / f"checkpoint-{state.global_step}"
            write_json(folder / POSITION, dataclasses.asdict(self._log.position()))

    def on_train_end(self, args, state, control, **_):
        """The last evaluation; the policy, or its adapters, beside the log."""
        if state.is_world_process_zero:
            self._evaluate("rl", state.global_step // self._per_iteration, args)
            self._policy.save(self.folder / "policy")
            self._log.set_status("finished", policy_version=self._policy.version)

    def _write(self, rolled: Rolled) -> None:
        groups, tasks = list(rolled.groups), list(rolled.tasks)
        solved = totals(SOLVED.score_groups(groups, tasks))
        index = rolled.global_step // self._per_iteration
        row = IterationRow(
            stage="rl",
            iteration=index,
            num_iterations=self._num_iterations,
            policy_version=rolled.policy_version,
            rollouts=rollout_stats(groups, rolled.totals, solved, num_tied=rolled.num_tied),
            seconds=self._seconds(rolled.watch),
            updates=tuple(self._updates),
            lr=self._lr,
            extra=rolled.extra,
        )
        advantages = tuple(tuple(map(as_logged, row)) for row in rolled.credit)
        self._log.append_iteration(
            StoredIteration("rl", index, rolled.tasks, rolled.groups, rolled.rewards, advantages)
        )
        self._append(row.flat() | {"num_policy_tokens": _num_learned(rolled)})
        self._updates = []

    def _append(self, row: dict[str, Any]) -> None:
        self._log.append_metrics(row)
        if self._on_metrics:
            self._on_metrics(row)

    def _seconds(self, watch: Stopwatch) -> Seconds:
        """Where the iteration's time went. Sampling is all that came before its attempts were paid,
        TRL's own generation too; the rest of its optimiser steps is updating."""
        paid = watch.seconds()
        before = np.array(
            [watch.start - self._first.start, watch.start_cpu - self._first.start_cpu]
        )
        sampling = before + (paid.sampling_wall, paid.sampling_cpu)
        updating = self._steps - sampling
        return dataclasses.replace(
            paid,
            wall=self._first.seconds().wall,
            sampling_wall=float(sampling[0]),
            sampling_cpu=float(sampling[1]),
            update_wall=float(updating[0]),
            update_cpu=float(updating[1]),
        )

    def _evaluate(self, stage: str, iteration: int, args: GRPOConfig) -> None:
        if not self.dev:
            return
        model, tokenizer, start = self._policy.model, self._policy.tokenizer, time.perf_counter()
        with mode_kept(model):
            model.eval()
            seed = derive_seed(0, "evaluate")
            found = self.episodes.evaluate(model, tokenizer, self.dev, args, seed=seed)
        self._append(evaluation_row(stage, iteration, found, time.perf_counter() - start))

    def _description(self, args: GRPOConfig) -> dict[str, Any]:
        episodes = self.episodes
        config = TrainConfig(rl=episodes.rl, sampler=episodes.sampler, max_turns=episodes.max_turns)
        tasks = list(episodes.tasks.values())
        run = describe_run(
            *(self._policy, tasks, episodes.sandbox, "trl", config, episodes.design),
            *(args.seed, self.dev),
        )
        return run | {"trl": {"version": importlib.metadata.version("trl"), "args": _told(args)}}


def _since(watch: Stopwatch) -> np.ndarray:
    """(2,) wall and CPU seconds since the watch was made."""
    return np.array([time.perf_counter() - watch.start, time.process_time() - watch.start_cpu])


def updates_per_generation(args: GRPOConfig) -> int:
    """Optimiser steps that TRL makes on one generation batch.

    Raises ValueError if it is no whole number, if TRL logs less than every step, or if a
    checkpoint would fall between two of them (TRL does not store the batch; it would be sampled
    again, and the steps counted otherwise).
    """
    total, each = args.steps_per_generation * args.num_iterations, args.gradient_accumulation_steps
    if total % each:
        raise ValueError(
            f"run log: expected whole optimiser steps a generation batch, got "
            f"steps_per_generation x num_iterations = {total} and "
            f"gradient_accumulation_steps = {each}"
        )
    if args.logging_steps != 1:
        raise ValueError(f"logging_steps: the run log needs 1, got {args.logging_steps}")
    updates = total // each
    if args.save_strategy == "steps" and args.save_steps % updates:
        raise ValueError(
            f"save_steps: expected a multiple of the {updates} optimiser steps on one generation "
            f"batch, got {args.save_steps}; a resumed run would not be the same run"
        )
    return updates


def _stats(logs: dict[str, Any]) -> UpdateStats:
    """One optimiser step as TRL logs it; what TRL does not log, or logs as None, is nan."""

    def number(name: str) -> float:
        value = logs.get(name)
        return float("nan") if value is None else value

    return UpdateStats(
        loss=number("loss"),
        grad_norm=number("grad_norm"),
        entropy=number("entropy"),
        clip_fraction=number("clip_ratio/region_mean"),
        ratio_gap_mean=number(f"{SAMPLER_GAP}/mean"),
        ratio_gap_max=number(f"{SAMPLER_GAP}/max"),
        num_tokens=0,  # TRL does not say; the row has the iteration's
    )


def _num_learned(rolled: Rolled) -> int:
    """Sampled tokens with an advantage."""
    return sum(
        len(turn.action.ids)
        for group, row in zip(rolled.groups, rolled.credit)
        for trajectory, numbers in zip(group.trajectories, row)
        for turn, number in zip(trajectory.turns, numbers)
        if not np.isnan(number)
    )


def _told(args: GRPOConfig) -> dict[str, Any]:
    """What TRL was told, where it differs from its defaults and JSON can hold it."""
    plain = (str, int, float, bool, type(None), list, dict)
    defaults = {f.name: f.default for f in dataclasses.fields(args)}
    return {
        name: value
        for name, value in vars(args).items()
        if name in defaults and value != defaults[name] and isinstance(value, plain)
    }
