"""GPU memory of LoRA or full RL training, from the model's configuration alone.

Stage: beside the loop. A configuration of transformers' (Llama, Qwen2, Qwen3 and their like: gated
feed-forward, grouped keys and values) goes in; bytes come out, part by part. Formulas, with h
hidden, L layers, H heads, K heads of keys and values, D head size, I intermediate, V vocabulary:

    parameters    counted from the model's own modules, made without their numbers
    LoRA, rank r  L r (2 (h + H D) + 2 (h + K D) + 3 (h + I)), all linear layers
    trained state bytes a parameter: 4 weight (peft keeps LoRA's in float32) + 4 gradient + 8 Adam
    KV cache      2 L K D bytes-a-number a token, of every sequence that is sampled at a time
    activations   with checkpointing: L h numbers a token (the layers' inputs) + one layer in full;
                  without: L layers in full. One layer in full: 8 h + 4 H D + 4 I numbers (the two
                  norms keep float32 copies; keys and values are repeated for their heads), and
                  3 (H + K) D more for Qwen3's norms of queries and keys
    logits        a tile of them in float32: TRL 1.16 never holds all of V for all tokens

What a framework keeps for itself (CUDA context 0.5 to 1 GiB, fragmentation, vLLM's own reserve) is
not in it: plan for a fifth more.
Left out: experts (MoE), several GPUs, quantised optimisers, the merged copy of the weights that our
own sampler makes for a session.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from workbench.policies.sizing import num_parameters

BYTES = {"float32": 4.0, "bfloat16": 2.0, "float16": 2.0, "int8": 1.0, "nf4": 0.5 + 4 / 64}
"""Bytes a number. nf4: half a byte and a float32 scale for each 64 (QLoRA without double
quantisation, Dettmers et al. 2023)."""
LOGIT_TILE = 2048
"""Tokens whose logits are held at a time."""


@dataclass(frozen=True)
class MemoryEstimate:
    """Bytes on the GPU, part by part."""

    weights: float
    """The model, frozen or not."""
    trained: float
    """Of what is trained: float32 weights where they are apart, gradient, Adam's moments."""
    kv_cache: float
    """Keys and values while sampling."""
    activations: float
    """Kept for the backward pass of one microbatch."""
    logits: float
    """One tile, with its gradient."""

    @property
    def total(self) -> float:
        """The larger of sampling and updating, which follow each other, and what both need."""
        return self.weights + self.trained + max(self.kv_cache, self.activations + self.logits)

    def __repr__(self) -> str:
        parts = vars(self) | {"total": self.total}
        return "\n".join(f"{name:<12}{value / 2**30:>9.2f} GiB" for name, value in parts.items())


def gpu_memory(
    config: Any,
    *,
    lora_rank: int | None = 16,
    dtype: str = "bfloat16",
    compute_dtype: str = "bfloat16",
    sequences: int = 64,
    microbatch: int = 4,
    context: int = 4096,
    checkpointing: bool = True,
) -> MemoryEstimate:
    """Memory for sampling and updating a model on one GPU.

    Args:
        config: `AutoConfig.from_pretrained(...)`, or one of transformers' made by hand.
        lora_rank: of adapters on all linear layers; None = all weights are trained, in float32.
        dtype: of the frozen weights, a key of BYTES.
        compute_dtype: of activations and of the cache.
        sequences: sampled at a time.
        microbatch: sequences in one forward and backward pass.
        context: tokens of a sequence, prompt and completion.
        checkpointing: gradient checkpointing, TRL's default.
    Raises:
        ValueError: an unknown dtype, or no configuration.
    """
    if not hasattr(config, "hidden_size"):
        raise ValueError(
            f"config: expected a model's configuration, got {config!r:.80}; "
            "AutoConfig.from_pretrained(...) reads one, policy.model.config is one"
        )
    for name in (dtype, compute_dtype):
        if name not in BYTES:
            raise ValueError(f"dtype: expected one of {sorted(BYTES)}, got {name!r}")
    all_weights, adapters = num_parameters(config), num_lora_parameters(config, lora_rank or 0)
    layers, width = config.num_hidden_layers, BYTES[compute_dtype]
    in_full = numbers_a_layer(config)
    kept = layers * config.hidden_size + in_full if checkpointing else layers * in_full
    tile = min(LOGIT_TILE, microbatch * context)
    return MemoryEstimate(
        weights=all_weights * (BYTES[dtype] if lora_rank else 4.0),
        trained=adapters * 16.0 if lora_rank else all_weights * 12.0,
        kv_cache=sequences * context * kv_numbers_a_token(config) * width,
        activations=microbatch * context * kept * width,
        logits=tile * config.vocab_size * 4.0 * 2,
    )


def head_size(config: Any) -> int:
    """D: given, or the hidden size divided among the heads."""
    given = getattr(config, "head_dim", None)
    return given or config.hidden_size // config.num_attention_heads


def num_lora_parameters(config: Any, rank: int) -> int:
    """Weights of adapters on all seven linear layers of a block."""
    h, d, inner = config.hidden_size, head_size(config), config.intermediate_size
    queries, keys = config.num_attention_heads * d, config.num_key_value_heads * d
    layer = 2 * (h + queries) + 2 * (h + keys) + 3 * (h + inner)
    return config.num_hidden_layers * rank * layer


def kv_numbers_a_token(config: Any) -> int:
    """Numbers that the cache keeps of one token."""
    return 2 * config.num_hidden_layers * config.num_key_value_heads * head_size(config)


def numbers_a_layer(config: Any) -> int:
    """Numbers of one token that a block keeps for its backward pass, attention scores left out
    (fused attention recomputes them). A test counts what torch saves."""
    d = head_size(config)
    queries, keys = config.num_attention_heads * d, config.num_key_value_heads * d
    per_head_norms = 3 * (queries + keys) if "qwen3" in getattr(config, "model_type", "") else 0
    return 8 * config.hidden_size + 4 * queries + 4 * config.intermediate_size + per_head_norms
