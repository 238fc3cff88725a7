"""Components about how good the code is beyond its tests: findings, complexity, speed.

Stage: rewards. They read what the collectors "lint", "security", "timing" and "speed" saw, or the
final files. All of them are easy for a program that does nothing: put them behind a gate on the
tests. Left out: judgements of a model about style.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Mapping
from typing import Literal

from workbench.records import UNSCORABLE, Finding, Task, Trajectory
from workbench.rewards.changes import changed_sources
from workbench.rewards.components import Component, configured, evidence, needs, python_only
from workbench.rewards.outcomes import syntax_tree

SEVERITIES = {"high": 1.0, "medium": 0.5, "low": 0.1, "": 0.1}
"""What a new finding costs unless told otherwise; "" = its tool names no severity."""
ORDER = ("", "low", "medium", "high")
"""Severities, the gravest last."""
_DECISIONS = (ast.If, ast.IfExp, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.Assert)


@configured
def new_findings(
    collector: Literal["security", "lint"] = "security",
    weights: Mapping[str, float] | None = None,
    cap: float = 1.0,
) -> Component:
    """Component: weights of the new findings added up, at most `cap`; for a penalty.

    In [0, cap]. Only what the attempt brought in: code that was there is not its doing, and
    deleting it earns nothing. Static findings are noisy and can be dodged.

    Args:
        collector: "security" or "lint".
        weights: cost by severity; None = SEVERITIES. A severity that is missing costs 0.
    Raises ValueError for another collector, weights that are negative or of an unknown severity, a
        cap that is not positive, or if the collector did not run.
    """
    costs = SEVERITIES if weights is None else weights
    _check_collector("new_findings", collector)
    if not cap > 0 or set(costs) - set(SEVERITIES) or not all(0 <= w for w in costs.values()):
        raise ValueError(
            f"new_findings: expected cap > 0 and weights >= 0 for {sorted(SEVERITIES)}, got "
            f"{cap} and {dict(costs)}"
        )

    @needs(collector)
    def component(trajectory: Trajectory, task: Task) -> float:
        found = _new(evidence(trajectory, collector, collector, "new_findings"))
        return min(math.fsum(costs.get(finding.severity, 0.0) for finding in found), float(cap))

    return component


@configured
def no_new_findings(
    collector: Literal["security", "lint"] = "lint",
    severity: Literal["", "low", "medium", "high"] = "",
) -> Component:
    """Component: 1.0 if the attempt brought in no finding of this severity or above, else 0.0.

    Args:
        collector: as in `new_findings`.
        severity: "" = any finding, also one whose tool names no severity.
    Raises ValueError for another collector or severity, or if the collector did not run.
    """
    _check_collector("no_new_findings", collector)
    if severity not in ORDER:
        raise ValueError(f"no_new_findings: expected one of {ORDER}, got {severity!r}")
    grave = ORDER[ORDER.index(severity) :]

    @needs(collector)
    def component(trajectory: Trajectory, task: Task) -> float:
        found = _new(evidence(trajectory, collector, collector, "no_new_findings"))
        return float(all(finding.severity not in grave for finding in found))

    return component


@needs("security")
def no_new_high(trajectory: Trajectory, task: Task) -> float | None:
    """1.0 if the attempt brought in no security finding of high severity, else 0.0.

    Meant for a gate or a blocker: in a blend, secure code that does nothing earns half. Raises
    ValueError if the collector "security" did not run.
    """
    found = _new(evidence(trajectory, "security", "security", "no_new_high"))
    return float(all(finding.severity != "high" for finding in found))


@configured
def complexity_change(tolerance: float = 0.2) -> Component:
    """Component: 1.0 if the changed files are at most `tolerance` more complex, else 0.0.

    Complexity is cyclomatic: one a file plus one for each decision (see `complexity`), added up
    over the changed Python files, tests left out; a file that is gone has none. A file that is
    new is compared with the reference's, if that has it, else with nothing.

    A changed file that does not parse gives 0.0: the attempt broke it. A file that did not parse
    before is left out. Nothing changed is 1.0; never None. Source: McCabe 1976.

    Raises ValueError if tolerance < 0, or for a task in another language.
    """
    if not tolerance >= 0:
        raise ValueError(f"complexity_change: expected tolerance >= 0, got {tolerance}")

    def component(trajectory: Trajectory, task: Task) -> float:
        python_only(task, "complexity_change")
        before = after = 0
        for path in changed_sources(trajectory.final_files, task):
            if not path.endswith(".py"):
                continue
            old = complexity(task.files.get(path, task.reference.get(path)))
            new = complexity(trajectory.final_files.get(path))
            if new is None:
                return 0.0
            if old is not None:
                before, after = before + old, after + new
        return float(after <= before * (1 + tolerance))

    return component


@configured
def faster(cap: float = 2.0) -> Component:
    """Component: the reference's CPU seconds over the program's, at most `cap`; 1.0 = as fast.

    Only this ratio means anything, never the seconds. It is noisy: another program on the machine
    slows one of the two runs, and what both pay for loading hides a difference in short ones. A
    small weight is prudent; and wrong programs are often fast, so put it behind a gate on the
    tests.

    In [0, cap]. None if the verdict is ours to blame, or the reference took no measurable time.
    Raises ValueError unless cap > 0, or if one of the collectors "timing" and "speed" did not run.
    """
    if not cap > 0:
        raise ValueError(f"faster: expected cap > 0, got {cap}")

    @needs("speed")
    def component(trajectory: Trajectory, task: Task) -> float | None:
        if trajectory.verdict.status in UNSCORABLE:
            return None
        reference_s = evidence(trajectory, "reference_cpu_s", "speed", "faster")
        cpu_s = evidence(trajectory, "cpu_s", "timing", "faster")
        if reference_s <= 0.0:
            return None
        return float(cap) if cpu_s * cap <= reference_s else reference_s / cpu_s

    return component


def complexity(text: str | None) -> int | None:
    """Cyclomatic complexity of a Python file as a whole: 1 + its decisions.

    0 for None, a file that is not there; None for text that does not parse. Decisions: `if` (also
    in an expression or a comprehension), loops, `except`, `assert`, every `and` and `or`, every
    `case` after the first. Moving code into a function changes nothing.

    >>> complexity("def f(xs):\\n    return [x for x in xs if x > 0 and x < 9]")
    4
    """
    if text is None:
        return 0
    tree = syntax_tree(text)
    if tree is None:
        return None
    decisions = 0
    for node in ast.walk(tree):
        if isinstance(node, _DECISIONS):
            decisions += 1
        elif isinstance(node, ast.BoolOp):
            decisions += len(node.values) - 1
        elif isinstance(node, ast.comprehension):
            decisions += 1 + len(node.ifs)
        elif isinstance(node, ast.Match):
            decisions += len(node.cases) - 1
    return 1 + decisions


def _new(findings: Iterable[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.new]


def _check_collector(component: str, collector: str) -> None:
    if collector not in ("security", "lint"):
        raise ValueError(f'{component}: expected "security" or "lint", got {collector!r}')
