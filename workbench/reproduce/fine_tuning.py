"""Supervised fine-tuning on scripted documents: what the loop's own update does with a teacher.

Stage: beside the loop. In: a policy and an endless supply of documents; out: its weights changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch

from workbench.learning import TrainConfig, imitation_loss, token_mean_weights
from workbench.learning.batch import PAD_TO, Batch
from workbench.learning.config import resolve
from workbench.learning.forward import plain_attention
from workbench.learning.optimiser import make_optimiser, set_learning_rate
from workbench.learning.update import update
from workbench.policies import CausalLMPolicy
from workbench.pretraining.corpus import WEIGHT_POLICY, Document


@dataclass(frozen=True)
class SFTConfig:
    """Settings of the supervised fine-tuning."""

    num_updates: int = 600
    """Optimiser steps; every episode is seen once."""
    batch_size: int = 32
    """Episodes in one update, as in RFT."""
    lr: float = 5e-4
    """AdamW learning rate, as in RFT."""
    lr_final_fraction: float = 0.1
    """The learning rate falls linearly to this fraction of itself."""
    betas: tuple[float, float] = (0.9, 0.95)
    """AdamW's decay rates."""
    weight_decay: float = 0.0
    """AdamW's weight decay."""
    grad_clip: float = 1.0
    """Largest gradient norm."""
    dtype: Literal["auto", "float32", "bfloat16"] = "auto"
    """As in `TrainConfig`."""
    tokens_per_microbatch: int = 2048
    """As in `TrainConfig`."""


def fine_tune(
    policy: CausalLMPolicy, documents: Iterator[Document], config: SFTConfig
) -> list[float]:
    """Train the policy in place by maximum likelihood; returns the loss before each update."""
    dtype = resolve(TrainConfig(dtype=config.dtype), lora=False).dtype
    optimiser = make_optimiser(policy.model, config)
    losses = []
    with plain_attention(policy.model):
        for number in range(config.num_updates):
            set_learning_rate(optimiser, config, number / config.num_updates)
            batch = batch_of([next(documents) for _ in range(config.batch_size)])
            stats = update(
                *(policy.model, optimiser, batch, _imitation, token_mean_weights),
                grad_clip=config.grad_clip,
                dtype=dtype,
                tokens_per_microbatch=config.tokens_per_microbatch,
            )
            losses.append(stats.loss)
            if (number + 1) % 50 == 0:
                print(f"update {number + 1} of {config.num_updates}: {np.mean(losses[-50:]):.3f}")
    return losses


def batch_of(documents: Sequence[Document]) -> Batch:
    """Documents as a batch: the loss mask is what the script says, advantages play no part."""
    width = max(len(document.ids) for document in documents)
    width = -(-width // PAD_TO) * PAD_TO
    ids = torch.zeros(len(documents), width, dtype=torch.long)
    loss_mask = torch.zeros(len(documents), width, dtype=torch.bool)
    for row, document in enumerate(documents):
        ids[row, : len(document.ids)] = torch.tensor(document.ids)
        said = torch.tensor(document.weights) == WEIGHT_POLICY
        loss_mask[row, : len(document.ids)] = said
    lengths = torch.tensor([len(document.ids) for document in documents])
    return Batch(
        ids=ids,
        attention_mask=torch.arange(width) < lengths[:, None],
        loss_mask=loss_mask,
        old_logprobs=torch.zeros(len(documents), width),
        advantages=loss_mask.float(),
    )


def _imitation(logprobs: torch.Tensor, batch: Batch) -> torch.Tensor:
    return imitation_loss(logprobs)
