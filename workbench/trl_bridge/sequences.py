"""A group of trajectories as the lists TRL's `rollout_func` returns, with advantages a token.

Stage: between episodes and TRL. Groups and their credit go in; one sequence a trajectory comes
out: prompt, completion, which completion tokens the policy sampled, their logprobs, their
advantages. Ids and mask are made by our own `pack`, so nothing is tokenised again.
Left out: an attempt of several rows (a turn that kept less than the whole prefix): TRL has one
sequence a completion.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.credit import per_token
from workbench.learning import pack
from workbench.records import Group, Trajectory

TOKEN_ADVANTAGES = "token_advantages"
"""Column of `rollout_func`'s answer that `TurnGRPOTrainer` reads."""


@dataclass(frozen=True)
class TokenSequence:
    """One attempt as TRL takes it. The lists after `prompt_ids` are of equal length."""

    prompt_ids: list[int]
    """What the policy was told before it first spoke."""
    completion_ids: list[int]
    """Everything after that: sampled tokens and observations, as they were."""
    env_mask: list[int]
    """1 where the policy sampled the token, 0 where the environment wrote it."""
    logprobs: list[float]
    """Under the policy that sampled the token; 0.0 where `env_mask` is 0."""
    advantages: list[float]
    """The turn's advantage; nan = no gradient; 0.0 where `env_mask` is 0."""


def sequences_of(group: Group, credit: Sequence[np.ndarray]) -> list[TokenSequence]:
    """One sequence a trajectory.

    Args:
        credit: G arrays of shape (K,), as a scheme of `workbench.credit` returns them; nan = the
            turn gets no gradient and is in no mean.
    Raises:
        ValueError: if shapes do not fit, an attempt has no sampled token, or a turn kept less
            than the whole prefix.
    """
    numbers = per_token(group, credit)
    return [_sequence(t, n) for t, n in zip(group.trajectories, numbers, strict=True)]


def _sequence(trajectory: Trajectory, numbers: np.ndarray) -> TokenSequence:
    alone = Group(trajectory.task_id, trajectory.policy_version, (trajectory,))
    batch = pack([alone], [[0.0]])  # the mask of every sampled token
    if len(batch) != 1:
        raise ValueError(
            f"trajectory of {trajectory.task_id!r}: expected one row of tokens, got {len(batch)}; "
            + (_why_none(trajectory) if not len(batch) else _WHY_SEVERAL)
        )
    length = int(batch.lengths[0])
    ids, mask, logprobs = (
        tensor[0, :length].tolist() for tensor in (batch.ids, batch.loss_mask, batch.old_logprobs)
    )
    advantages = np.zeros(length)
    advantages[mask] = numbers
    start = mask.index(True)
    return TokenSequence(
        prompt_ids=ids[:start],
        completion_ids=ids[start:],
        env_mask=[int(sampled) for sampled in mask[start:]],
        logprobs=logprobs[start:],
        advantages=advantages[start:].tolist(),
    )


_WHY_SEVERAL = (
    "TRL has one sequence a completion: open the policy without shorten=True, and let "
    "sampler.max_context have room for the whole attempt"
)


def _why_none(trajectory: Trajectory) -> str:
    if trajectory.stop_reason == "abort":
        return "the policy could not be sampled at all: a fault of ours, see its warnings"
    return (
        f"what the policy is told first leaves no room in sampler.max_context, which is "
        f"{trajectory.sampler.max_context}: raise it, or leave the task out"
    )


def as_rollout(sequences: Sequence[TokenSequence]) -> dict[str, list[Any]]:
    """The dictionary TRL 1.16 expects of `rollout_func`, and TOKEN_ADVANTAGES beside it."""
    names = ("prompt_ids", "completion_ids", "logprobs", "env_mask")
    columns = {name: [getattr(s, name) for s in sequences] for name in names}
    return columns | {TOKEN_ADVANTAGES: [s.advantages for s in sequences]}
