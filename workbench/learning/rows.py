"""Rows of a run's metrics.jsonl: what is known after an iteration, a fine-tuning, an evaluation.

Stage: learning. Groups, rewards and update statistics go in; frozen rows come out, flat but for
the seconds (the only numbers in which two equal runs may differ).
Left out: averages over iterations (`plots`).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from workbench.counterfactuals import Cost
from workbench.evaluation import Evaluation, conduct
from workbench.learning.update import UpdateStats
from workbench.records import Group

if TYPE_CHECKING:
    from workbench.sandbox import Sandbox


@dataclass(frozen=True)
class Seconds:
    """Where the time of one row went."""

    wall: float = 0.0
    """Wall-clock seconds in all."""
    sampling_cpu: float = 0.0
    """CPU seconds of this process while rolling out."""
    sandbox_cpu: float = 0.0
    """CPU seconds of the sandboxes' programs."""
    update_cpu: float = 0.0
    """CPU seconds of this process while updating."""
    sampling_wall: float = 0.0
    """Wall-clock seconds of the rollouts, sandbox included."""
    update_wall: float = 0.0
    """Wall-clock seconds of the updates."""


@dataclass(frozen=True)
class RolloutStats:
    """What a batch of rollouts looked like; shares are in [0, 1]."""

    num_groups: int
    """Tasks rolled out."""
    num_rollouts: int
    """Trajectories."""
    num_dropped: int
    """Trajectories that could not be judged (our fault); in no reward and no update."""
    reward_mean: float
    """Mean reward of those that could be judged."""
    solved_share: float
    """Share that was handed in and passes every hidden test, whatever the reward says."""
    num_tied: int
    """Groups whose rewards are all equal: compared with each other, they teach nothing."""
    malformed_share: float
    """Share of turns whose message was no command."""
    submit_share: float
    """Share of trajectories that were handed in."""
    edited_tests_share: float
    """Share of trajectories that left the tests changed."""
    mean_turns: float
    """Turns a trajectory."""
    num_tokens: int
    """Prompt and sampled tokens."""
    num_sampled_tokens: int
    """Tokens the policy sampled."""


@dataclass(frozen=True)
class IterationRow:
    """One batch of rollouts and the updates made on it."""

    stage: Literal["rft", "rl"]
    """RFT iterations only sample; their one fine-tuning has a row of its own."""
    iteration: int
    """Index within the stage, from 0."""
    num_iterations: int
    """Iterations of the stage."""
    policy_version: str
    """Weights that sampled the rollouts."""
    rollouts: RolloutStats
    """What was sampled."""
    seconds: Seconds
    """Where the time went."""
    updates: tuple[UpdateStats, ...] = ()
    """Each update in order; in the first the ratio gap is sampler against trainer."""
    lr: float = 0.0
    """Learning rate of the last update."""
    extra: Cost = Cost()
    """What was spent on evidence beyond the rollouts."""

    def flat(self) -> dict:
        """The row as it is stored: rollout statistics at the top, means over updates."""
        row = {"kind": "iteration", "stage": self.stage, "iteration": self.iteration}
        row |= {"num_iterations": self.num_iterations, "policy_version": self.policy_version}
        row |= vars(self.rollouts) | {"lr": self.lr} | flat_updates(self.updates)
        row["num_extra_rollouts"] = self.extra.num_rollouts
        row["num_extra_sampled_tokens"] = self.extra.num_sampled_tokens
        return row | {"seconds": vars(self.seconds)}


@dataclass(frozen=True)
class FineTuningRow:
    """The imitation of solved attempts that ends rejection fine-tuning."""

    num_examples: int
    """Attempts imitated."""
    num_tasks_solved: int
    """Tasks with at least one of them."""
    num_rejected_tampered: int
    """Solved attempts left out because the tests were edited."""
    num_duplicates: int
    """Solved attempts left out because another did exactly the same."""
    updates: tuple[UpdateStats, ...]
    """Each update in order."""
    seconds: Seconds
    """Where the time went."""

    def flat(self) -> dict:
        """The row as it is stored."""
        row = {"kind": "fine_tuning", "stage": "rft"}
        row |= {n: v for n, v in vars(self).items() if n not in ("updates", "seconds")}
        return row | flat_updates(self.updates) | {"seconds": vars(self.seconds)}


def flat_updates(updates: Sequence[UpdateStats]) -> dict[str, float | int | None]:
    """Means over the updates; of the ratio gap the first update's; None where there was none."""
    row: dict[str, float | int | None] = {"num_updates": len(updates)}
    for name in ("loss", "grad_norm", "entropy", "clip_fraction"):
        row[name] = float(np.mean([getattr(u, name) for u in updates])) if updates else None
    for name in ("ratio_gap_mean", "ratio_gap_max"):
        row[name] = getattr(updates[0], name) if updates else None
    return row | {"num_policy_tokens": sum(u.num_tokens for u in updates)}


def evaluation_row(stage: str, iteration: int, evaluation: Evaluation, wall_s: float) -> dict:
    """Row of an evaluation on unseen tasks after `stage` ("base", "rft", "rl")."""
    return {
        "kind": "evaluation",
        "stage": stage,
        "iteration": iteration,
        "solve_rate": evaluation.solve_rate.estimate,
        "low": evaluation.solve_rate.low,
        "high": evaluation.solve_rate.high,
        "interval": evaluation.solve_rate.method,
        "greedy": evaluation.greedy,
        "num_tasks": len(evaluation.results),
        "num_episodes": evaluation.num_episodes,
        "num_dropped": evaluation.num_dropped,
        "submit_share": evaluation.submit_share,
        "malformed_share": evaluation.malformed_share,
        "edited_tests_share": evaluation.edited_tests_share,
        "mean_turns": evaluation.mean_turns,
        "policy_version": evaluation.policy_version,
        "seconds": {"wall": wall_s},
    }


def rollout_stats(
    groups: Sequence[Group], rewards: np.ndarray, solved: np.ndarray, num_tied: int
) -> RolloutStats:
    """Statistics of a batch of rollouts; `rewards` and `solved` are (B, G), nan = not judged."""
    trajectories = [t for group in groups for t in group.trajectories]
    judged = rewards[~np.isnan(rewards)]
    return RolloutStats(
        num_groups=len(groups),
        num_rollouts=len(trajectories),
        num_dropped=len(trajectories) - len(judged),
        reward_mean=float(judged.mean()) if len(judged) else float("nan"),
        solved_share=float(np.nanmean(solved)) if not np.isnan(solved).all() else float("nan"),
        num_tied=num_tied,
        num_tokens=sum(t.num_tokens for t in trajectories),
        num_sampled_tokens=sum(t.num_action_tokens for t in trajectories),
        **conduct(groups),
    )


@dataclass
class Stopwatch:
    """Adds up the seconds of one row: `with watch.sampling(sandbox): ...`, `watch.seconds()`."""

    start: float = field(default_factory=time.perf_counter)
    """Wall-clock second at which it was made."""
    start_cpu: float = field(default_factory=time.process_time)
    """CPU second of this process at which it was made."""
    spent: dict[str, float] = field(default_factory=dict)
    """Fields of `Seconds` so far."""

    @contextmanager
    def sampling(self, sandbox: Sandbox) -> Iterator[None]:
        """Time the block as sampling, and what the sandbox uses meanwhile as the sandbox's."""
        before = sandbox.stats.cpu_s
        with self._both("sampling"):
            yield
        self.spent["sandbox_cpu"] = sandbox.stats.cpu_s - before

    @contextmanager
    def updating(self) -> Iterator[None]:
        """Time the block as updating."""
        with self._both("update"):
            yield

    def seconds(self) -> Seconds:
        """What was measured since the stopwatch was made."""
        return Seconds(wall=time.perf_counter() - self.start, **self.spent)

    @contextmanager
    def _both(self, what: str) -> Iterator[None]:
        wall, cpu = time.perf_counter(), time.process_time()
        yield
        self.spent[f"{what}_wall"] = time.perf_counter() - wall
        self.spent[f"{what}_cpu"] = time.process_time() - cpu
