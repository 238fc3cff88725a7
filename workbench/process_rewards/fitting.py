"""Fitting a model of turns: binary cross-entropy against labels that may be soft, or missing.

Stage: process rewards. A model, groups and a label for each turn in; the model's weights change.
Soft labels are chances (a share of re-rolls that ended well); their cross-entropy is smallest where
the prediction is the chance, so noisy labels are right on average. NaN is no label: that turn stays
in the context and is no target.
Left out: a ranking loss, early stopping, weights for rare labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn

from workbench.learning.config import Dtype, resolve_dtype
from workbench.learning.forward import plain_attention
from workbench.process_rewards.model import TurnModel
from workbench.process_rewards.places import (
    Placed,
    Row,
    batches,
    expect_numbers_of_turns,
    place,
    rows_of,
)
from workbench.records import Group

Labels = Sequence[Sequence[np.ndarray]]
"""For each group, G arrays of shape (K,): a number in [0, 1] for each turn, or NaN."""


@dataclass(frozen=True)
class FitConfig:
    """How a model of turns is fitted."""

    epochs: int = 2
    """Passes over the attempts."""
    batch_size: int = 16
    """Rows of tokens (attempts, in short contexts) in one update."""
    lr: float = 5e-4
    """AdamW learning rate; it falls linearly to a tenth of itself."""
    trains: Literal["all", "head"] = "all"
    """"all": every weight. "head": the backbone stays the policy's and only the head learns."""
    weight_decay: float = 0.01
    """AdamW's weight decay."""
    grad_clip: float = 1.0
    """Largest gradient norm."""
    dtype: Dtype = "auto"
    """Arithmetic of the backbone, as in `learning.TrainConfig`; weights stay float32."""
    tokens_per_microbatch: int = 1024
    """Padded tokens in one forward and backward pass."""


def fit(
    model: TurnModel,
    groups: Sequence[Group],
    labels: Labels,
    config: FitConfig = FitConfig(),
    *,
    seed: int = 0,
) -> list[float]:
    """Fit `model` in place, from the weights it has; the mean loss of each pass, in nats.

    Args:
        labels: for each group, G arrays of shape (K,) in [0, 1]; NaN = no label. Of a model that
            reads "before" entry k belongs to the place before turn k, else to the end of turn k.
        seed: of the order of the attempts; same seed, same weights.
    Raises:
        ValueError: if the shapes do not fit, a label is not in [0, 1], or there is none; or for a
            config that would not fit anything.
    """
    if config.trains not in ("all", "head") or min(config.epochs, config.batch_size) < 1:
        raise ValueError(
            f'config: expected trains "all" or "head", and epochs and batch_size of 1 or more, got '
            f"{config}"
        )
    rows, targets = _labelled_rows(model, groups, labels)
    modules = [model.head] if config.trains == "head" else [model.backbone, model.head]
    trained = [p for module in modules for p in module.parameters()]
    optimiser = torch.optim.AdamW(trained, lr=config.lr, weight_decay=config.weight_decay)
    rng = np.random.default_rng(seed)
    num_updates = -(-len(rows) // config.batch_size)
    losses = []
    config = replace(config, dtype=resolve_dtype(config.dtype))
    with plain_attention(model.backbone):
        for epoch in range(config.epochs):
            total, order = 0.0, np.array_split(rng.permutation(len(rows)), num_updates)
            for u, batch in enumerate(order):
                done = (epoch * num_updates + u) / (config.epochs * num_updates)
                optimiser.param_groups[0]["lr"] = config.lr * (1 - 0.9 * done)
                total += _update(model, optimiser, trained, batch, rows, targets, config)
            losses.append(total / sum(int((~torch.isnan(t)).sum()) for t in targets))
    return losses


def _labelled_rows(
    model: TurnModel, groups: Sequence[Group], labels: Labels
) -> tuple[list[Row], list[Tensor]]:
    """Rows with at least one label, and the labels of each row's places."""
    expect_numbers_of_turns("labels", groups, labels)
    rows, targets = [], []
    for group, numbers in zip(groups, labels):
        for trajectory, wanted in zip(group.trajectories, numbers):
            wanted = np.asarray(wanted, dtype=np.float32)
            if (wanted[~np.isnan(wanted)] < 0).any() or (wanted[~np.isnan(wanted)] > 1).any():
                raise ValueError(
                    f"labels: expected numbers in [0, 1] or NaN, got {wanted.tolist()}; a reward "
                    "outside [0, 1] has to be scaled first"
                )
            for row in rows_of(trajectory, model.reads):
                target = torch.tensor(wanted[list(row.turns)])
                if not torch.isnan(target).all():
                    rows.append(row)
                    targets.append(target)
    if not rows:
        raise ValueError("labels: expected at least one number, got NaN only")
    return rows, targets


def _update(
    model: TurnModel,
    optimiser: torch.optim.Optimizer,
    trained: list[nn.Parameter],
    batch: np.ndarray,
    rows: Sequence[Row],
    targets: Sequence[Tensor],
    config: FitConfig,
) -> float:
    """One optimiser step on the rows with these indices; the sum of their losses."""
    some, wanted = [rows[b] for b in batch], [targets[b] for b in batch]
    num_labels = sum(int((~torch.isnan(t)).sum()) for t in wanted)
    optimiser.zero_grad(set_to_none=True)
    total = 0.0
    for piece in batches(some, config.tokens_per_microbatch):
        logits = _logits(model, place([some[i] for i in piece]), config)
        target = torch.cat([wanted[i] for i in piece]).to(logits.device)
        known = ~torch.isnan(target)
        loss = nn.functional.binary_cross_entropy_with_logits(
            logits[known], target[known], reduction="sum"
        )
        (loss / num_labels).backward()
        total += float(loss.detach())
    nn.utils.clip_grad_norm_(trained, config.grad_clip)
    optimiser.step()
    return total


def _logits(model: TurnModel, placed: Placed, config: FitConfig) -> Tensor:
    with torch.autocast(
        *(model.head.weight.device.type, torch.bfloat16),
        enabled=config.dtype == "bfloat16",
        cache_enabled=False,  # a cached copy of a weight would outlive its update
    ):
        if config.trains == "all":
            return model.logits(placed)
        with torch.no_grad():
            features = model.features(placed)
        return model.head(features)[:, 0].float()
