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
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from workbench.counterfactuals import Cost
from workbench.counterfactuals.cost import CpuMeter
from workbench.episodes import RolloutStopped
from workbench.evaluation import SOLVED
from workbench.process_rewards.fitting import FitConfig, fit
from workbench.process_rewards.labels import outcome_labels
from workbench.process_rewards.model import TurnModel
from workbench.records import Group, Task
from workbench.rewards import RewardDesign

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

    def __post_init__(self) -> None:
        self.model: TurnModel | None = None  # made when the first policy is met

    def fresh(self) -> Critic:
        """One with these settings that has learned nothing."""
        return Critic(self.fitting)

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

        What it learns are rewards cut to [0, 1]: a penalty below 0 counts as nothing earned, and a
        design should pay 1 at most. It knows of no rewards on the way: what a scheme's
        `turn_rewards` add is in none of its values.

        Raises RolloutStopped if `stop` returns True before it learns.
        """
        meter = CpuMeter(sandbox)
        if self.model is None:
            self.model = TurnModel.from_policy(policy, reads="before")
        known = self.model.annotate(groups)
        if stop is not None and stop():
            raise RolloutStopped(f"a critic had read {len(groups)} groups")
        labels = [
            [np.clip(numbers, 0.0, 1.0) for numbers in row]
            for row in outcome_labels(groups, tasks, reward=reward)
        ]
        if not all(np.isnan(numbers).all() for row in labels for numbers in row):
            fit(self.model, groups, labels, self.fitting, seed=seed % 2**32)
        return known, Cost(cpu_s=meter.seconds())
