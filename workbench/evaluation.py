"""Evaluation: how many unseen tasks a policy solves, and how sure that number is.

Stage: after sampling; nothing is trained. A policy and tasks in, an `Evaluation` out. Solved
means: handed in, and every hidden test passed. Left out: comparisons of several policies (see
`experiments`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from workbench.episodes import RolloutProgress, rollout_many
from workbench.records import Group, SamplerSettings, Task
from workbench.rewards import RewardDesign, all_pass, totals
from workbench.stats import Interval, bootstrap_tasks, pass_at_k, wilson

if TYPE_CHECKING:
    from workbench.policies import Policy
    from workbench.sandbox import Sandbox

SOLVED = RewardDesign(solved=(all_pass("hidden"), 1.0))
"""What counts as solved: handed in, and every hidden test passed."""


@dataclass(frozen=True)
class TaskResult:
    """How one task went."""

    task_id: str
    """Which task."""
    num_solved: int
    """Attempts that solved it."""
    num_scored: int
    """Attempts that could be judged."""


@dataclass(frozen=True)
class Evaluation:
    """What `evaluate` found; prints as a table."""

    solve_rate: Interval
    """Share of attempts that solved their task (mean over tasks), with its 95 % interval."""
    results: tuple[TaskResult, ...]
    """One a task, in the order of the tasks."""
    submit_share: float
    """Share of the episodes that ended by handing in."""
    malformed_share: float
    """Share of the turns whose message was no command."""
    edited_tests_share: float
    """Share of the episodes that left the tests changed."""
    mean_turns: float
    """Turns an episode."""
    num_dropped: int
    """Episodes that could not be judged: our fault, in no rate."""
    greedy: bool
    """Whether the policy always took its likeliest token."""
    seed: int
    """Seed of the rollouts."""
    policy_version: str
    """Which weights."""
    groups: tuple[Group, ...]
    """The trajectories themselves."""

    @property
    def num_episodes(self) -> int:
        """Episodes in all, the dropped ones included."""
        return sum(len(group.trajectories) for group in self.groups)

    def solved(self) -> np.ndarray:
        """(tasks,) share of each task's attempts that solved it, NaN = none could be judged."""
        return np.array(
            [r.num_solved / r.num_scored if r.num_scored else np.nan for r in self.results]
        )

    def pass_at(self, k: int) -> Interval:
        """pass@k, unbiased, averaged over tasks, with a bootstrap over tasks.

        Raises ValueError if a task has fewer than k attempts that could be judged.
        """
        return bootstrap_tasks([pass_at_k(r.num_scored, r.num_solved, k) for r in self.results])

    def __repr__(self) -> str:
        how = "greedy" if self.greedy else f"temperature {self._temperature():g}"
        rows = (
            ("solved", f"{self.solve_rate.percent()}  95 %, {self.solve_rate.method}"),
            ("handed in", f"{100 * self.submit_share:.1f} %"),
            ("malformed turns", f"{100 * self.malformed_share:.1f} %"),
            ("edited the tests", f"{100 * self.edited_tests_share:.1f} %"),
            ("turns", f"{self.mean_turns:.1f} an episode"),
            ("not judged", f"{self.num_dropped} episodes"),
        )
        title = f"{len(self.results)} tasks, {self.num_episodes} episodes, {how}, seed {self.seed}"
        return "\n".join((title, *(f"  {name:<17}{text}" for name, text in rows)))

    def _temperature(self) -> float:
        return self.groups[0].trajectories[0].sampler.temperature


def evaluate(
    policy: Policy,
    tasks: Sequence[Task],
    sandbox: Sandbox,
    n: int = 1,
    seed: int = 0,
    sampler: SamplerSettings = SamplerSettings(),
    *,
    greedy: bool = False,
    max_turns: int | None = None,
    progress: Callable[[RolloutProgress], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> Evaluation:
    """The policy's solve rate on `tasks`, with a 95 % interval and what else went on.

    Args:
        n: attempts at each task. With 1 the interval is Wilson's; with more, the tasks are
            resampled, because attempts at one task are correlated.
        greedy: take the likeliest token; the same as `sampler` with temperature 0.
        progress, stop: as `on_progress` and `stop` of `rollout_many`.
    Raises:
        ValueError: without tasks, or if no episode could be judged.
        RolloutStopped: once `stop` returns True.
    """
    if not tasks:
        raise ValueError("tasks: expected at least one, got none")
    if greedy:
        sampler = replace(sampler, temperature=0.0)
    groups = rollout_many(
        policy,
        tasks,
        sandbox,
        n,
        seed,
        sampler=sampler,
        max_turns=max_turns,
        on_progress=progress,
        stop=stop,
    )
    return summarise(groups, tasks)


def summarise(groups: Sequence[Group], tasks: Sequence[Task]) -> Evaluation:
    """The `Evaluation` of groups that were rolled out before, one group a task.

    Raises ValueError if there is no group, or no episode could be judged.
    """
    if not groups:
        raise ValueError("groups: expected at least one, got none")
    solved = totals(SOLVED.score_groups(groups, tasks))  # (tasks, n), NaN = dropped
    num_scored = (~np.isnan(solved)).sum(axis=1)
    first = groups[0].trajectories[0]
    return Evaluation(
        solve_rate=_interval(solved),
        results=tuple(
            TaskResult(group.task_id, int(np.nansum(row)), int(count))
            for group, row, count in zip(groups, solved, num_scored, strict=True)
        ),
        num_dropped=sum(len(group.trajectories) for group in groups) - int(num_scored.sum()),
        greedy=first.sampler.temperature == 0.0,
        seed=first.seed,
        policy_version=groups[0].policy_version,
        groups=tuple(groups),
        **conduct(groups),
    )


def conduct(groups: Sequence[Group]) -> dict[str, float]:
    """What the groups' episodes did, whatever came of it: fields of `Evaluation` by their names.

    They are `submit_share`, `malformed_share`, `edited_tests_share` and `mean_turns`.
    """
    episodes = [t for group in groups for t in group.trajectories]
    turns = [turn for episode in episodes for turn in episode.turns]
    return {
        "submit_share": float(np.mean([e.stop_reason == "submitted" for e in episodes])),
        "malformed_share": float(np.mean([turn.parse_error is not None for turn in turns])),
        "edited_tests_share": float(np.mean([bool(e.evidence.tampered) for e in episodes])),
        "mean_turns": len(turns) / len(episodes),
    }


def _interval(solved: np.ndarray) -> Interval:
    """Wilson for one attempt a task, else a bootstrap over tasks; the mean is over tasks."""
    if np.isnan(solved).all():
        raise ValueError(
            "no episode could be judged: every verdict was sandbox_error or unscorable; look at "
            "the verdicts' status and at sandbox.guarantees()"
        )
    if solved.shape[1] > 1:
        return bootstrap_tasks(solved)
    return wilson(int(np.nansum(solved)), int((~np.isnan(solved)).sum()))
