"""Diagnostics: why does it not learn, which tokens are learned, and what will it cost?

Stage: beside the loop, above learning and adapters. `doctor` examines a trainer of TRL's, a run of
ours or the machine; `check_masks` finds out anew which tokens are the model's; `calibrate` and
`estimate_cost` say what a run will take before it is started, `gpu_memory` what a GPU must hold.
docs/doctor.md lists every check.
"""

from __future__ import annotations

from typing import Any

from workbench.diagnostics.costs import (
    Calibration,
    CostEstimate,
    calibrate,
    calibration_from,
    estimate_cost,
)
from workbench.diagnostics.examination import CHECKS, doctor
from workbench.diagnostics.mask_report import PATTERNS, MaskReport
from workbench.diagnostics.masks import check_masks
from workbench.diagnostics.memory import MemoryEstimate, gpu_memory
from workbench.diagnostics.probes import SamplerProbe
from workbench.diagnostics.report import Report, Symptom

__all__ = [
    "CHECKS",
    "PATTERNS",
    "Calibration",
    "CostEstimate",
    "DoctorCallback",
    "MaskReport",
    "MemoryEstimate",
    "Report",
    "SamplerProbe",
    "Symptom",
    "calibrate",
    "calibration_from",
    "check_masks",
    "doctor",
    "estimate_cost",
    "gpu_memory",
]


def __getattr__(name: str) -> Any:
    """`DoctorCallback` is a class of transformers': loaded when first asked for."""
    if name == "DoctorCallback":
        from workbench.diagnostics.callback import DoctorCallback

        return DoctorCallback
    raise AttributeError(f"module 'workbench.diagnostics' has no name {name!r}; it has {__all__}")
