"""Sampling from a causal language model with a KV cache that lives across turns."""

from workbench.sampler.session import CausalLMSession, WireCodec
from workbench.sampler.turns import choose_tokens
from workbench.sampler.weights import ModelWeights, extract_weights
from workbench.sampler.whole_model import WholeModelSession

__all__ = [
    "CausalLMSession",
    "ModelWeights",
    "WholeModelSession",
    "WireCodec",
    "choose_tokens",
    "extract_weights",
]
