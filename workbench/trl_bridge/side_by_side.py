"""The same batch through our loss and through TRL's: advantages, loss and gradients side by side.

Stage: learning, both ways. A policy's folder, groups with their rewards and the settings of a
method go in; the differences come out. TRL's side is its own trainer, given the same rollouts: its
own advantages from the rewards, its own masks, forward pass and loss. Only the old logprobs are
handed over, so that the ratio differs from 1 and the clip bites.
Left out: the optimiser (torch's AdamW on both sides); bfloat16.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from peft import LoraConfig
from torch import Tensor, nn

from workbench.learning import Batch, RLConfig, TrainConfig, pack, policy_logprobs
from workbench.learning.config import resolve
from workbench.learning.forward import plain_attention
from workbench.learning.loop import token_loss
from workbench.learning.losses import was_clipped
from workbench.learning.optimiser import make_optimiser, trained_parameters
from workbench.learning.update import update
from workbench.policies import open_policy
from workbench.records import Group
from workbench.trl_bridge.sequences import TOKEN_ADVANTAGES, as_rollout, sequences_of
from workbench.trl_bridge.settings import grpo_config
from workbench.trl_bridge.turn_trainer import TurnGRPOTrainer

MOVED = LoraConfig(r=4, lora_alpha=8, target_modules="all-linear", init_lora_weights=False)
"""Adapters that have left zero: the policy is no longer the one that sampled."""


@dataclass(frozen=True)
class Outcome:
    """What one side made of the batch."""

    advantages: Tensor
    """(N,) one a sampled token, or (attempts,) where the side has one a sequence."""
    loss: float
    """The minibatch's loss."""
    gradients: dict[str, Tensor]
    """By parameter name."""


@dataclass(frozen=True)
class Conformance:
    """How far the two sides are apart."""

    ours: float
    """Loss of our loop."""
    theirs: float
    """Loss of TRL."""
    advantage_gap: float
    """Largest |difference| of an advantage."""
    gradient_gap: float
    """Norm of the difference of all gradients, relative to the norm of ours."""
    clip_fraction: float
    """Share of the batch's tokens that the clip leaves without gradient."""


@dataclass(frozen=True)
class Trained:
    """A model, and what trains it."""

    model: nn.Module
    """Changed in place."""
    update: Callable[[], None]
    """Makes one optimiser step."""


def conformance(
    model: str,
    groups: Sequence[Group],
    rewards: np.ndarray,
    rl: RLConfig,
    *,
    per_turn: bool = False,
    lora: LoraConfig = MOVED,
    **changes: Any,
) -> Conformance:
    """Both sides on the same float32 model, batch and rewards.

    Args:
        model: folder of the policy that sampled `groups`.
        rewards: (B, G); nan = could not be judged.
        rl: the method; its credit decides our advantages.
        per_turn: True = TRL's loss gets our advantages, a number a turn (`TurnGRPOTrainer`);
            False = it computes its own from the rewards.
        lora: adapters that both sides train.
        changes: for `grpo_config`.
    """
    trainer = replaying_trainer(model, groups, rewards, rl, per_turn, lora, **changes)
    credit = credit_of(groups, rewards, rl)
    batch = pack(groups, credit)
    ours, slopes = our_outcome(trainer.model, batch, rl)
    theirs = trl_outcome(trainer)
    clipped = was_clipped(slopes, batch.advantages)
    mine = ours.advantages
    if not per_turn:  # TRL has one a sequence, and 0 where ours is nan
        mine = torch.tensor(np.array([turns[0] for row in credit for turns in row])).nan_to_num()
    return Conformance(
        ours=ours.loss,
        theirs=theirs.loss,
        advantage_gap=float((mine - theirs.advantages).abs().max()),
        gradient_gap=relative_gap(ours.gradients, theirs.gradients),
        clip_fraction=float(clipped[batch.loss_mask].float().mean()),
    )


def one_update_each(
    model: str,
    groups: Sequence[Group],
    rewards: np.ndarray,
    rl: RLConfig,
    *,
    lora: LoraConfig | None = None,
) -> tuple[Trained, Trained]:
    """(ours, TRL's) on the same float32 weights and the same whole batch, which both have prepared
    before. Left out is what TRL's training loop does around an optimiser step.

    Arguments as for `conformance`; `lora=None` trains all weights.
    """
    config = resolve(TrainConfig(rl=rl, dtype="float32"), lora=lora is not None)
    rl, mine = config.rl, open_policy(model, lora=lora).model
    batch, optimiser = pack(groups, credit_of(groups, rewards, rl)), make_optimiser(mine, rl)
    trainer = replaying_trainer(model, groups, rewards, rl, False, lora)
    inputs = replayed(trainer)
    trainer.create_optimizer()

    def ours() -> None:
        with plain_attention(mine):
            update(
                *(mine, optimiser, batch, token_loss(rl), rl.token_weights),
                grad_clip=rl.grad_clip,
                dtype=config.dtype,
                tokens_per_microbatch=config.tokens_per_microbatch,
            )

    def theirs() -> None:
        trainer._compute_loss(trainer.model, inputs).backward()
        nn.utils.clip_grad_norm_(trainer.model.parameters(), rl.grad_clip)
        trainer.optimizer.step()
        trainer.optimizer.zero_grad()

    return Trained(mine, ours), Trained(trainer.model, theirs)


def credit_of(groups: Sequence[Group], rewards: np.ndarray, rl: RLConfig) -> list[list[np.ndarray]]:
    """What our loop makes of the rewards, tied groups kept: a row a group, (K,) a trajectory."""
    options = dict(scale=rl.advantage_scale, ddof=rl.advantage_ddof)
    return [rl.credit(group, row, **options) for group, row in zip(groups, rewards, strict=True)]


def replaying_trainer(
    model: str,
    groups: Sequence[Group],
    rewards: np.ndarray,
    rl: RLConfig,
    per_turn: bool,
    lora: LoraConfig | None,
    **changes: Any,
) -> TurnGRPOTrainer:
    """A trainer whose every rollout is `groups`, paid `rewards`: one optimiser step a batch."""
    import datasets

    size = len(groups[0].trajectories)
    rl = replace(rl, tasks_per_iteration=len(groups), group_size=size)
    rl = replace(rl, updates_per_iteration=1, iterations=1)
    credit = credit_of(groups, rewards, rl)
    stored = {g.task_id: place for place, g in enumerate(groups)}

    def replay(prompts: Sequence[str], trainer: TurnGRPOTrainer) -> dict[str, list[Any]]:
        places = [stored[prompt] for prompt in prompts[::size]]  # of this process
        sequences = [s for p in places for s in sequences_of(groups[p], credit[p])]
        rollout = as_rollout(sequences)
        if not per_turn:
            del rollout[TOKEN_ADVANTAGES]
        return rollout | {"paid": [None if np.isnan(r) else r for p in places for r in rewards[p]]}

    os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")  # rollout_func may change; trl is pinned
    return TurnGRPOTrainer(
        model=model,
        args=grpo_config(tempfile.mkdtemp(), rl, **changes),
        train_dataset=datasets.Dataset.from_list([{"prompt": g.task_id} for g in groups]),
        rollout_func=replay,
        reward_funcs=lambda paid, **columns: paid,
        peft_config=lora,
    )


def our_outcome(model: nn.Module, batch: Batch, rl: RLConfig) -> tuple[Outcome, Tensor]:
    """Loss and gradients of our own loop on a packed batch, and (B, T) those of the logprobs."""
    model.zero_grad(set_to_none=True)
    logprobs, _ = policy_logprobs(model, batch)
    logprobs.retain_grad()
    loss = (rl.token_weights(batch.loss_mask) * token_loss(rl)(logprobs, batch)).sum()
    loss.backward()
    advantages = batch.advantages[batch.loss_mask]
    return Outcome(advantages, float(loss.detach()), _gradients(model)), logprobs.grad


def replayed(trainer: TurnGRPOTrainer) -> dict[str, Any]:
    """The batch that TRL makes of its rollouts, with the sampler's logprobs as the old ones.

    Calls a method that is private in TRL 1.16, as `trl_outcome` and `one_update_each` do: no public
    one leads there without an optimiser step.
    """
    trainer.model.train()
    trainer.current_gradient_accumulation_steps = 1  # its training loop would have set this
    rows = [dict(row) for row in trainer.train_dataset for _ in range(trainer.num_generations)]
    inputs = trainer._generate_and_score_completions(rows)
    return inputs | {"old_per_token_logps": inputs["sampling_per_token_logps"]}


def trl_outcome(trainer: TurnGRPOTrainer) -> Outcome:
    """Loss and gradients of TRL on the batch it is given by its rollouts."""
    model, inputs = trainer.model, replayed(trainer)
    model.zero_grad(set_to_none=True)
    loss = trainer._compute_loss(model, inputs)
    loss.backward()
    advantages = inputs["advantages"]
    if advantages.dim() == 2:
        advantages = advantages[(inputs["completion_mask"] * inputs["tool_mask"]).bool()]
    return Outcome(advantages.double(), float(loss.detach()), _gradients(model))


def relative_gap(ours: dict[str, Tensor], theirs: dict[str, Tensor]) -> float:
    """Norm of the difference of all gradients divided by the norm of ours."""
    if ours.keys() != theirs.keys():
        odd = sorted(ours.keys() ^ theirs.keys())
        raise ValueError(f"gradients: expected the same parameters, got {odd} on one side only")
    difference = sum(float(((ours[n] - theirs[n]) ** 2).sum()) for n in ours) ** 0.5
    return difference / sum(float((g**2).sum()) for g in ours.values()) ** 0.5


def _gradients(model: nn.Module) -> dict[str, Tensor]:
    return {name: p.grad.clone() for name, p in trained_parameters(model).items()}
