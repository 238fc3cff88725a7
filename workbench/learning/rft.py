"""Rejection fine-tuning: sample, keep the attempts that solved their task, imitate them.

Stage: learning. A policy and tasks go in; the policy's weights change. Only tokens the policy
sampled are imitated, and of those not the turns that were no command: they stay in the context,
so the policy sees its slips without learning to make them.
Source: Golubev et al. 2025 (arXiv:2508.03501), phase 1.
Left out: a demonstration in the prompt while sampling, several rounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from workbench.credit import tied
from workbench.episodes import rollout_many
from workbench.evaluation import SOLVED
from workbench.grading.collectors import collect
from workbench.learning.batch import Batch, pack, split_minibatches
from workbench.learning.checkpoint import Place, derive_seed
from workbench.learning.config import TrainConfig
from workbench.learning.journal import Journal
from workbench.learning.loop import require_judged
from workbench.learning.losses import imitation_loss, token_mean_weights
from workbench.learning.optimiser import make_optimiser, set_learning_rate
from workbench.learning.rows import FineTuningRow, IterationRow, Stopwatch, rollout_stats
from workbench.learning.update import UpdateStats, update
from workbench.records import Group, Task, Turn
from workbench.rewards import RewardDesign, totals
from workbench.runlog import StoredIteration

if TYPE_CHECKING:
    from workbench.policies import CausalLMPolicy
    from workbench.sandbox import Sandbox


@dataclass(frozen=True)
class Selection:
    """What is imitated, and what was left out."""

    groups: tuple[Group, ...]
    """Kept attempts only; a task without any is absent."""
    num_tampered: int
    """Solved attempts left out because the tests were edited."""
    num_duplicates: int
    """Solved attempts left out because an earlier one did exactly the same."""

    @property
    def num_examples(self) -> int:
        """Attempts that are imitated."""
        return sum(len(group.trajectories) for group in self.groups)


def improve_by_rft(
    policy: CausalLMPolicy,
    tasks: Sequence[Task],
    sandbox: Sandbox,
    reward: RewardDesign,
    config: TrainConfig,
    seed: int,
    journal: Journal,
) -> None:
    """Sample what `journal` says is still missing, select, and fine-tune.

    Raises StopRequested if the run is stopped, as `require_judged` if nothing could be judged; the
    policy is then as before the fine-tuning.
    """
    rft = config.rft
    chosen = tasks_of_rft(tasks, rft.num_tasks, seed)
    pieces = [
        chosen[i : i + rft.tasks_per_iteration]
        for i in range(0, len(chosen), rft.tasks_per_iteration)
    ]
    for iteration in range(journal.place.iteration, len(pieces)):
        with journal.iteration():
            row, stored = _sample(
                *(policy, pieces[iteration], sandbox, reward, config, seed),
                *(iteration, len(pieces), journal),
            )
            journal.completed(row.flat(), Place("rft", iteration + 1), stored)

    sampled = journal.rft_iterations()
    groups = [group for stored in sampled for group in stored.groups]
    selection = select(groups, chosen, rft.keep_per_task)
    optimiser = make_optimiser(policy.model, rft)
    journal.begin_stage("rft", optimiser)
    with journal.iteration():
        watch = Stopwatch()
        with watch.updating():
            updates = _imitate(policy, optimiser, selection, config, seed, journal)
        row = FineTuningRow(
            num_examples=selection.num_examples,
            num_tasks_solved=len(selection.groups),
            num_rejected_tampered=selection.num_tampered,
            num_duplicates=selection.num_duplicates,
            updates=tuple(updates),
            seconds=watch.seconds(),
        )
        journal.add_row(row.flat())


def select(groups: Sequence[Group], tasks: Sequence[Task], keep_per_task: int) -> Selection:
    """The attempts to imitate: solved, tests untouched, no two alike, at most so many a task.

    Raises ValueError if the trajectories lack the evidence of the collector "tampering".
    """
    solved = totals(SOLVED.score_groups(groups, tasks))  # (B, G), nan = not judged
    kept, num_tampered, num_duplicates = [], 0, 0
    for group, row in zip(groups, solved, strict=True):
        different: dict[tuple[str, ...], int] = {}
        for index in np.flatnonzero(row == 1.0):
            trajectory = group.trajectories[index]
            if trajectory.evidence.tampered is None:
                raise ValueError(
                    f"task {group.task_id!r}: rejection fine-tuning needs the evidence of the "
                    "collector 'tampering', which did not run"
                )
            if trajectory.evidence.tampered:
                num_tampered += 1
                continue
            said = tuple(turn.action.text for turn in trajectory.turns)
            num_duplicates += said in different
            different.setdefault(said, int(index))
        if chosen := list(different.values())[:keep_per_task]:
            attempts = tuple(group.trajectories[index] for index in chosen)
            kept.append(Group(group.task_id, group.policy_version, attempts))
    return Selection(tuple(kept), num_tampered, num_duplicates)


def is_command(turn: Turn) -> bool:
    """Whether a turn is imitated: it was a well-formed command."""
    return turn.parse_error is None


def imitation_batch(selection: Selection) -> Batch:
    """The batch of all kept attempts; its advantages are 1 and play no part in the loss."""
    ones = [[1.0] * len(group.trajectories) for group in selection.groups]
    return pack(selection.groups, ones, learns=is_command)


def tasks_of_rft(tasks: Sequence[Task], num: int, seed: int) -> list[Task]:
    """`num` of the tasks at random, or all if there are fewer."""
    order = np.random.default_rng(derive_seed(seed, "rft", "tasks")).permutation(len(tasks))
    return [tasks[i] for i in order[:num]]


def _sample(
    policy: CausalLMPolicy,
    tasks: Sequence[Task],
    sandbox: Sandbox,
    reward: RewardDesign,
    config: TrainConfig,
    seed: int,
    iteration: int,
    num_iterations: int,
    journal: Journal,
) -> tuple[IterationRow, StoredIteration]:
    """One batch of rollouts, scored for the log: the reward plays no part in the selection."""
    watch = Stopwatch()
    version = policy.version
    with watch.sampling(sandbox):
        groups = rollout_many(
            *(policy, tasks, sandbox, config.rft.group_size),
            seed=derive_seed(seed, "rft", iteration, "sample"),
            sampler=config.sampler,
            max_turns=config.max_turns,
            stop=journal.stop_requested,
        )
        groups = collect(groups, tasks, reward.collectors, sandbox)
    breakdowns = reward.score_groups(groups, tasks)
    rewards = totals(breakdowns)
    require_judged(groups, breakdowns)
    solved = totals(SOLVED.score_groups(groups, tasks))
    rollouts = rollout_stats(groups, rewards, solved, num_tied=int(tied(rewards).sum()))
    row = IterationRow("rft", iteration, num_iterations, version, rollouts, watch.seconds())
    no_advantages = tuple((np.nan,) * len(group.trajectories) for group in groups)
    stored = StoredIteration(
        *("rft", iteration, tuple(tasks), tuple(groups)),
        *(tuple(map(tuple, breakdowns)), no_advantages),
    )
    return row, stored


def _imitate(
    policy: CausalLMPolicy,
    optimiser: torch.optim.Optimizer,
    selection: Selection,
    config: TrainConfig,
    seed: int,
    journal: Journal,
) -> list[UpdateStats]:
    """A few passes of maximum likelihood over the kept attempts."""
    rft, updates = config.rft, []
    if not selection.groups:
        return updates
    batch = imitation_batch(selection)
    per_epoch = -(-len(batch) // rft.batch_size)
    for epoch in range(rft.epochs):
        rng = np.random.default_rng(derive_seed(seed, "rft", "epoch", epoch))
        for minibatch in split_minibatches(batch, per_epoch, rng):
            set_learning_rate(optimiser, rft, len(updates) / (per_epoch * rft.epochs))
            stats = update(
                *(policy.model, optimiser, minibatch, _imitation, token_mean_weights),
                grad_clip=rft.grad_clip,
                dtype=config.dtype,
                tokens_per_microbatch=config.tokens_per_microbatch,
                check_stop=journal.check_stop,
                threads=config.update_threads,
            )
            updates.append(stats)
    return updates


def _imitation(logprobs: Tensor, batch: Batch) -> Tensor:
    return imitation_loss(logprobs)
