"""Sampling from a causal language model with a KV cache that lives across turns."""

from workbench.sampler.session import CausalLMSession, WireCodec
from workbench.sampler.turns import choose_tokens
from workbench.sampler.weights import ModelWeights, extract_weights

__all__ = ["CausalLMSession", "ModelWeights", "WireCodec", "choose_tokens", "extract_weights"]
