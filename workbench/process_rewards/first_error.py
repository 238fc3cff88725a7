"""The first turn that made success impossible, found by halving: OmegaPRM's search.

Stage: process rewards. A failed attempt and a question "can it still succeed after its first k
turns?" in; the turn after which it no longer can, and how often was asked, out. Halving asks about
log2(K) beginnings of the attempt where labels for every turn ask about all K.
Left out: the tree that shares re-rolls between attempts, and its exploration.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.counterfactuals.rerolls import answer_again
from workbench.environments import Environment
from workbench.episodes import agents_of, play_on, tell
from workbench.evaluation import SOLVED
from workbench.records import Task, Trajectory
from workbench.records.arguments import expect_task_of
from workbench.rewards import RewardDesign

if TYPE_CHECKING:
    from workbench.policies import Policy
    from workbench.sandbox import Sandbox


@dataclass(frozen=True)
class FirstError:
    """Where an attempt was lost."""

    turn_index: int
    """The first turn after which it could not succeed."""
    num_asked: int
    """Beginnings that were looked at."""


def first_error(num_turns: int, can_succeed: Callable[[int], bool]) -> FirstError:
    """The first turn after which `can_succeed` is False, of an attempt that failed.

    Right if nothing comes back once it is lost, and the start was not lost already: neither end is
    asked about, a failed attempt cannot succeed after all of its turns.

    Args:
        can_succeed: k -> can the attempt's first k turns still lead to success? 0 < k < num_turns.
    Raises:
        ValueError: if num_turns < 1.
    Source: Luo et al. 2024 (OmegaPRM, arXiv:2406.06592).

    >>> first_error(16, lambda k: k < 11)
    FirstError(turn_index=10, num_asked=4)
    """
    if num_turns < 1:
        raise ValueError(f"num_turns: expected at least 1, got {num_turns}")
    alive, lost, num_asked = 0, num_turns, 0
    while lost - alive > 1:
        middle = (alive + lost) // 2
        num_asked += 1
        if can_succeed(middle):
            alive = middle
        else:
            lost = middle
    return FirstError(lost - 1, num_asked)


def any_succeeds(
    policy: Policy,
    trajectory: Trajectory,
    task: Task,
    sandbox: Sandbox,
    *,
    num_rerolls: int = 8,
    seed: int = 0,
    reward: RewardDesign = SOLVED,
    max_turns: int | None = None,
) -> Callable[[int], bool]:
    """For `first_error`: does one of `num_rerolls` rests sampled after the first k turns succeed?

    The answer is wrong where the chance is small: a chance of q is missed with (1 - q)^n.

    Args:
        policy: whose rests they are; usually the one that sampled the trajectory.
        reward: above 0 = success.
        max_turns: of the episodes, as when the trajectory was sampled.
    Returns:
        k -> whether one succeeds. It raises RuntimeError where not one of them could be judged:
        that is no failure; and ValueError where the attempt does not replay, as `reroll` does.
    Raises:
        ValueError: if num_rerolls < 1, or the task is another one.
    """
    expect_task_of(trajectory, task)
    if num_rerolls < 1:
        raise ValueError(f"num_rerolls: expected at least 1, got {num_rerolls}")

    def can_succeed(k: int) -> bool:
        options = dict(max_turns=max_turns, agents=agents_of(policy))
        environment = Environment(task, sandbox, **options)
        places = [Environment(task, sandbox, **options) for _ in range(num_rerolls)]
        said = dict(seed=seed, sampler=trajectory.sampler, version=policy.version)
        with closing(policy.open(1, seed=seed + k, sampler=trajectory.sampler)) as session:
            tell(session, 0, environment, environment.reset())
            for i, turn in enumerate(trajectory.turns[:k]):
                session.recall([0], [turn.action])
                tell(session, 0, environment, answer_again(environment, turn, f"turn {i}"))
            for place in places:
                place.restore(environment.snapshot())
            with closing(session.take([0] * num_rerolls)) as forked:
                rests = play_on(forked, places, [trajectory.turns[:k]] * num_rerolls, **said)
        totals = [reward.score(rest, task).total for rest in rests]
        if all(total is None for total in totals):
            raise RuntimeError(
                f"{task.task_id}: expected a verdict on the rests after {k} turns, got none in "
                f"{num_rerolls} re-rolls; try sandbox.guarantees()"
            )
        return any(total is not None and total > 0 for total in totals)

    return can_succeed
