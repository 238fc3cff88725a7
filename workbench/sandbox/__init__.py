"""Where untrusted programs run: on this machine or in containers, and what that guarantees.

Stage: sandbox. Programs and inputs in, plain data out; no verdicts (see `grading`).
"""

from workbench.sandbox.base import Sandbox
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
    "Sandbox",
    "SandboxStats",
    "TestsResult",
    "open_sandbox",
]
