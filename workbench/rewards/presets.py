"""The values that published systems pay for compiler and unit-test outcomes.

Stage: rewards. Components in the sense of `components`; they sort a verdict into four outcomes, as
the systems below do: does not compile -1.0, runtime error -0.6, fails a test -0.3, passes all 1.0.
Left out: what these systems add during training (CodeRL's critic, PPOCoder's syntax-tree and
data-flow match, RLTF's penalty on the offending line, StepCoder's mask on lines that never ran).

Graded negatives are dense, but they pay an empty stub that fails (-0.3) more than a serious
attempt that crashes (-0.6).
"""

from __future__ import annotations

from typing import Literal

from workbench.records import UNSCORABLE, Task, Trajectory
from workbench.rewards.components import Component, configured
from workbench.rewards.outcomes import pass_fraction

Outcome = Literal["compile_error", "runtime_error", "failed", "passed"]
"""What became of a program."""
VALUES: dict[Outcome, float] = {
    "compile_error": -1.0,
    "runtime_error": -0.6,
    "failed": -0.3,
    "passed": 1.0,
}
"""What all four systems pay."""
RUNTIME_ERRORS = frozenset({"error", "timeout", "memory", "missing"})
"""A test with one of these was no comparison: the program broke. "missing": it ended before."""


@configured
def coderl(suite: str = "hidden", submitted: bool = True) -> Component:
    """Component: CodeRL's reward, -1.0, -0.6, -0.3 or 1.0.

    One runtime error outweighs any number of failures.

    Args:
        suite: the tests that are asked.
        submitted: True = what was never handed in has at best failed a test.
    Returns None if the verdict is ours to blame; raises ValueError if the suite was never run.
    Source: Le et al. 2022 (arXiv:2207.01780).
    """

    def component(trajectory: Trajectory, task: Task) -> float | None:
        outcome = _outcome(trajectory, suite, submitted)
        return None if outcome is None else VALUES[outcome]

    return component


@configured
def ppocoder(suite: str | None = "hidden", submitted: bool = True) -> Component:
    """Component: PPOCoder's compiler and test signal: CodeRL's values, or 1.0 and -1.0.

    Args:
        suite: the tests that are asked; None = there are none: 1.0 if it compiles, else -1.0.
        submitted: as in `coderl`.
    Left out: its syntax-tree and data-flow match (`changes.similarity` is a simpler relative).
    None and errors as in `coderl`. Source: Shojaee et al. 2023 (arXiv:2301.13816).
    """
    graded = None if suite is None else coderl(suite, submitted)

    def component(trajectory: Trajectory, task: Task) -> float | None:
        if graded is not None:
            return graded(trajectory, task)
        status = trajectory.verdict.status
        return None if status in UNSCORABLE else -1.0 if status == "compile_error" else 1.0

    return component


@configured
def stepcoder(suite: str = "hidden", submitted: bool = True) -> Component:
    """Component: StepCoder's reward for the completed program; the values of `coderl`.

    There is none for a part of the program. Arguments, None and errors as in `coderl`.
    Source: Dou et al. 2024 (arXiv:2402.01391).
    """
    return coderl(suite, submitted)


@configured
def rltf(suite: str = "hidden", submitted: bool = True) -> Component:
    """Component: RLTF's adaptive reward: a program that fails gets -0.3 + 1.3 * share passed.

    In [-1.0, 1.0]; errors of the compiler and at run time as in `coderl`. Arguments, None and
    errors as there. Source: Liu et al. 2023 (arXiv:2307.04349).
    """
    share = pass_fraction(suite, submitted)

    def component(trajectory: Trajectory, task: Task) -> float | None:
        outcome = _outcome(trajectory, suite, submitted)
        if outcome == "failed":
            return VALUES["failed"] + 1.3 * share(trajectory, task)
        return None if outcome is None else VALUES[outcome]

    return component


def _outcome(trajectory: Trajectory, suite: str, submitted: bool) -> Outcome | None:
    verdict = trajectory.verdict
    if verdict.status in UNSCORABLE:
        return None
    statuses = {outcome.status for outcome in verdict.of_suite(suite)}
    if verdict.status == "compile_error":
        return "compile_error"
    if statuses & RUNTIME_ERRORS:
        return "runtime_error"
    handed_in = not submitted or trajectory.stop_reason == "submitted"
    return "passed" if statuses == {"passed"} and handed_in else "failed"
