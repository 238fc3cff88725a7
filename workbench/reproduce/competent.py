"""Imitating only the good scripts: what the competent part of the corpus alone would teach.

Stage: beside the loop. In: the base policy; out: its weights after fine-tuning on scripted
`expert` and `recover` episodes. It is rejection fine-tuning with a teacher: the scripts know the
bug, so every example is right. Its size is set so that it takes about the CPU time of RFT and RL.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch

from workbench.demo.counts import NUM_TEST
from workbench.demo.measured import measure
from workbench.learning import TrainConfig, imitation_loss, token_mean_weights
from workbench.learning.batch import PAD_TO, Batch
from workbench.learning.checkpoint import derive_seed
from workbench.learning.config import resolve
from workbench.learning.forward import plain_attention
from workbench.learning.optimiser import make_optimiser, set_learning_rate
from workbench.learning.update import update
from workbench.policies import CausalLMPolicy, open_policy
from workbench.pretraining.behaviours import WEIGHTS, play
from workbench.pretraining.corpus import FIRST_INDEX, WEIGHT_POLICY, Document, encode
from workbench.sandbox import open_sandbox
from workbench.tasks import load_tasks
from workbench.tasks.bugfix import bugfix_task

COMPETENT = ("expert", "recover")
"""Behaviours that solve their task, drawn in the corpus's proportion."""


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


def run_seed(
    seed: int, policy: str, config: SFTConfig, num_test: int = NUM_TEST, split: str = "test"
) -> dict:
    """Fine-tune a fresh copy of the base and measure it; returns its row."""
    learner, start = open_policy(policy), time.process_time()
    losses = fine_tune(learner, config, seed)
    cpu_minutes = (time.process_time() - start) / 60
    with open_sandbox("auto") as sandbox:
        row = measure(learner, load_tasks("bugfix", split, num_test), sandbox, seed).row()
    loss = float(np.mean(losses[-50:]))
    return {"seed": seed, "final_loss": loss, "training_cpu_minutes": cpu_minutes, **row}


def fine_tune(policy: CausalLMPolicy, config: SFTConfig, seed: int) -> list[float]:
    """Train the policy in place by maximum likelihood; returns the loss before each update."""
    dtype = resolve(TrainConfig(dtype=config.dtype), lora=False).dtype
    optimiser = make_optimiser(policy.model, config)
    episodes = competent_episodes(policy.tokenizer, seed)
    losses = []
    with plain_attention(policy.model):
        for number in range(config.num_updates):
            set_learning_rate(optimiser, config, number / config.num_updates)
            batch = batch_of([next(episodes) for _ in range(config.batch_size)])
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


def competent_episodes(tokenizer, seed: int) -> Iterator[Document]:
    """Episodes without end, on the corpus's tasks, which are none of the RL suites' tasks."""
    weights = [WEIGHTS[behaviour] for behaviour in COMPETENT]
    for index in range(derive_seed(seed, "competent") % 10_000, 10**9):
        rng = random.Random(f"competent/{seed}/{index}")
        task = bugfix_task("train", FIRST_INDEX + index)
        (behaviour,) = rng.choices(COMPETENT, weights)
        messages = [("task", task.statement)]
        for message, observation in play(task, behaviour, rng):
            messages += [("act", message), ("obs", observation)]
        yield encode(messages[:-1], tokenizer)  # nothing follows the last message


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
