"""Scores as evidence: what the model of turns said is written down once, with the attempt.

Stage: process rewards, between sampling and rewards. Groups in; the same groups out whose attempts
carry a score for each turn and the version of the model that gave it. Rewards and credit read it
there (`rewards.prm_score`, `credit.score_changes`) and never call the model.
Left out: scoring while an attempt is under way, and stopping it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from workbench.counterfactuals import Cost
from workbench.evaluation import SOLVED
from workbench.process_rewards.fitting import FitConfig, fit
from workbench.process_rewards.labels import outcome_labels
from workbench.process_rewards.model import TurnModel
from workbench.records import Group, Task
from workbench.rewards import RewardDesign

if TYPE_CHECKING:
    from workbench.policies import Policy
    from workbench.sandbox import Sandbox


def score_turns(model: TurnModel, groups: Sequence[Group]) -> list[Group]:
    """The groups with `evidence.turn_scores` on every attempt, in place of any they had.

    Raises ValueError if the model reads before turns: it says nothing of an attempt's last turn.
    """
    if model.reads != "end":
        raise ValueError(
            f'model: expected one that reads "end", got {model.reads!r}; a critic knows nothing of '
            "the last turn, use model.annotate(groups) and a scheme that reads turn_values"
        )
    version = model.version
    return [
        replace(
            group,
            trajectories=tuple(
                replace(
                    t,
                    evidence=replace(
                        t.evidence, turn_scores=tuple(map(float, s)), turn_scores_by=version
                    ),
                )
                for t, s in zip(group.trajectories, scores)
            ),
        )
        for group, scores in zip(groups, model.predict(groups))
    ]


@dataclass(frozen=True)
class Scoring:
    """An evidence hook for `RLConfig.evidence`: the iteration's attempts scored by one model.

    >>> RLConfig(evidence=Scoring(model), ...)                         # doctest: +SKIP
    """

    model: TurnModel
    """Reads "end"; stays as it is."""

    def __call__(
        self,
        policy: Policy,
        groups: Sequence[Group],
        tasks: Sequence[Task],
        sandbox: Sandbox,
        **options: Any,
    ) -> tuple[list[Group], Cost]:
        """The groups with scores, and the CPU seconds they took; nothing is sampled or run."""
        start = time.process_time()
        scored = score_turns(self.model, groups)
        return scored, Cost(cpu_s=time.process_time() - start)


class Refitting:
    """An evidence hook that keeps up with the policy: every few iterations the model is fitted
    again to how the latest attempts really ended.

    It has a memory, which no checkpoint holds: a run has one of its own (`fresh`) and cannot be
    resumed; `train` says so.
    """

    def __init__(
        self,
        model: TurnModel,
        *,
        every: int = 5,
        config: FitConfig = FitConfig(epochs=1),
        reward: RewardDesign = SOLVED,
        seed: int = 0,
    ) -> None:
        """A hook whose first scores are those of `model`, of which it keeps a copy.

        Args:
            every: iterations between fits.
            config: of a fit to the attempts since the last one.
            reward: how an attempt ended: the truth that a score is supposed to save asking for.
            seed: of the order in which attempts are met.
        """
        if every < 1:
            raise ValueError(f"every: expected at least 1, got {every}")
        self._first, self.model = model.copy(), model.copy()
        self._every, self._config, self._reward, self._seed = every, config, reward, seed
        self._seen: list[tuple[list[Group], list[Task]]] = []
        self.num_fits = 0

    def fresh(self) -> Refitting:
        """One with these settings and the model it began with, that has met no attempts."""
        settings = dict(config=self._config, reward=self._reward, seed=self._seed)
        return Refitting(self._first, every=self._every, **settings)

    def __repr__(self) -> str:
        return f"Refitting({self.version}, every={self._every})"

    @property
    def version(self) -> str:
        """Of the model as it is now."""
        return self.model.version

    def __call__(
        self,
        policy: Policy,
        groups: Sequence[Group],
        tasks: Sequence[Task],
        sandbox: Sandbox,
        **options: Any,
    ) -> tuple[list[Group], Cost]:
        """The groups with the scores of the model as it is after this iteration's fit, if any."""
        start = time.process_time()
        if len(self._seen) == self._every:
            self._fit()
        self._seen.append((list(groups), list(tasks)))
        scored = score_turns(self.model, groups)
        return scored, Cost(cpu_s=time.process_time() - start)

    def _fit(self) -> None:
        groups = [group for some, _ in self._seen for group in some]
        labels = []
        for some, tasks in self._seen:
            labels += outcome_labels(some, tasks, reward=self._reward)
        fit(self.model, groups, labels, self._config, seed=self._seed + self.num_fits)
        self.num_fits += 1
        self._seen.clear()
