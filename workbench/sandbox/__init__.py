"""Where untrusted programs run: a local sandbox, and what it guarantees on this machine.

Stage: sandbox. Programs and inputs in, plain data out; no verdicts (see `grading`).
"""

from workbench.sandbox.guarantees import Guarantee, Guarantees
from workbench.sandbox.local import LocalSandbox, open_sandbox
from workbench.sandbox.results import CallResult, CaseResult, SandboxStats, TestsResult

__all__ = [
    "CallResult",
    "CaseResult",
    "Guarantee",
    "Guarantees",
    "LocalSandbox",
    "SandboxStats",
    "TestsResult",
    "open_sandbox",
]
