"""Diagnostics: why does it not learn, which tokens are learned, and what will it cost?

Stage: beside the loop, above learning and adapters. `doctor` examines a trainer of TRL's, a run of
ours or the machine; `check_masks` finds out anew which tokens are the model's; `calibrate` and
`estimate_cost` say what a run will take before it is started. docs/doctor.md lists every check.
"""

from __future__ import annotations

from typing import Any

from workbench.diagnostics.examination import CHECKS, doctor
from workbench.diagnostics.mask_report import PATTERNS, MaskReport
from workbench.diagnostics.masks import check_masks
from workbench.diagnostics.probes import SamplerProbe
from workbench.diagnostics.report import Report, Symptom

__all__ = [
    "CHECKS",
    "PATTERNS",
    "DoctorCallback",
    "MaskReport",
    "Report",
    "SamplerProbe",
    "Symptom",
    "check_masks",
    "doctor",
]


def __getattr__(name: str) -> Any:
    """`DoctorCallback` is a class of transformers': loaded when first asked for."""
    if name == "DoctorCallback":
        from workbench.diagnostics.callback import DoctorCallback

        return DoctorCallback
    raise AttributeError(f"module 'workbench.diagnostics' has no name {name!r}; it has {__all__}")
