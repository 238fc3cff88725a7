"""`doctor`: why does it not learn? Every check that fits, put to a trainer, a run or the machine.

Stage: beside the loop. A `GRPOTrainer`, a `Run`, a run's folder or nothing goes in; a report comes
out, and nothing is changed. Left out: repairs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from workbench.diagnostics import agreement, before_training, during_training, machine, weights
from workbench.diagnostics.cases import TrainerCase, run_case
from workbench.diagnostics.checklist import Check, examine
from workbench.diagnostics.probes import SamplerProbe
from workbench.diagnostics.report import Report
from workbench.runlog import load_run

CHECKS: tuple[Check, ...] = (
    before_training.string_prompt,
    before_training.pad_is_eos,
    before_training.decoding_filters,
    before_training.run_temperature,
    before_training.completion_budget,
    before_training.group_size,
    before_training.learning_rate,
    before_training.eval_leak,
    before_training.swallowed_exceptions,
    weights.lora_frozen,
    weights.lora_dead,
    weights.optimiser,
    weights.dropout,
    weights.reference,
    agreement.trainer_temperature,
    agreement.mask,
    agreement.stale_sampler,
    agreement.sampler_gap,
    during_training.truncated,
    during_training.tied_groups,
    during_training.reward_never_positive,
    during_training.reward_constant,
    during_training.reward_missing,
    during_training.unscorable,
    during_training.clip_high,
    during_training.clip_zero,
    during_training.no_gradient,
    during_training.kl_explosion,
)
"""Checks of trainers and runs, in the order of docs/doctor.md; those of the machine are
`machine.CHECKS`."""


def doctor(subject: Any = None, *, probe: SamplerProbe | None = None) -> Report:
    """What is wrong with a trainer, a run or, without an argument, this machine.

    Args:
        subject: a `trl.GRPOTrainer`, before, during or after training (with a `DoctorCallback` more
            can be told); a `Run` from `train`, also while it goes on; what `load_run` takes or
            returns; None for the machine.
        probe: the `SamplerProbe` that was `train`'s `on_metrics`.
    Raises:
        ValueError: for anything else.

    Shown in a notebook the report is a table; `report.healthy` and `report.names` are for programs.
    """
    if subject is None:
        case = machine.look_at_machine()
        return examine("this machine", "machine", case, machine.CHECKS, case.facts)
    if isinstance(subject, str | Path):
        subject = load_run(subject)
    if hasattr(subject, "reward_funcs") and hasattr(subject, "args"):
        case = TrainerCase(subject)
        name = f"{type(subject).__name__} after {case.num_updates} updates"
        return examine(name, "trainer", case, CHECKS)
    if hasattr(subject, "metrics") and hasattr(subject, "folder"):
        case = run_case(subject, probe)
        return examine(f"run {case.folder}", "run", case, CHECKS)
    raise ValueError(
        "subject: expected a GRPOTrainer, a Run, a run's folder or None, got "
        f"{type(subject).__name__}"
    )
