"""A reward design as reward functions of TRL's trainers.

Stage: adapters. TRL calls with prompts, completions and the dataset's columns, all by keyword; it
gets one number a completion, or None where none can be given: TRL then leaves the completion out
of its group's baseline. Signatures: TRL 1.16, `GRPOTrainer._calculate_rewards` and the rollout
worker of its experimental async trainer. Left out: rewards that compare the completions of a group.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from workbench.adapters.attempt import Attempt
from workbench.adapters.judge import Judge, Judged, check_is_a_sum
from workbench.adapters.trl_environment import WorkspaceEnvironment
from workbench.records import Task
from workbench.rewards import RewardDesign
from workbench.sandbox import Sandbox


def as_reward(
    design: RewardDesign,
    tasks: Iterable[Task],
    sandbox: Sandbox | Callable[[], Sandbox],
) -> TrlReward:
    """The design's total as one function for `GRPOTrainer(reward_funcs=...)`.

    The dataset names each row's task in the column `task_id` (`as_dataset` makes one). With
    `environment_factory` the environment's episode is scored, without it what the completion says
    (`attempt.replay`). Logged: the mean of each component as `components/NAME`, how many could not
    be judged as `unscorable`, and both a completion in TRL's table of completions.

    Args:
        sandbox: an open one, or, for a trainer that scores in another process, a function that
            opens one there.
    """
    return TrlReward(Judge(design, tasks, sandbox))


def as_async_reward(
    design: RewardDesign,
    tasks: Iterable[Task],
    sandbox: Sandbox | Callable[[], Sandbox],
) -> TrlAsyncReward:
    """`as_reward` as a coroutine function: TRL awaits it beside its other asynchronous rewards."""
    return TrlAsyncReward(Judge(design, tasks, sandbox))


def as_rewards(
    design: RewardDesign,
    tasks: Iterable[Task],
    sandbox: Sandbox | Callable[[], Sandbox],
) -> tuple[list[TrlComponent], list[float]]:
    """(one function a component, their weights for `GRPOConfig(reward_weights=...)`).

    TRL logs each as `rewards/NAME`, and can normalise them one by one. They share one judgement a
    completion: the code runs once. A completion that cannot be judged is None in all of them, so
    that TRL does not pay it the sum of the others. Raises ValueError for a design with rules,
    whose total is no weighted sum.
    """
    check_is_a_sum(design)
    judge = Judge(design, tasks, sandbox, sharers=len(design.components))
    functions = [TrlComponent(judge, index) for index in range(len(design.components))]
    return functions, [component.weight for component in design.components]


class TrlReward:
    """A design's total, called as TRL calls reward functions."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self.judged: list[Judged] = []  # of the last call, in the order of its completions
        self.__name__ = "design"  # TRL logs it as rewards/design

    def __call__(
        self,
        *,
        completions: Sequence[Any],
        completion_ids: Sequence[Sequence[int]] | None = None,
        log_extra: Callable[[str, list], None] | None = None,
        log_metric: Callable[[str, float], None] | None = None,
        environments: Sequence[Any] | None = None,
        **columns: Any,
    ) -> list[float | None]:
        """One number a completion. `columns` must hold `task_id`; the rest is not read."""
        judged = _judged(self._judge, completions, completion_ids, environments, columns)
        self.judged = judged
        if log_metric is not None:
            _log_means(judged, log_metric)
        if log_extra is not None:
            log_extra("verdict", [j.trajectory.verdict.status for j in judged])
            for index, component in enumerate(self._judge.design.components):
                log_extra(component.name, [j.reward.parts[index].raw for j in judged])
        return [j.reward.total for j in judged]


class TrlAsyncReward(TrlReward):
    """The same, awaited; the sandbox works in threads meanwhile."""

    async def __call__(self, **call: Any) -> list[float | None]:
        """As `TrlReward`."""
        return await asyncio.to_thread(partial(TrlReward.__call__, self, **call))


class TrlComponent:
    """One component of a design, called as TRL calls reward functions."""

    def __init__(self, judge: Judge, index: int) -> None:
        self._judge, self._index = judge, index
        self.__name__ = judge.design.components[index].name

    def __call__(
        self,
        *,
        completions: Sequence[Any],
        completion_ids: Sequence[Sequence[int]] | None = None,
        log_extra: Callable[[str, list], None] | None = None,
        log_metric: Callable[[str, float], None] | None = None,
        environments: Sequence[Any] | None = None,
        **columns: Any,
    ) -> list[float | None]:
        """The component's own number, without its weight, a completion."""
        judged = _judged(self._judge, completions, completion_ids, environments, columns)
        if self._index == 0:  # once for all of them
            if log_metric is not None:
                log_metric("unscorable", float(_num_unscorable(judged)))
            if log_extra is not None:
                log_extra("verdict", [j.trajectory.verdict.status for j in judged])
        parts = [(j.reward.total, j.reward.parts[self._index].raw) for j in judged]
        return [None if total is None else raw for total, raw in parts]


def _judged(
    judge: Judge,
    completions: Sequence[Any],
    completion_ids: Sequence[Sequence[int]] | None,
    environments: Sequence[Any] | None,
    columns: Mapping[str, Any],
) -> list[Judged]:
    if "task_id" not in columns:
        raise ValueError(
            "expected the dataset column 'task_id', which says what each completion answers; got "
            f"{sorted(columns)}; make the dataset with as_dataset(tasks), or add the column"
        )
    rows = zip(
        columns["task_id"],
        completions,
        completion_ids or [()] * len(completions),
        environments or [None] * len(completions),
        strict=True,
    )
    attempts = [partial(_attempt, judge, *row) for row in rows]
    key = repr((columns["task_id"], completions, completion_ids, environments))
    return judge.shared(key, lambda: judge.judge(attempts))


def _attempt(
    judge: Judge, task_id: str, completion: Any, ids: Sequence[int], environment: Any
) -> Attempt:
    if isinstance(environment, WorkspaceEnvironment):
        return environment.attempt
    return judge.replay(task_id, completion, ids)


def _log_means(judged: Sequence[Judged], log_metric: Callable[[str, float], None]) -> None:
    """The mean of each component over the completions it could judge, and how many it could not."""
    log_metric("unscorable", float(_num_unscorable(judged)))
    for parts in zip(*(j.reward.parts for j in judged)):
        numbers = [part.raw for part in parts if part.raw is not None]
        if numbers:
            log_metric(f"components/{parts[0].name}", sum(numbers) / len(numbers))


def _num_unscorable(judged: Sequence[Judged]) -> int:
    return sum(j.reward.total is None for j in judged)
