"""What is examined: a trainer of TRL's, or a run of ours.

Stage: beside the loop. A `GRPOTrainer`, a `Run`, or a run's folder goes in; a case with what the
checks read comes out. Left out: RLOOTrainer and SFTTrainer (other fields), several machines.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.credit import broadcast
from workbench.diagnostics.checklist import CannotTell
from workbench.diagnostics.thresholds import RECENT
from workbench.diagnostics.vitals import Vitals, known, of_rows, of_trl
from workbench.records import Group, from_json
from workbench.runlog import RunRecord, gzip_members

if TYPE_CHECKING:
    from workbench.diagnostics.callback import DoctorCallback
    from workbench.diagnostics.probes import Probe


@dataclass(frozen=True)
class TrainerCase:
    """A trainer before, during or after training."""

    trainer: Any
    """trl.GRPOTrainer."""

    @property
    def args(self) -> Any:
        """Its GRPOConfig."""
        return self.trainer.args

    @property
    def model(self) -> Any:
        """The model in training, out of what accelerate wrapped around it."""
        return self.trainer.accelerator.unwrap_model(self.trainer.model)

    @property
    def tokenizer(self) -> Any:
        """The tokenizer; of a processor, the one inside."""
        return getattr(self.trainer.processing_class, "tokenizer", self.trainer.processing_class)

    @property
    def lora(self) -> bool:
        """Whether adapters of peft are trained."""
        return hasattr(self.model, "peft_config")

    @property
    def episodes(self) -> Any | None:
        """The `trl_bridge.MultiTurn` that plays its episodes, if one does."""
        owner = getattr(self.trainer.rollout_func, "__self__", None)
        return owner if hasattr(owner, "max_turns") else None

    @property
    def credit(self) -> Mapping[str, Any]:
        """Which turn earned the reward, described as in a run's config.json; TRL broadcasts it."""
        from workbench.learning.provenance import describe_function

        return describe_function(self.episodes.rl.credit if self.episodes else broadcast)

    @property
    def num_updates(self) -> int:
        """Optimiser steps so far."""
        return self.trainer.state.global_step

    @cached_property
    def vitals(self) -> tuple[Vitals, ...]:
        """The log so far."""
        return of_trl(self.trainer.state.log_history, self.args)

    def watching(self, name: str) -> Any | None:
        """The callback of the class so called, if the trainer has one."""
        callbacks = self.trainer.callback_handler.callbacks
        return next((one for one in callbacks if type(one).__name__ == name), None)

    @property
    def callback(self) -> DoctorCallback:
        """The DoctorCallback that watches the training. Raises CannotTell if there is none."""
        if (found := self.watching("DoctorCallback")) is None:
            raise CannotTell("needs trainer.add_callback(DoctorCallback(trainer)) before training")
        return found

    @property
    def probes(self) -> tuple[Probe, ...]:
        """What the callback has measured. Raises CannotTell if there is no callback."""
        return tuple(self.callback.probes)


@dataclass(frozen=True)
class RunCase:
    """A run of our loop, going on or stored."""

    config: Mapping[str, Any]
    """Contents of its config.json."""
    rows: tuple[Mapping[str, Any], ...]
    """Its metrics so far."""
    folder: Path
    """Where it is stored."""
    probe: Any = None
    """The SamplerProbe that watched it, if one did."""

    def described(self, name: str) -> Any:
        """An entry of config.json. Raises CannotTell for a recording that was not trained, and for
        an entry that was invented after the run."""
        if name not in self.config:
            raise CannotTell(
                f"the run's config.json has no {name!r}: it was not made by train(), or by an "
                "older version of it"
            )
        return self.config[name]

    @property
    def settings(self) -> Mapping[str, Any]:
        """The training settings."""
        return self.described("config")

    @property
    def credit(self) -> Mapping[str, Any]:
        """Which turn earned the reward."""
        return self.settings["rl"]["credit"]

    @property
    def lora(self) -> bool:
        """Whether only some of the weights are trained."""
        policy = self.described("policy")
        return policy["num_trained_parameters"] < policy["num_parameters"]

    @cached_property
    def vitals(self) -> tuple[Vitals, ...]:
        """Its RL iterations so far."""
        return of_rows(self.rows)

    @cached_property
    def last_groups(self) -> tuple[Group, ...]:
        """The groups of the newest stored iteration. Raises CannotTell if there is none."""
        members = list(gzip_members(self.folder / "trajectories.jsonl.gz"))
        if not members:
            raise CannotTell("no iteration is stored yet")
        _, text = members[-1]  # only this one is worth the time that parsing takes
        return tuple(from_json(Group, json.loads(row)["group"]) for row in text.splitlines()[1:])

    @property
    def probes(self) -> tuple[Probe, ...]:
        """What a SamplerProbe has measured. Raises CannotTell without one."""
        if self.probe is None:
            raise CannotTell(
                "needs train(..., on_metrics=SamplerProbe(policy)), then doctor(run, probe=it)"
            )
        return tuple(self.probe.probes)


def run_case(run: Any, probe: Any = None) -> RunCase:
    """The case of a `Run`, a `RunRecord`, or what `load_run` takes."""
    rows = tuple(run.metrics)
    stored = run if isinstance(run, RunRecord) else RunRecord(run.folder)
    return RunCase(stored.config, rows, Path(run.folder), probe)


Case = TrainerCase | RunCase
"""What most checks are of."""


def logged(case: Case) -> tuple[Vitals, ...]:
    """The log so far. Raises CannotTell while it is empty."""
    if not case.vitals:
        raise CannotTell("no update is logged yet")
    return case.vitals


def recent_rows(case: Case, name: str) -> list[Vitals]:
    """The newest rows with a vital sign. Raises CannotTell if the log does not have it."""
    rows = [v for v in logged(case) if getattr(v, name) is not None][-RECENT:]
    if not rows:
        raise CannotTell(f"the log does not say (no {name})")
    return rows


def recent(case: Case, name: str) -> list[float]:
    """A vital sign in the newest rows. Raises CannotTell if the log does not have it."""
    return known(recent_rows(case, name), name)
