"""What was found when an attempt was graded: test by test, and by each collector of evidence.

Stage: grading's outcome, everything that a reward may look at besides the attempt itself. Left
out: how it is found (`workbench.grading`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

TestStatus = Literal["passed", "wrong", "error", "timeout", "memory", "skipped", "missing"]
Suite = Literal["visible_as_left", "visible_pristine", "hidden", "agent_on_base", "exploit"]
"""Which tests an outcome belongs to. "agent_on_base": the agent's own tests against the task's
files, which they should fail. "exploit": passed = the attack on the program did not succeed."""
VerdictMode = Literal["call", "split", "shared"]
"""How a verdict is made; see docs/architecture.md."""
VerdictStatus = Literal[
    "ok", "compile_error", "timeout", "memory", "crash", "sandbox_error", "unscorable"
]

UNSCORABLE = frozenset({"sandbox_error", "unscorable"})
"""Verdicts that are our fault: the trajectory is dropped and counted, never rewarded with 0."""


@dataclass(frozen=True)
class TestOutcome:
    """What one test said."""

    __test__ = False  # pytest: this is a record, not a test class

    name: str
    """Identifier within its suite, e.g. "hidden:3"."""
    suite: Suite
    """Which suite the test belongs to; `visible_as_left` is what the agent left behind."""
    status: TestStatus
    """What happened."""
    message: str = ""
    """For people: the call, what was got and what was wanted, or the exception."""


@dataclass(frozen=True)
class Verdict:
    """What grading found, test by test."""

    mode: VerdictMode
    """How `visible_pristine` and `hidden` were judged. `visible_as_left` is always shared."""
    status: VerdictStatus
    """How the graded execution ended; see UNSCORABLE for the two that are our fault."""
    outcomes: tuple[TestOutcome, ...]
    """Every test of every suite, also after a timeout."""
    sandbox: str = ""
    """Backend and tier that ran the code, e.g. "local:3"."""
    grader: str = ""
    """Version of the grader."""

    def of_suite(self, suite: str) -> tuple[TestOutcome, ...]:
        """The outcomes of one suite. Raises ValueError if that suite was never run."""
        found = tuple(o for o in self.outcomes if o.suite == suite)
        if not found:
            ran = sorted({o.suite for o in self.outcomes})
            raise ValueError(
                f"suite {suite!r} was not run for this verdict (ran: {ran}); "
                "grade the trajectory with that suite before rewarding it"
            )
        return found

    def __repr__(self) -> str:  # `outcomes` fill a screen
        suites = dict.fromkeys(o.suite for o in self.outcomes)
        passed = {suite: [o.status == "passed" for o in self.of_suite(suite)] for suite in suites}
        words = [f"{suite} {sum(said)} of {len(said)} passed" for suite, said in passed.items()]
        return f"Verdict({', '.join([self.mode, self.status, *words])})"


@dataclass(frozen=True)
class Finding:
    """One remark of a linter or a security scanner about a line of source text."""

    tool: str
    """Who says so: "ruff" or "bandit"."""
    rule: str
    """Its name for it, e.g. "F841" or "B608"."""
    path: str
    """File of the workspace."""
    line: int
    """Line in that file, from 1."""
    message: str
    """For people."""
    severity: Literal["", "low", "medium", "high"] = ""
    """How bad the tool thinks it is; "" = it does not say."""
    new: bool = True
    """False = the task's files had it already: not the attempt's doing."""


@dataclass(frozen=True)
class Evidence:
    """What collectors saw when the episode ended; None = that collector did not run."""

    diff: str | None = None
    """Unified diff from the task's files to the final files (collector "diff")."""
    files_touched: tuple[str, ...] | None = None
    """Paths whose text differs from the task's (collector "diff")."""
    tampered: tuple[str, ...] | None = None
    """Protected paths (tests, and what configures their runner) that differ ("tampering")."""
    tripwires: tuple[str, ...] | None = None
    """Of a repository: new source text that honest code seldom has, "lib.py:3 sys._getframe": a
    sign and no proof (collector "tripwires")."""
    cpu_s: float | None = None
    """CPU seconds of the graded execution (collector "timing"); the collector "speed" puts the
    median of several runs on the hidden tests in its place."""
    reference_cpu_s: float | None = None
    """CPU seconds of the reference on the same tests, measured beside it (collector "speed")."""
    executed: Mapping[str, tuple[int, ...]] | None = None
    """Lines that the hidden tests ran, by path, sorted (collector "coverage")."""
    lint: tuple[Finding, ...] | None = None
    """What ruff says about the final files (collector "lint")."""
    security: tuple[Finding, ...] | None = None
    """What bandit says about the final files (collector "security")."""
    turn_scores: tuple[float, ...] | None = None
    """How well a model of turns thought the attempt was going at the end of each turn, in [0, 1]
    (collector "turn_scores")."""
    turn_scores_by: str | None = None
    """Version of that model ("turn_scores")."""
