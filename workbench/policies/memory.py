"""What a model needs: weights, keys and values, adapters and optimiser, counted from its config.

Stage: policy. A `transformers` config goes in, numbers of weights and bytes come out; nothing is
loaded. Left out: activations of the update (they depend on batch and checkpointing) and what a
framework keeps for itself: leave a quarter of a device free for both.
"""

from __future__ import annotations

import copy
import os
from dataclasses import dataclass

import torch
from transformers import AutoModelForCausalLM, PretrainedConfig

GIB = 1024**3
"""Bytes."""
TRAINED_WITH = {("qwen3", 40_960): 32_768}
"""(model type, positions in the config) -> positions in training, where the config says more:
Qwen3's counts 8,192 tokens of answer on top."""
OPTIMISER_BYTES = 12
"""Per trained weight: a float32 copy's gradient and AdamW's two moments (4 + 4 + 4)."""


@dataclass(frozen=True)
class MemoryNeeds:
    """Bytes that one model takes for training with LoRA and sampling on one device."""

    weights: int
    """The frozen weights."""
    sampling_copy: int
    """The merged copy that our own fast sampler makes (`extract_weights`); 0 for other samplers."""
    adapters: int
    """LoRA adapters with gradient and optimiser."""
    cache: int
    """Keys and values of all rows at full length."""

    @property
    def total(self) -> int:
        """All of it."""
        return self.weights + self.sampling_copy + self.adapters + self.cache


def num_parameters(config: PretrainedConfig) -> int:
    """Weights of the model that a config describes; tied ones count once."""
    with torch.device("meta"):
        return AutoModelForCausalLM.from_config(config).num_parameters()


def cache_bytes_per_token(config: PretrainedConfig, bytes_per_number: int = 2) -> int:
    """Bytes of keys and values that one token keeps, in all layers; 2 a number in bfloat16.

    Of models whose every layer attends to everything (Llama, Qwen2, Qwen3).
    """
    kv_heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
    return 2 * config.num_hidden_layers * kv_heads * _head_dim(config) * bytes_per_number


def lora_parameters(config: PretrainedConfig, rank: int) -> int:
    """Weights of LoRA adapters on all linear layers of the blocks of a Llama, Qwen2 or Qwen3."""
    hidden, middle = config.hidden_size, config.intermediate_size
    head_dim = _head_dim(config)
    queries, keys = config.num_attention_heads * head_dim, config.num_key_value_heads * head_dim
    attention = (hidden + queries) * 2 + (hidden + keys) * 2  # q and o; k and v
    return config.num_hidden_layers * rank * (attention + 3 * (hidden + middle))


def memory_needs(
    config: PretrainedConfig,
    *,
    rank: int = 16,
    rows: int = 8,
    context: int = 16_384,
    weight_bytes: float = 2.0,
    sampling_copy: bool = False,
) -> MemoryNeeds:
    """What training with LoRA and sampling `rows` episodes of `context` tokens takes.

    Args:
        rank: of the adapters; 0 = none.
        weight_bytes: a frozen weight: 4 in float32, 2 in bfloat16, about 0.55 in four bits.
        sampling_copy: True for our own sampler on Llama, Qwen2 and Qwen3.
    """
    count = num_parameters(config)
    return MemoryNeeds(
        weights=int(count * weight_bytes),
        sampling_copy=2 * count if sampling_copy else 0,
        adapters=lora_parameters(config, rank) * (4 + OPTIMISER_BYTES),
        cache=rows * context * cache_bytes_per_token(config),
    )


def with_positions(config: PretrainedConfig, positions: int) -> PretrainedConfig:
    """The config of the same model with more positions, by YaRN; itself if it has as many.

    YaRN's factor is the wanted number over the one the model was trained with, so 131,072 positions
    of a model trained with 32,768 are a factor of 4. It acts on short texts too, and makes the
    model a little worse on them: ask for no more than is needed.

    Raises ValueError for a model without rotary positions, or one that is stretched already.
    Source: Peng et al. 2023 (YaRN, arXiv:2309.00071).
    """
    native = config.max_position_embeddings
    if positions <= native:
        return config
    rope = getattr(config, "rope_parameters", None)
    if not rope or rope.get("rope_type") != "default":  # Gemma 3 has two kinds, each with its own
        raise ValueError(
            f"positions: expected a model with plain rotary positions to stretch from {native} to "
            f"{positions}, got {rope}"
        )
    trained = TRAINED_WITH.get((config.model_type, native), native)
    longer = copy.deepcopy(config)
    longer.rope_parameters = {
        **rope,
        "rope_type": "yarn",
        "factor": positions / trained,
        "original_max_position_embeddings": trained,
    }
    longer.max_position_embeddings = positions
    return longer


def choose_device(device: str, *, is_small: bool) -> str:
    """The device that "auto" means on this machine. Raises ValueError for one that is not there."""
    there = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
    there += ["mps"] if torch.backends.mps.is_available() else []
    if device == "auto":
        return "cpu" if is_small else there[1] if len(there) > 1 else "cpu"
    if device.partition(":")[0] not in there:
        raise ValueError(f"device: expected one of {there} on this machine, got {device!r}")
    return device


def choose_dtype(dtype: torch.dtype | str, device: str, count: int) -> torch.dtype:
    """The type of numbers that "auto" means for a model of `count` weights on a device."""
    if dtype != "auto":
        return dtype
    if device != "cpu":
        return torch.bfloat16
    return torch.float32 if 4 * count <= _machine_memory() // 2 else torch.bfloat16


def _head_dim(config: PretrainedConfig) -> int:
    """Numbers in one head's query, key or value."""
    return getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads


def _machine_memory() -> int:
    """Bytes of memory in this machine."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
