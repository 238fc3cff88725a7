"""A critic: a model of turns that learns values while the policy it judges is trained.

Stage: process rewards, inside the training loop: `RLConfig(evidence=Critic(), credit=turn_gae)`. An
iteration's groups come in and go out with the value before each turn as `turn_values`. They are
predicted first and learned from afterwards, so no prediction knows the reward it will be compared
with. No episode is played for it; it costs a second model's updates.
Left out: a checkpoint of the critic, bootstrapped targets, one model with two heads (what the
critic learns would move the policy).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from workbench.counterfactuals import Cost
from workbench.counterfactuals.cost import CpuMeter
from workbench.credit import discounted_returns
from workbench.credit.turns import TurnRewards, rewards_of_turns
from workbench.episodes import RolloutStopped
from workbench.evaluation import SOLVED
from workbench.process_rewards.fitting import FitConfig, fit
from workbench.process_rewards.model import TurnModel
from workbench.records import Group, Task
from workbench.rewards import RewardDesign, totals

if TYPE_CHECKING:
    from workbench.policies import CausalLMPolicy
    from workbench.sandbox import Sandbox


@dataclass
class Critic:
    """For `RLConfig.evidence`: values by a model that is fitted to each iteration's rewards.

    It begins as a copy of the policy it first meets and predicts 0.5 everywhere. A run has a critic
    of its own (`fresh`). A run's checkpoints do not hold it, so a run with a critic cannot be
    resumed; `train` says so.
    """

    fitting: FitConfig = field(default_factory=lambda: FitConfig(epochs=1))
    """How it is fitted in each iteration."""
    turn_rewards: TurnRewards | None = None
    """What turns earn by themselves: the same that the scheme is given, else its values are of
    something else."""

    def __post_init__(self) -> None:
        self.model: TurnModel | None = None  # made when the first policy is met

    def fresh(self) -> Critic:
        """One with these settings that has learned nothing."""
        return replace(self)

    def __call__(
        self,
        policy: CausalLMPolicy,
        groups: Sequence[Group],
        tasks: Sequence[Task],
        sandbox: Sandbox,
        *,
        seed: int,
        reward: RewardDesign = SOLVED,
        max_turns: int | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> tuple[list[Group], Cost]:
        """The groups with what it predicts before each turn; then it learns what came of them.

        What it learns is what was still to be earned: the turns' own rewards from there on, and the
        attempt's, none of it discounted. It is cut to [0, 1]: less than 0 counts as nothing earned,
        and all together should be 1 at most.

        Raises RolloutStopped if `stop` returns True before it learns.
        """
        meter = CpuMeter(sandbox)
        if self.model is None:
            self.model = TurnModel.from_policy(policy, reads="before")
        known = self.model.annotate(groups)
        if stop is not None and stop():
            raise RolloutStopped(f"a critic had read {len(groups)} groups")
        rewards = totals(reward.score_groups(groups, tasks))
        earned = [rewards_of_turns(g, r, self.turn_rewards) for g, r in zip(groups, rewards)]
        labels = [[np.clip(discounted_returns(e), 0.0, 1.0) for e in some] for some in earned]
        if not all(np.isnan(numbers).all() for row in labels for numbers in row):
            fit(self.model, groups, labels, self.fitting, seed=seed % 2**32)
        return known, Cost(cpu_s=meter.seconds())
