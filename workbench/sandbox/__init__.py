"""Where untrusted programs run: a local sandbox, and what it guarantees on this machine.

Stage: sandbox. Programs and inputs in, plain data out; no verdicts (see `grading`).
"""

from workbench.sandbox.guarantees import Guarantee, Guarantees
from workbench.sandbox.languages import LANGUAGES, Language
from workbench.sandbox.local import LocalSandbox, open_sandbox
from workbench.sandbox.results import (
    CallResult,
    CaseResult,
    ProgramResult,
    SandboxStats,
    TestsResult,
)

__all__ = [
    "CallResult",
    "CaseResult",
    "Guarantee",
    "Guarantees",
    "LANGUAGES",
    "Language",
    "LocalSandbox",
    "ProgramResult",
    "SandboxStats",
    "TestsResult",
    "open_sandbox",
]
