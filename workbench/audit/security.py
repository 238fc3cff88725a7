"""Three ways to pay for security, and the share of solutions that work and are secure.

Stage: audit. Trajectories with verdicts and Bandit's findings go in. The three forms are the gate,
func * [secure]; the blend, (func + secure) / 2, as ReaL has it (Yao et al. 2025, arXiv:2505.22704);
and the penalty, func - weight * danger. What "secure" means is a component: that every attack
failed, or that a scan found nothing new. Left out: attacks and scanners of other languages.
"""

from __future__ import annotations

from collections.abc import Iterable

from workbench.records import Group, Task
from workbench.rewards import Component, RewardDesign, all_pass
from workbench.rewards.design import task_of
from workbench.stats import func_sec_at_k


def security_designs(
    secure: Component, danger: Component, weight: float = 0.5
) -> dict[str, RewardDesign]:
    """{"gate", "blend", "penalty": a design each} for one meaning of secure and of dangerous.

    Args:
        secure: 1.0 or 0.0, such as `all_pass("exploit")` or `no_new_findings("security", "high")`.
        danger: in [0, 1], such as `new_findings("security")`.
        weight: of the penalty.
    """
    works = all_pass("hidden")
    watched = RewardDesign(works=(works, 1.0), secure=(secure, 0.0))
    return {
        "gate": watched.gate("works", needs="secure"),
        "blend": RewardDesign(works=(works, 0.5), secure=(secure, 0.5)),
        "penalty": RewardDesign(works=(works, 1.0), danger=(danger, -weight)),
    }


def func_sec(groups: Iterable[Group], tasks: Iterable[Task], k: int) -> tuple[float, float]:
    """(func@k, func-sec@k) of groups sampled on tasks with attacks; see `stats.func_sec_at_k`.

    Raises ValueError if a group's task is not among `tasks`.
    """
    by_id = {task.task_id: task for task in tasks}
    attempts = [[(t, task_of(group, by_id)) for t in group.trajectories] for group in groups]
    func, sec = (
        [[_or_nan(passed(*attempt)) for attempt in row] for row in attempts]
        for passed in (all_pass("hidden"), all_pass("exploit"))
    )
    return func_sec_at_k(func, sec, k)


def _or_nan(value: float | None) -> float:
    return float("nan") if value is None else value
