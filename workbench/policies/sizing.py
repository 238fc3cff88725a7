"""How large a model is, counted from its config, and what that decides: device and numbers' type.

Stage: policy. A `transformers` config goes in; a count of weights, a config with more positions, a
device and a type come out; nothing is loaded. Left out: what a GPU must hold to train it, which is
`workbench.diagnostics.gpu_memory`.
"""

from __future__ import annotations

import copy
import os

import torch
from transformers import AutoModelForCausalLM, PretrainedConfig

TRAINED_WITH = {("qwen3", 40_960): 32_768}
"""(model type, positions in the config) -> positions in training, where the config says more:
Qwen3's counts 8,192 tokens of answer on top."""


def num_parameters(config: PretrainedConfig) -> int:
    """Weights of the model that a config describes; tied ones count once."""
    with torch.device("meta"):
        return AutoModelForCausalLM.from_config(config).num_parameters()


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


def _machine_memory() -> int:
    """Bytes of memory in this machine."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
