"""Vital signs: what a row of a log says, whoever wrote it.

Stage: beside the loop. Rows of TRL's `log_history` or of our metrics.jsonl go in; the same frozen
record comes out, so that a check on the course of training is written once. Left out: what only
one of the two logs has and no check reads.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True)
class Vitals:
    """One row; None where the log does not say."""

    num_groups: float = 0.0
    """Groups the row's averages are over."""
    num_rollouts: float = 0.0
    """Attempts the row's averages are over."""
    reward_mean: float | None = None
    """Mean reward of what could be judged."""
    solved_share: float | None = None
    """Share of attempts that solved their task, whatever they were paid (our log only)."""
    functions: Mapping[str, tuple[float | None, float | None]] = field(default_factory=dict)
    """Reward function -> (mean, standard deviation), TRL only; mean None = never a number."""
    tied_share: float | None = None
    """Share of groups whose rewards are all equal; not known where no attempt has a reward."""
    truncated_share: float | None = None
    """Share of completions cut at the limit (TRL only)."""
    dropped_share: float | None = None
    """Share of attempts that could not be judged."""
    clip_share: float | None = None
    """Share of tokens whose gradient the clip took away."""
    grad_norm: float | None = None
    """Norm of the gradient before clipping; nan where it was no number (our loop stops there)."""
    kl: float | None = None
    """KL to the reference, nats a token."""
    gap: float | None = None
    """Mean |logprob of the trainer - logprob of the sampler|."""
    reused: bool = False
    """Whether samples were used for more than one update, so that ratios differ from 1."""

    @property
    def rewards_differ(self) -> bool:
        """Whether there is a group with a reward that is unlike another."""
        return self.tied_share is not None and self.tied_share < 1.0


def of_trl(log_history: Iterable[Mapping[str, Any]], args: Any) -> tuple[Vitals, ...]:
    """Vital signs of `trainer.state.log_history`, a row an update or a mean over some; evaluations
    and the summary are left out. `args` is the trainer's GRPOConfig.

    Rewards are logged when samples are made. Rows of later updates on the same samples have none.
    """
    every = args.steps_per_generation * args.num_iterations / args.gradient_accumulation_steps
    batches = max(1.0, args.logging_steps / every)  # generation batches a row
    out: list[Vitals] = []
    for row in log_history:
        if "grad_norm" not in row:
            continue
        vitals = _of_trl_row(row, args, batches)
        fresh = "reward" in row
        if not fresh:
            tied = out[-1].tied_share if out else None
            vitals = replace(vitals, num_groups=0.0, num_rollouts=0.0, tied_share=tied)
        elif every > 1.0 and args.logging_steps == 1:
            vitals = replace(vitals, clip_share=None)  # the ratio is still 1: nothing to clip
        out.append(replace(vitals, reused=every > 1.0))
    return tuple(out)


def _of_trl_row(row: Mapping[str, Any], args: Any, batches: float) -> Vitals:
    names = [k[len("rewards/") : -len("/mean")] for k in row if _is_mean_of_function(k)]
    batch, reward = args.generation_batch_size, _number(row.get("reward"))
    # of our adapters and `MultiTurn`: completions a generation batch
    dropped, cut = (_share(row.get(name), batch) for name in ("unscorable", "cut"))
    return Vitals(
        num_groups=batches * batch / max(args.num_generations, 1),
        num_rollouts=batches * batch,
        reward_mean=reward,
        functions={
            n: (_number(row[f"rewards/{n}/mean"]), _number(row.get(f"rewards/{n}/std")))
            for n in names
        },
        # of a group without any reward TRL says that it is not tied
        tied_share=None if reward is None else _number(row.get("frac_reward_zero_std")),
        truncated_share=_number(row.get("completions/clipped_ratio")) if cut is None else cut,
        dropped_share=dropped,
        clip_share=_number(row.get("clip_ratio/region_mean")),
        grad_norm=_number(row["grad_norm"]) if row["grad_norm"] == row["grad_norm"] else math.nan,
        kl=_number(row.get("kl")),
        gap=_number(row.get("sampling/sampling_logp_difference/mean")),
    )


def _share(count: Any, total: float) -> float | None:
    count = _number(count)
    return None if count is None else count / total


def _is_mean_of_function(key: str) -> bool:
    return key.startswith("rewards/") and key.endswith("/mean")


def of_rows(rows: Iterable[Mapping[str, Any]]) -> tuple[Vitals, ...]:
    """Vital signs of the RL iterations of a run's metrics.jsonl (RFT's have no update)."""
    return tuple(
        Vitals(
            num_groups=row["num_groups"],
            num_rollouts=row["num_rollouts"],
            reward_mean=_number(row["reward_mean"]),
            solved_share=_number(row["solved_share"]),
            tied_share=row["num_tied"] / row["num_groups"],
            dropped_share=row["num_dropped"] / row["num_rollouts"],
            clip_share=_number(row["clip_fraction"]),
            grad_norm=_number(row["grad_norm"]),
            gap=_number(row["ratio_gap_mean"]),
            reused=row["num_updates"] > 1,
        )
        for row in rows
        if row["kind"] == "iteration" and row["stage"] == "rl"
    )


def known(vitals: Sequence[Vitals], name: str) -> list[float]:
    """The numbers of one vital sign, in order, rows that lack it left out."""
    return [value for v in vitals if (value := getattr(v, name)) is not None]


def _number(value: Any) -> float | None:
    """A finite number as it is; anything else is not known."""
    if isinstance(value, int | float) and math.isfinite(value):
        return float(value)
    return None
