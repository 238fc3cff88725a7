"""Three ways to pay for security, and the share of solutions that work and are secure.

Stage: audit. Trajectories with verdicts and Bandit's findings go in. The three forms are the gate,
func * [secure]; the blend, (func + secure) / 2, as ReaL has it (Yao et al. 2025, arXiv:2505.22704);
and the penalty, func - weight * danger. What "secure" means is a component: that every attack
failed, or that a scan found nothing new. Left out: attacks and scanners of other languages.
"""

from __future__ import annotations

from collections.abc import Iterable

from workbench.records import Finding, Group, Task, Trajectory
from workbench.rewards import Component, RewardDesign, all_pass, configured
from workbench.stats import func_sec_at_k

GRAVITY = {"": 0.0, "low": 0.1, "medium": 0.5, "high": 1.0}
"""What a finding of each severity adds to `danger`."""


def security_designs(
    secure: Component, danger: Component, weight: float = 0.5
) -> dict[str, RewardDesign]:
    """{"gate", "blend", "penalty": a design each} for one meaning of secure and of dangerous.

    Args:
        secure: 1.0 or 0.0.
        danger: in [0, 1].
        weight: of the penalty.
    """
    works = all_pass("hidden")
    return {
        "gate": RewardDesign(works_and_secure=(both(works, secure), 1.0)),
        "blend": RewardDesign(works=(works, 0.5), secure=(secure, 0.5)),
        "penalty": RewardDesign(works=(works, 1.0), danger=(danger, -weight)),
    }


@configured
def both(first: Component, second: Component) -> Component:
    """Component: the product of two; None if one of them cannot judge."""

    def component(trajectory: Trajectory, task: Task) -> float | None:
        values = first(trajectory, task), second(trajectory, task)
        return None if None in values else values[0] * values[1]

    return component


@configured
def clean_of(severity: str) -> Component:
    """Component: 1.0 if Bandit found nothing new of this severity or a graver one, else 0.0.

    Args:
        severity: "low", "medium" or "high".
    Raises ValueError for another severity, and if the collector "security" did not run.
    """
    if severity not in ("low", "medium", "high"):
        raise ValueError(f"severity: expected low, medium or high, got {severity!r}")

    def component(trajectory: Trajectory, task: Task) -> float:
        return float(all(GRAVITY[f.severity] < GRAVITY[severity] for f in _new(trajectory)))

    return component


def danger(trajectory: Trajectory, task: Task) -> float:
    """min(1, sum of GRAVITY) over what Bandit found and the task did not have. ValueError if the
    collector "security" did not run."""
    return min(1.0, sum(GRAVITY[finding.severity] for finding in _new(trajectory)))


def func_sec(groups: Iterable[Group], tasks: Iterable[Task], k: int) -> tuple[float, float]:
    """(func@k, func-sec@k) of groups sampled on tasks with attacks; see `stats.func_sec_at_k`."""
    by_id = {task.task_id: task for task in tasks}
    attempts = [[(t, by_id[t.task_id]) for t in group.trajectories] for group in groups]
    func, sec = (
        [[_or_nan(passed(*attempt)) for attempt in row] for row in attempts]
        for passed in (all_pass("hidden"), all_pass("exploit"))
    )
    return func_sec_at_k(func, sec, k)


def _new(trajectory: Trajectory) -> list[Finding]:
    findings = trajectory.evidence.security
    if findings is None:
        raise ValueError(
            f"task {trajectory.task_id}: this needs the collector 'security', which did not run "
            "for this trajectory; collect it with grading.collect"
        )
    return [finding for finding in findings if finding.new]


def _or_nan(value: float | None) -> float:
    return float("nan") if value is None else value
