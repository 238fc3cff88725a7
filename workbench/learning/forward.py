"""The update's forward pass: logprobs of the tokens that the policy sampled.

Stage: learning. A `transformers` model and a batch go in; logprobs and entropies come out, with
gradient. Two things make it fast on a CPU: logits are computed only where `loss_mask` is True
(about a quarter of the tokens), and attention is plain matrix products, whose backward pass is
faster here than that of torch's fused attention.
Left out: models that change the logits after their head (a soft cap or a scale).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

import torch
from torch import Tensor, nn

from workbench.learning.batch import Batch


def policy_logprobs(
    model: nn.Module, batch: Batch, dtype: Literal["float32", "bfloat16"] = "float32"
) -> tuple[Tensor, Tensor]:
    """Logprob and entropy of each token in `batch.loss_mask`, at temperature 1.

    Args:
        model: a causal LM of transformers, or a PEFT model around one.
        batch: on the model's device.
        dtype: "bfloat16" computes the blocks under autocast; softmax and loss are float32.
    Returns:
        logprobs: (B, T) float32, entry [b, t] = log pi(ids[b, t] | ids[b, :t]), with gradient;
            0 where the mask is False.
        entropies: (B, T) float32, entropy of the distribution token [b, t] was drawn from,
            without gradient; 0 where the mask is False.
    """
    model = causal_lm(model)
    with torch.autocast(
        *(batch.ids.device.type, torch.bfloat16),
        enabled=dtype == "bfloat16",
        cache_enabled=False,  # the cache is shared between threads, and each weight is used once
    ):
        hidden = model.model(
            input_ids=batch.ids, attention_mask=batch.attention_mask.long(), use_cache=False
        ).last_hidden_state
        before = hidden[:, :-1][batch.loss_mask[:, 1:]]  # (N, hidden): one place before its token
        logits = model.get_output_embeddings()(before)
    exact = torch.promote_types(logits.dtype, torch.float32)  # float64 stays what it is
    log_probs = torch.log_softmax(logits.to(exact), dim=-1)  # (N, V)
    sampled = batch.ids[batch.loss_mask]  # (N,) in the same order as `before`
    chosen = log_probs.gather(1, sampled[:, None])[:, 0]
    with torch.no_grad():
        entropy = -(log_probs.exp() * log_probs).sum(dim=1)
    empty = torch.zeros(batch.ids.shape, dtype=exact, device=batch.ids.device)
    return empty.masked_scatter(batch.loss_mask, chosen), empty.masked_scatter(
        batch.loss_mask, entropy
    )


def causal_lm(model: nn.Module) -> nn.Module:
    """The transformers model inside; of a PEFT model, the one its adapters were put into."""
    return model.get_base_model() if hasattr(model, "get_base_model") else model


@contextmanager
def plain_attention(model: nn.Module) -> Iterator[None]:
    """Inside the block, attention on a CPU is plain matrix products; afterwards as before."""
    inner = causal_lm(model)
    before = inner.config._attn_implementation
    on_cpu = next(inner.parameters()).device.type == "cpu"
    if on_cpu:
        inner.set_attn_implementation("eager")
    try:
        yield
    finally:
        if on_cpu:
            inner.set_attn_implementation(before)
