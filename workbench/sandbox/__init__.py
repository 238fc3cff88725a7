"""Where untrusted programs run: on this machine or in containers, and what that guarantees.

Stage: sandbox. Programs and inputs in, plain data out; no verdicts (see `grading`).
"""

from workbench.sandbox.guarantees import Guarantee, Guarantees
from workbench.sandbox.local import LocalSandbox, Sandbox, open_sandbox
from workbench.sandbox.results import CallResult, CaseResult, SandboxStats, TestsResult

__all__ = [
    "CallResult",
    "CaseResult",
    "Guarantee",
    "Guarantees",
    "LocalSandbox",
    "Sandbox",
    "SandboxStats",
    "TestsResult",
    "open_sandbox",
]
