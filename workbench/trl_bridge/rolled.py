"""One generation batch of TRL's as our own loop would have it: groups, rewards, credit.

Stage: scoring, through TRL. Groups and a design go in; what they are paid and which turn earned it
come out, exactly as in `learning.loop`, where each line is explained.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workbench.counterfactuals import Cost
from workbench.credit import tied
from workbench.learning import RLConfig
from workbench.learning.loop import credit_turns, require_judged
from workbench.learning.rows import Stopwatch
from workbench.records import Group, RewardBreakdown, Task
from workbench.rewards import RewardDesign, totals


@dataclass(frozen=True)
class Rolled:
    """What a generation batch was made of."""

    global_step: int
    """TRL's count of optimiser steps when it was sampled."""
    policy_version: str
    """Weights that sampled it."""
    tasks: tuple[Task, ...]
    """One a group."""
    groups: tuple[Group, ...]
    """As sampled."""
    rewards: tuple[tuple[RewardBreakdown, ...], ...]
    """A row a group."""
    credit: tuple[tuple[np.ndarray, ...], ...]
    """A row a group, (K,) numbers a trajectory; nan = no gradient."""
    watch: Stopwatch
    """Running since the batch began."""
    extra: Cost = Cost()
    """What was spent on evidence beyond the rollouts."""

    @property
    def totals(self) -> np.ndarray:
        """(B, G) rewards; nan = could not be judged."""
        return totals(self.rewards)

    @property
    def num_tied(self) -> int:
        """Groups whose rewards are all equal."""
        return int(tied(self.totals).sum())


def tasks_by_id(tasks: Sequence[Task]) -> dict[str, Task]:
    """The tasks by their ids, which stand for them in TRL's rows. Raises ValueError if two tasks
    have one id."""
    by_id = {task.task_id: task for task in tasks}
    if len(by_id) != len(tasks):
        twice, _ = Counter(task.task_id for task in tasks).most_common(1)[0]
        raise ValueError(f"tasks: expected different ids, got {twice!r} twice; leave one out")
    return by_id


def credited(
    groups: Sequence[Group], tasks: Sequence[Task], design: RewardDesign, rl: RLConfig
) -> tuple[tuple[tuple[RewardBreakdown, ...], ...], tuple[tuple[np.ndarray, ...], ...]]:
    """(rewards, credit) of the groups, a row a group. Raises as `require_judged` if nothing
    could be judged, ValueError if the scheme gave no turn a number."""
    breakdowns = design.score_groups(groups, tasks)
    rewards = totals(breakdowns)
    require_judged(groups, breakdowns)
    credit = credit_turns(groups, rewards, rl)
    return tuple(map(tuple, breakdowns)), tuple(map(tuple, credit))


def cut_left_out(
    groups: Sequence[Group], credit: Sequence[Sequence[np.ndarray]]
) -> tuple[tuple[np.ndarray, ...], ...]:
    """The credit, with nan on every turn of an attempt that ran out of tokens."""
    return tuple(
        tuple(
            np.full(len(turns), np.nan) if trajectory.ran_out_of_tokens else turns
            for trajectory, turns in zip(group.trajectories, row)
        )
        for group, row in zip(groups, credit)
    )
