"""Labels for a model of turns: what it should have said at each turn.

Stage: process rewards. Groups, with what somebody found out about them, in; for each group G arrays
of shape (K,) out, numbers in [0, 1], NaN = no label. Places as in `places`: for a model that reads
"before", entry k is about the moment before turn k, else about the end of turn k.
Left out: people, and models that judge.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.evaluation import SOLVED
from workbench.records import Group, Task
from workbench.rewards import RewardDesign, totals


def outcome_labels(
    groups: Sequence[Group], tasks: Sequence[Task], *, reward: RewardDesign = SOLVED
) -> list[list[np.ndarray]]:
    """The attempt's reward on each of its turns: free, right on average, and very noisy.

    A model that is fitted to it learns the chance of success from each place, as a critic does.
    `reward` must lie in [0, 1]; NaN where it could not be judged.
    """
    rewards = totals(reward.score_groups(groups, tasks))
    return [
        [np.full(len(t.turns), r) for t, r in zip(group.trajectories, row)]
        for group, row in zip(groups, rewards)
    ]
