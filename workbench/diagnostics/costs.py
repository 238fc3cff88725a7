"""What a run will take: measured on a few episodes and one update, multiplied, and compared later.

Stage: beside the loop. A policy, tasks and a sandbox go in; a `Calibration` comes out, then a
`CostEstimate` for any settings, then a table of predicted against measured. The model of the cost
is plain proportion:

    sampling = rollouts * CPU seconds a rollout    sandbox = rollouts * its CPU seconds a rollout
    tokens   = rollouts * tokens a rollout         update  = rows learned from * CPU seconds a row

Rows learned from: RL, the rollouts outside of tied groups; RFT, the solved ones that are kept, once
an epoch. Wall-clock time is CPU time times the ratio seen while calibrating.
Left out: evaluations, checkpoints, and what changes while a policy learns (episodes grow longer,
groups become tied): docs/doctor.md has the measured error.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from workbench.credit import tied
from workbench.rewards import totals

if TYPE_CHECKING:
    from workbench.learning import TrainConfig
    from workbench.policies import CausalLMPolicy
    from workbench.records import Group, Task
    from workbench.rewards import RewardDesign
    from workbench.sandbox import Sandbox

WARM_UP = 2
"""Episodes played and thrown away first: the first calls of torch and of a sandbox cost more."""


@dataclass(frozen=True)
class Calibration:
    """Averages over a few episodes and one update on them; CPU seconds."""

    num_rollouts: int
    """Episodes they are over."""
    tokens: float
    """Prompt and sampled tokens a rollout."""
    sampled_tokens: float
    """Sampled tokens a rollout."""
    sampling_cpu_s: float
    """Of this process, a rollout."""
    sandbox_cpu_s: float
    """Of the sandbox's programs, a rollout."""
    update_cpu_s: float
    """Of this process, a rollout that is learned from, once."""
    teaching_share: float
    """Share of rollouts in groups that are not tied."""
    kept_share: float
    """Share of rollouts that rejection fine-tuning keeps."""
    wall_per_cpu: float
    """Wall-clock seconds a CPU second of this process."""


@dataclass(frozen=True)
class CostEstimate:
    """What a run takes, or took."""

    rollouts: float
    """Episodes."""
    tokens: float
    """Prompt and sampled tokens of the rollouts."""
    sampled_tokens: float
    """Tokens the policy samples."""
    sampling_cpu_s: float
    """CPU seconds of sampling."""
    sandbox_cpu_s: float
    """CPU seconds of the sandbox's programs."""
    update_cpu_s: float
    """CPU seconds of the updates."""
    wall_minutes: float
    """Minutes by the clock, evaluations and checkpoints left out."""

    def __add__(self, other: CostEstimate) -> CostEstimate:
        """Both together."""
        return CostEstimate(*(a + b for a, b in zip(vars(self).values(), vars(other).values())))

    def against(self, rows: Iterable[Mapping[str, Any]]) -> Comparison:
        """This prediction beside what a run's metrics say it took (`run.metrics`, or the run)."""
        return Comparison(self, measured_cost(rows))

    def __repr__(self) -> str:
        return _table([("", "predicted")], [(n, f"{v:,.4g}") for n, v in vars(self).items()])


@dataclass(frozen=True)
class Comparison:
    """Predicted against measured."""

    predicted: CostEstimate
    """Before the run."""
    measured: CostEstimate
    """From its log."""

    @property
    def errors(self) -> dict[str, float]:
        """Name -> predicted / measured - 1; what was not spent is left out."""
        pairs = zip(vars(self.predicted).items(), vars(self.measured).values())
        return {name: p / m - 1.0 for (name, p), m in pairs if m}

    def __repr__(self) -> str:
        errors = self.errors
        rows = [
            (n, f"{p:,.4g}", f"{m:,.4g}", f"{errors[n]:+.0%}" if n in errors else "")
            for (n, p), m in zip(vars(self.predicted).items(), vars(self.measured).values())
        ]
        return _table([("", "predicted", "measured", "error")], rows)


def _table(head: list[tuple[str, ...]], rows: list[tuple[str, ...]]) -> str:
    return "\n".join(
        f"{name:<16}" + "".join(f"{cell:>12}" for cell in cells) for name, *cells in head + rows
    )


def calibrate(
    policy: CausalLMPolicy,
    tasks: Sequence[Task],
    sandbox: Sandbox,
    *,
    config: TrainConfig | None = None,
    reward: RewardDesign | None = None,
    num_tasks: int = 8,
    seed: int = 0,
) -> Calibration:
    """Averages over `num_tasks` groups and one update on a copy; the policy stays as it is.

    `config` and `reward` are those of the run to come (None: `train`'s own). Takes a few seconds.
    Give each call another `seed`: a sandbox does not execute again what it has judged before.
    """
    from workbench.episodes import rollout_many
    from workbench.grading.collectors import collect
    from workbench.learning import HONEST, TrainConfig
    from workbench.learning.config import resolve
    from workbench.learning.rows import Stopwatch

    lora = any(not p.requires_grad for p in policy.model.parameters())
    config, reward = resolve(config or TrainConfig(), lora=lora, tasks=tasks), reward or HONEST
    chosen = list(tasks)[:num_tasks]
    play = dict(sampler=config.sampler, max_turns=config.max_turns)
    rollout_many(policy, chosen[:1], sandbox, WARM_UP, seed + 1, **play)
    watch = Stopwatch()
    with watch.sampling(sandbox):
        groups = rollout_many(policy, chosen, sandbox, config.rl.group_size, seed, **play)
        groups = collect(groups, chosen, reward.collectors, sandbox)
    with watch.updating():
        num_rows = _update_a_copy(policy, groups, config)
    seconds = watch.seconds()
    episodes = [t for group in groups for t in group.trajectories]
    num = len(episodes)
    teaching, kept = _shares(groups, chosen, reward, config)
    cpu = seconds.sampling_cpu + seconds.update_cpu
    return Calibration(
        num_rollouts=num,
        tokens=sum(t.num_tokens for t in episodes) / num,
        sampled_tokens=sum(t.num_action_tokens for t in episodes) / num,
        sampling_cpu_s=seconds.sampling_cpu / num,
        sandbox_cpu_s=seconds.sandbox_cpu / num,
        update_cpu_s=seconds.update_cpu / num_rows,
        teaching_share=teaching,
        kept_share=kept,
        wall_per_cpu=(seconds.sampling_wall + seconds.update_wall) / cpu,
    )


def calibration_from(rows: Iterable[Mapping[str, Any]]) -> Calibration:
    """The same averages from the RL iterations that a run has logged so far (`run.metrics`): what
    the first few cost says what the rest will. Raises ValueError if there is none."""
    rows = [row for row in _rows(rows, "iteration") if row["stage"] == "rl"]
    if not rows:
        raise ValueError("rows: expected at least one RL iteration, got none")
    spent, groups = measured_cost(rows), sum(row["num_groups"] for row in rows)
    teaching = 1.0 - sum(row["num_tied"] for row in rows) / groups
    learned = spent.rollouts * teaching
    cpu = spent.sampling_cpu_s + spent.update_cpu_s
    return Calibration(
        num_rollouts=int(spent.rollouts),
        tokens=spent.tokens / spent.rollouts,
        sampled_tokens=spent.sampled_tokens / spent.rollouts,
        sampling_cpu_s=spent.sampling_cpu_s / spent.rollouts,
        sandbox_cpu_s=spent.sandbox_cpu_s / spent.rollouts,
        update_cpu_s=spent.update_cpu_s / learned if learned else 0.0,
        teaching_share=teaching,
        kept_share=0.0,
        wall_per_cpu=spent.wall_minutes * 60 / cpu if cpu else 1.0,
    )


def _update_a_copy(policy: CausalLMPolicy, groups: Sequence[Group], config: TrainConfig) -> int:
    """One update of a copy of the model on all rollouts; returns how many rows that were."""
    from workbench.learning import pack
    from workbench.learning.forward import plain_attention
    from workbench.learning.loop import token_loss
    from workbench.learning.optimiser import make_optimiser
    from workbench.learning.update import update

    model = copy.deepcopy(policy.model)
    batch = pack(groups, [[1.0] * len(group.trajectories) for group in groups])
    with plain_attention(model):
        update(
            *(model, make_optimiser(model, config.rl), batch, token_loss(config.rl)),
            config.rl.token_weights,
            grad_clip=config.rl.grad_clip,
            dtype=config.dtype,
            tokens_per_microbatch=config.tokens_per_microbatch,
            threads=config.update_threads,
        )
    return len(batch)


def _shares(
    groups: Sequence[Group], tasks: Sequence[Task], reward: RewardDesign, config: TrainConfig
) -> tuple[float, float]:
    """(share of rollouts outside of tied groups, share that rejection fine-tuning keeps)."""
    from workbench.learning.rft import select

    rewards = totals(reward.score_groups(groups, tasks))
    kept = select(groups, tasks, config.rft.keep_per_task)
    num = sum(len(group.trajectories) for group in groups)
    return float(1.0 - np.mean(tied(rewards))), kept.num_examples / num


def estimate_cost(
    calibration: Calibration,
    config: TrainConfig | None = None,
    recipe: Literal["rft", "rl", "rft_then_rl"] = "rft_then_rl",
    *,
    num_tasks: int,
) -> CostEstimate:
    """What `train(policy, tasks, sandbox, recipe, config=config)` will take.

    Args:
        num_tasks: tasks that are trained on (fewer than config.rft.num_tasks shorten RFT).
    Raises:
        ValueError: a recipe that is none.
    """
    from workbench.learning import TrainConfig
    from workbench.learning.run import stages_of

    config = config or TrainConfig()
    stages = stages_of(recipe)
    total = CostEstimate(0, 0, 0, 0, 0, 0, 0)
    if "rft" in stages:
        rollouts = min(num_tasks, config.rft.num_tasks) * config.rft.group_size
        learned = rollouts * calibration.kept_share * config.rft.epochs
        total += _cost(calibration, rollouts, learned)
    if "rl" in stages:
        rollouts = config.rl.iterations * config.rl.tasks_per_iteration * config.rl.group_size
        share = calibration.teaching_share if config.rl.tied_groups == "drop" else 1.0
        total += _cost(calibration, rollouts, rollouts * share)
    return total


def _cost(calibration: Calibration, rollouts: float, learned: float) -> CostEstimate:
    sampling, update = rollouts * calibration.sampling_cpu_s, learned * calibration.update_cpu_s
    return CostEstimate(
        rollouts=rollouts,
        tokens=rollouts * calibration.tokens,
        sampled_tokens=rollouts * calibration.sampled_tokens,
        sampling_cpu_s=sampling,
        sandbox_cpu_s=rollouts * calibration.sandbox_cpu_s,
        update_cpu_s=update,
        wall_minutes=(sampling + update) * calibration.wall_per_cpu / 60,
    )


def _rows(rows: Iterable[Mapping[str, Any]], *kinds: str) -> list[Mapping[str, Any]]:
    """The rows of these kinds; of a run those of its metrics."""
    return [row for row in getattr(rows, "metrics", rows) if row["kind"] in kinds]


def measured_cost(rows: Iterable[Mapping[str, Any]]) -> CostEstimate:
    """What a run's metrics say it took."""
    rows = _rows(rows, "iteration", "fine_tuning")

    def total(name: str) -> float:
        return sum(row.get(name, 0) for row in rows)

    def seconds(name: str) -> float:
        return sum(row["seconds"].get(name, 0.0) for row in rows)

    return CostEstimate(
        rollouts=total("num_rollouts"),
        tokens=total("num_tokens"),
        sampled_tokens=total("num_sampled_tokens"),
        sampling_cpu_s=seconds("sampling_cpu"),
        sandbox_cpu_s=seconds("sandbox_cpu"),
        update_cpu_s=seconds("update_cpu"),
        wall_minutes=(seconds("sampling_wall") + seconds("update_wall")) / 60,
    )
