"""Our settings in TRL's words, so that both trainers are told the same.

Stage: learning, through TRL. An `RLConfig` goes in, a `GRPOConfig` comes out. GRPO, DAPO and
Dr. GRPO are three such configs; docs/trl.md lists what the two words for a thing still do
differently. Left out: settings without a counterpart there (`credit`, `evidence`, `tied_groups`
are `MultiTurn`'s business; the population standard deviation has none).
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, Literal

import torch
from trl import GRPOConfig

from workbench.learning import (
    RFTConfig,
    RLConfig,
    clipped_ratio_loss,
    constant_length_weights,
    sequence_mean_weights,
    sequence_ratio_loss,
    token_mean_weights,
)
from workbench.learning.config import LR_FULL, LR_LORA

GRPO = RLConfig(clip_high=0.2, token_weights=sequence_mean_weights, tied_groups="keep")
"""Shao et al. 2024, without its KL term."""
DAPO = RLConfig(tied_groups="keep")
"""Yu et al. 2025: clip-higher and a mean over tokens. `RLConfig()` drops tied groups as well."""
DR_GRPO = RLConfig(
    clip_high=0.2,
    advantage_scale="none",
    token_weights=partial(constant_length_weights, length=256),
    tied_groups="keep",
)
"""Liu et al. 2025: no spread, and a sum over tokens divided by a constant length."""
METHODS = {"GRPO": GRPO, "DAPO": DAPO, "Dr. GRPO": DR_GRPO}
"""What docs/trl.md compares, by name."""

_LOSS_TYPES = {
    sequence_mean_weights: "grpo",
    token_mean_weights: "dapo",
    constant_length_weights: "dr_grpo",
}
_LEVELS = {clipped_ratio_loss: "token", sequence_ratio_loss: "sequence"}


def grpo_config(
    output_dir: str | Path, rl: RLConfig = RLConfig(), *, lora: bool = True, **changes: Any
) -> GRPOConfig:
    """TRL's configuration for the same training as `rl` describes.

    One batch of rollouts is TRL's generation batch of tasks_per_iteration x group_size, split into
    updates_per_iteration optimiser steps. Without a GPU, bfloat16, checkpointing of activations
    and reporters are off (TRL has them on, and then fails or crawls on a CPU).

    Args:
        lora: which measured learning rate stands for `rl.lr=None`. TRL's default, 1e-6, is made
            for all weights of a large model and moves an adapter not at all.
        changes: anything of `GRPOConfig`, over what follows from `rl`.
    Raises:
        ValueError: if TRL has no word for a setting, or the batch does not divide.
    """
    rollouts = rl.tasks_per_iteration * rl.group_size
    if rollouts % rl.updates_per_iteration:
        raise ValueError(
            f"updates_per_iteration: expected a divisor of {rollouts} rollouts (TRL's minibatches "
            f"are of equal size), got {rl.updates_per_iteration}"
        )
    if rl.advantage_ddof != 1:
        raise ValueError("advantage_ddof: expected 1, TRL has the sample standard deviation only")
    settings = shared_settings(output_dir, rl, "rl", lora) | dict(
        num_generations=rl.group_size,
        per_device_train_batch_size=rollouts // rl.updates_per_iteration,
        steps_per_generation=rl.updates_per_iteration,
        gradient_accumulation_steps=1,
        max_steps=rl.iterations * rl.updates_per_iteration,
        epsilon=rl.clip_low,
        epsilon_high=rl.clip_high,
        scale_rewards={"std": "group", "none": "none"}[rl.advantage_scale],
        importance_sampling_level=_word("loss", rl.loss, _LEVELS),
        temperature=1.0,
        beta=0.0,
        **_aggregation(rl),
    )
    return GRPOConfig(**(settings | changes))


def shared_settings(
    output_dir: str | Path, config: RLConfig | RFTConfig, stage: Literal["rl", "rft"], lora: bool
) -> dict[str, Any]:
    """What every configuration of TRL's is told: folder, optimiser, no reporters, and on a machine
    without a GPU nothing that needs one."""
    lr = config.lr if config.lr is not None else (LR_LORA if lora else LR_FULL)[stage]
    settings = dict(
        output_dir=str(output_dir),
        learning_rate=lr,
        lr_scheduler_type="polynomial",  # of power 1: a straight line, with an end above zero
        lr_scheduler_kwargs={"lr_end": lr * config.lr_final_fraction, "power": 1.0},
        adam_beta1=config.betas[0],
        adam_beta2=config.betas[1],
        weight_decay=config.weight_decay,
        max_grad_norm=config.grad_clip,
        logging_steps=1,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
    )
    if config.lr_final_fraction == 1.0:  # a line that does not fall is refused
        settings |= dict(lr_scheduler_type="constant", lr_scheduler_kwargs={})
    if not torch.cuda.is_available():
        settings |= dict(use_cpu=True, bf16=False, gradient_checkpointing=False)
    return settings


def _aggregation(rl: RLConfig) -> dict[str, Any]:
    """The loss type, and the constant length where there is one: TRL's is called
    max_completion_length, and limits what TRL itself generates as well."""
    weights, length = rl.token_weights, None
    if isinstance(weights, partial) and set(weights.keywords) == {"length"}:
        weights, length = weights.func, weights.keywords["length"]
    words = {"loss_type": _word("token_weights", weights, _LOSS_TYPES)}
    if weights is constant_length_weights:
        words["max_completion_length"] = 256 if length is None else length
    return words


def _word(name: str, function: Any, words: dict[Any, str]) -> str:
    if function not in words:
        known = ", ".join(f.__name__ for f in words)
        raise ValueError(f"{name}: TRL has a word for {known}; got {function!r}")
    return words[function]
