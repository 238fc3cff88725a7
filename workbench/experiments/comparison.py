"""Comparisons: several arms, several seeds, the same unseen tasks.

Stage: above learning. Arms and seeds go in; a `Comparison` comes out. Every arm has met the same
unseen tasks, so differences are taken task by task. A comparison that was interrupted continues
where it was. Left out: early stopping of poor arms, corrections for looking many times.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from workbench.experiments.jobs import Arm, ComparisonProgress, Job, prepare, read_result, run_all
from workbench.records import Task
from workbench.records.arguments import expect, expect_seed, expect_tasks
from workbench.rewards.design import expect_design
from workbench.stats import Interval, mean_interval, paired_difference


@dataclass(frozen=True)
class Comparison:
    """What `compare` found; prints as a table."""

    arms: tuple[str, ...]
    """Names, in the order given."""
    seeds: tuple[int, ...]
    """Training seeds."""
    task_ids: tuple[str, ...]
    """The unseen tasks."""
    solved: np.ndarray
    """(arms, seeds, tasks) 1.0 = solved, 0.0 = not, nan = could not be judged."""
    submit_share: np.ndarray
    """(arms, seeds) share of the attempts that were handed in."""
    mean_turns: np.ndarray
    """(arms, seeds) turns an attempt."""
    folder: Path
    """Run logs: folder/ARM/seed-SEED."""

    def rates(self, arm: str) -> np.ndarray:
        """(seeds,) share of the unseen tasks each run of `arm` solved."""
        return np.nanmean(self.solved[self._index(arm)], axis=1)

    def mean(self, arm: str) -> Interval:
        """Mean solve rate of an arm with Student's 95 % interval over its seeds."""
        return mean_interval(self.rates(arm))

    def difference(self, arm: str, baseline: str) -> Interval:
        """`arm` minus `baseline`, task by task, with an interval over tasks: how far the result
        depends on which tasks were drawn. Seeds are averaged first."""
        return paired_difference(
            self.solved[self._index(baseline)].T, self.solved[self._index(arm)].T
        )

    def difference_by_seed(self, arm: str, baseline: str) -> Interval:
        """`arm` minus `baseline`, seed by seed, with an interval over seeds: how far the result
        depends on luck in training."""
        return mean_interval(self.rates(arm) - self.rates(baseline))

    def __repr__(self) -> str:
        first, width = self.arms[0], max(12, *(len(name) for name in self.arms))
        title = f"{len(self.task_ids)} unseen tasks, seeds {list(self.seeds)}, 95 % intervals"
        lines = [
            title,
            f"  {'arm':<{width}}  {'solved, over seeds':<22}  minus {first}, over tasks",
        ]
        for name in self.arms:
            difference = "" if name == first else _points(self.difference(name, first))
            lines.append(f"  {name:<{width}}  {self.mean(name).percent():<22}  {difference}")
        return "\n".join(line.rstrip() for line in lines)

    def _index(self, arm: str) -> int:
        if arm not in self.arms:
            raise ValueError(f"arm: expected one of {list(self.arms)}, got {arm!r}")
        return self.arms.index(arm)


def compare(
    arms: Sequence[Arm],
    seeds: Sequence[int],
    *,
    tasks: Sequence[Task],
    unseen: Sequence[Task],
    folder: str | Path,
    greedy: bool = False,
    workers: int | None = None,
    on_progress: Callable[[ComparisonProgress], None] | None = None,
) -> Comparison:
    """Train every arm with every seed and measure all on the same unseen tasks.

    Args:
        tasks: practised on by every arm that names none of its own.
        unseen: measured on; use the dev split for choices, test for what is published.
        folder: of the comparison. Called again with the same arguments and folder, finished
            runs are read and interrupted ones resumed; seeds and arms may be added.
        workers: processes at a time; None = one a CPU.
        on_progress: called about twice a second.
    Raises:
        ValueError: seeds that are none, settings that `train` refuses, names that are not unique,
            a reward that another process can't import, or a folder with other runs under the same
            names.
        RuntimeError: a run failed; says where its output is. The other runs are ended.
    """
    _check_given(arms, seeds, tasks, unseen)
    seeds = [expect_seed("seeds", seed) for seed in seeds]
    jobs = [
        _job(arm, seed, tuple(tasks), tuple(unseen), greedy, Path(folder))
        for seed in seeds
        for arm in arms
    ]
    _check(arms, seeds, unseen)
    for job in jobs:
        prepare(job)
    run_all(jobs, workers or os.cpu_count() or 1, on_progress)
    results = {(job.arm.name, job.seed): read_result(job) for job in jobs}

    def stacked(field: str) -> np.ndarray:
        found = [[results[arm.name, seed][field] for seed in seeds] for arm in arms]
        return np.array(found, dtype=float)

    return Comparison(
        arms=tuple(arm.name for arm in arms),
        seeds=tuple(seeds),
        task_ids=tuple(task.task_id for task in unseen),
        solved=stacked("solved"),
        submit_share=stacked("submit_share"),
        mean_turns=stacked("mean_turns"),
        folder=Path(folder),
    )


def _check_given(arms: object, seeds: object, tasks: object, unseen: object) -> None:
    """Raise ValueError for an argument that is not what it should be."""
    from workbench.learning.config import resolve

    expect("arms", arms, Sequence, "a list of arms", "one alone is given as [arm]")
    expect("seeds", seeds, Iterable, "a list of whole numbers", "one alone is given as [0]")
    expect_tasks("tasks", tasks)
    expect_tasks("unseen", unseen)
    for arm in arms:
        expect("arms", arm, Arm, "a list of arms", 'write Arm("name", ...)')
        if arm.config is not None:
            resolve(arm.config, lora=arm.lora is not None)  # what `train` refuses, before any run
        if arm.reward is not None:
            expect_design(f"reward of arm {arm.name!r}", arm.reward)


def _job(
    arm: Arm, seed: int, tasks: tuple[Task, ...], unseen: tuple[Task, ...], greedy: bool, top: Path
) -> Job:
    arm = replace(arm, tasks=tasks if arm.tasks is None else arm.tasks)
    return Job(arm, seed, unseen, greedy, top / arm.name / f"seed-{seed}")


def _check(arms: Sequence[Arm], seeds: Sequence[int], unseen: Sequence[Task]) -> None:
    """Raise ValueError for a comparison that is empty, or that other processes could not make."""
    if not arms or not seeds or not unseen:
        raise ValueError(
            f"expected arms, seeds and unseen tasks, got {len(arms)}, {len(seeds)} and "
            f"{len(unseen)}"
        )
    names = [arm.name for arm in arms]
    if len(set(names)) < len(names) or len(set(seeds)) < len(seeds):
        raise ValueError(f"expected different names and seeds, got {names} and {list(seeds)}")
    for arm in arms:
        for component in arm.reward.components if arm.reward else ():
            function = getattr(component.component, "maker", component.component)
            if getattr(function, "__module__", None) == "__main__":
                raise ValueError(
                    f"arm {arm.name!r}: component {component.name!r} is defined in the notebook or "
                    "script itself, where another process can't import it; move it into a .py file"
                )


def _points(interval: Interval) -> str:
    """A difference of rates in percentage points, sign included."""
    values = (interval.estimate, interval.low, interval.high)
    return "{:+.1f} points [{:+.1f}, {:+.1f}]".format(*(100 * v for v in values))
