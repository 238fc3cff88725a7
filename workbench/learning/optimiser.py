"""The optimiser and its learning rate.

Stage: learning. A model and a stage's settings go in; an AdamW over what is trained comes out.
Left out: warm-up, Muon (used in pretraining), parameter groups.
"""

from __future__ import annotations

from typing import Protocol

import torch
from torch import nn


class OptimiserConfig(Protocol):
    """What the optimiser needs to know; RFTConfig and RLConfig both have it."""

    lr: float | None
    lr_final_fraction: float
    betas: tuple[float, float]
    weight_decay: float


def trained_parameters(model: nn.Module) -> dict[str, nn.Parameter]:
    """Name -> parameter of everything that gets gradient: all weights, or the LoRA adapters."""
    return {name: p for name, p in model.named_parameters() if p.requires_grad}


def make_optimiser(model: nn.Module, config: OptimiserConfig) -> torch.optim.AdamW:
    """A fresh AdamW over the trained parameters. Raises ValueError if nothing is trained."""
    parameters = list(trained_parameters(model).values())
    if not parameters:
        raise ValueError("model: expected parameters with requires_grad, got none")
    return torch.optim.AdamW(
        parameters, lr=config.lr, betas=config.betas, weight_decay=config.weight_decay
    )


def set_learning_rate(
    optimiser: torch.optim.Optimizer, config: OptimiserConfig, done: float
) -> float:
    """Set and return the rate once the share `done` of a stage is over.

    It falls in a straight line from `lr` to `lr * lr_final_fraction`.
    """
    rate = config.lr * (1.0 - (1.0 - config.lr_final_fraction) * done)
    for group in optimiser.param_groups:
        group["lr"] = rate
    return rate
