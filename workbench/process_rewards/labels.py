"""Labels for a model of turns: what it should have said at each turn.

Stage: process rewards. Groups, with what somebody found out about them, in; for each group G arrays
of shape (K,) out, numbers in [0, 1], NaN = no label. For a model that reads "end" (the default
here), entry k is about the moment after turn k; for one that reads "before", about the moment
before it. Three sources: how the attempt ended (free, noisy), re-rolls from every turn (a chance
with an error, many episodes), and execution of the workspace after every turn (exact, but about
what is there and not about what may come of it).
Left out: people, and models that judge.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from workbench.credit.values import values_before_turns
from workbench.environments import CHANGES, Environment
from workbench.evaluation import SOLVED
from workbench.grading import grade_many
from workbench.process_rewards.fitting import Labels
from workbench.process_rewards.places import Reads
from workbench.records import UNSCORABLE, Group, Task, Trajectory, Verdict
from workbench.rewards import RewardDesign, totals
from workbench.rewards.design import task_of

if TYPE_CHECKING:
    from workbench.sandbox import Sandbox


def outcome_labels(
    groups: Sequence[Group], tasks: Sequence[Task], *, reward: RewardDesign = SOLVED
) -> Labels:
    """The attempt's reward on each of its turns: free, right on average, and very noisy.

    A model that is fitted to it learns the chance of success from each place, as a critic does.
    `reward` must lie in [0, 1]; NaN where it could not be judged.
    """
    rewards = totals(reward.score_groups(groups, tasks))
    return [
        [np.full(len(t.turns), r) for t, r in zip(group.trajectories, row)]
        for group, row in zip(groups, rewards)
    ]


def value_labels(
    groups: Sequence[Group],
    tasks: Sequence[Task],
    *,
    reads: Reads = "end",
    hard: bool = False,
    reward: RewardDesign = SOLVED,
) -> Labels:
    """The groups' `turn_values` at each turn: Monte-Carlo labels if re-rolls made them, or exact.

    After the last turn there is nothing to re-roll: the label is the reward itself.

    Args:
        hard: 1 where the value is above 0, so where any continuation succeeded, else 0.
        reward: what the values are of.
    Raises:
        ValueError: if a group has no turn values.
    Source: Wang et al. 2023 (Math-Shepherd, arXiv:2312.08935), soft and hard estimation.
    """
    labels = []
    for group, row in zip(groups, totals(reward.score_groups(groups, tasks))):
        numbers = values_before_turns(group)
        if reads == "end":
            numbers = [np.append(values[1:], ended) for values, ended in zip(numbers, row)]
        labels.append([np.where(np.isnan(v), v, v > 0) if hard else v for v in numbers])
    return labels


def execution_labels(
    groups: Sequence[Group],
    tasks: Sequence[Task],
    sandbox: Sandbox,
    *,
    suite: str = "hidden",
    reads: Reads = "end",
) -> Labels:
    """1 where the workspace, as it was at that turn, passes every test of `suite`, else 0.

    The commands are played again and each different workspace is graded once. No sampling, no
    noise; but a workspace that is not yet right is 0 however near the repair is.

    Args:
        suite: "hidden" or "visible_pristine".
    Returns:
        Labels; NaN where the verdict was our fault.
    Raises:
        ValueError: if a group's task is not among `tasks`.
    """
    by_id = {task.task_id: task for task in tasks}
    states = [
        [_workspaces(t, task_of(g, by_id), sandbox, reads) for t in g.trajectories] for g in groups
    ]
    asked = {
        (group.task_id, workspace): files
        for group, attempts in zip(groups, states)
        for attempt in attempts
        for workspace, files in attempt
    }
    verdicts = grade_many([(by_id[name], files) for (name, _), files in asked.items()], sandbox)
    right = {key: _passes(verdict, suite) for key, verdict in zip(asked, verdicts)}
    return [
        [np.array([right[group.task_id, w] for w, _ in attempt]) for attempt in attempts]
        for group, attempts in zip(groups, states)
    ]


def _workspaces(
    trajectory: Trajectory, task: Task, sandbox: Sandbox, reads: Reads
) -> list[tuple[str, dict[str, str]]]:
    """(hash, files) at each turn."""
    environment = Environment(task, sandbox, max_turns=len(trajectory.turns) + 1)
    environment.reset()
    states = []
    for turn in trajectory.turns:
        before = environment.workspace_hash, dict(environment.files)
        if turn.tool_call is not None and turn.tool_call.name in CHANGES:
            environment.step(turn.action.text)
        after = environment.workspace_hash, dict(environment.files)
        states.append(after if reads == "end" else before)
    return states


def _passes(verdict: Verdict, suite: str) -> float:
    if verdict.status in UNSCORABLE:
        return float("nan")
    return float(all(outcome.status == "passed" for outcome in verdict.of_suite(suite)))
