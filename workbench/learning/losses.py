"""Losses as functions of tensors: one per method, no branches inside.

Stage: learning. Logprobs, advantages and masks of shape (B, T) go in; the loss of each token, or
the weight of each token in the mean, comes out. The loss of a minibatch is

    (token_weights(loss_mask) * token_loss(...)).sum()

so the same mask stands above and below the fraction line, and a minibatch may be worked through
in pieces: the weights are made once for the whole of it.
Left out: value losses (no critic) and KL terms (no reference policy in this loop).
"""

from __future__ import annotations

import torch
from torch import Tensor


def imitation_loss(logprobs: Tensor) -> Tensor:
    """(B, T) negative logprob of each token: maximum likelihood, used by rejection fine-tuning."""
    return -logprobs


def reinforce_loss(
    logprobs: Tensor, old_logprobs: Tensor, advantages: Tensor, loss_mask: Tensor, **_: float
) -> Tensor:
    """(B, T) losses of REINFORCE: -advantage * logprob (Williams 1992). Ignores the old policy."""
    return -advantages * logprobs


def clipped_ratio_loss(
    logprobs: Tensor,
    old_logprobs: Tensor,
    advantages: Tensor,
    loss_mask: Tensor,
    *,
    clip_low: float,
    clip_high: float,
) -> Tensor:
    """(B, T) losses of PPO's clipped objective, one ratio a token.

    -min(ratio * A, clip(ratio, 1 - clip_low, 1 + clip_high) * A). The gradient vanishes exactly
    where A > 0 and ratio > 1 + clip_high, or A < 0 and ratio < 1 - clip_low.
    Source: Schulman et al. 2017, eq. 7; clip_high > clip_low is DAPO's clip-higher (Yu et al.
    2025).
    """
    ratio = torch.exp(logprobs - old_logprobs)
    clipped = ratio.clamp(1.0 - clip_low, 1.0 + clip_high)
    return -torch.minimum(ratio * advantages, clipped * advantages)


def sequence_ratio_loss(
    logprobs: Tensor,
    old_logprobs: Tensor,
    advantages: Tensor,
    loss_mask: Tensor,
    *,
    clip_low: float,
    clip_high: float,
) -> Tensor:
    """(B, T) losses of GSPO: one ratio a sequence, the geometric mean of its tokens' ratios.

    Average with `sequence_mean_weights`. Clip ranges are far smaller here (3e-4 and 4e-4).
    Source: Zheng et al. 2025, eq. 5 to 7.
    """
    num_tokens = loss_mask.sum(dim=1, keepdim=True).clamp(min=1)
    log_ratio = ((logprobs - old_logprobs) * loss_mask).sum(dim=1, keepdim=True) / num_tokens
    ratio = torch.exp(log_ratio).expand_as(logprobs)  # (B, T)
    clipped = ratio.clamp(1.0 - clip_low, 1.0 + clip_high)
    return -torch.minimum(ratio * advantages, clipped * advantages)


def token_mean_weights(loss_mask: Tensor) -> Tensor:
    """(B, T) weights of a mean over all policy tokens (DAPO): every token counts the same."""
    mask = loss_mask.float()
    return mask / mask.sum().clamp(min=1)


def sequence_mean_weights(loss_mask: Tensor) -> Tensor:
    """(B, T) weights of a mean over sequences of the mean over tokens (GRPO).

    A token of a long sequence counts less, so long wrong answers are punished less.
    """
    mask = loss_mask.float()
    return mask / mask.sum(dim=1, keepdim=True).clamp(min=1) / len(mask)


def constant_length_weights(loss_mask: Tensor, *, length: int = 256) -> Tensor:
    """(B, T) weights of a sum divided by B times a constant length (Dr. GRPO, Liu et al. 2025)."""
    return loss_mask.float() / (len(loss_mask) * length)


def was_clipped(slopes: Tensor, advantages: Tensor) -> Tensor:
    """(B, T) bools: tokens that have an advantage and no gradient. Whatever the loss, it has
    clipped them.

    slopes: (B, T) gradient of the minibatch's loss with respect to its logprobs.
    """
    return (slopes == 0) & (advantages != 0)
