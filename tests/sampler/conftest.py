"""Small untrained models: what the sampler computes does not depend on training."""

import pytest
import torch
from transformers import (
    LlamaConfig,
    LlamaForCausalLM,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
)

from workbench.policies import CausalLMPolicy, build_model, build_tokenizer

TEXTS = ["fix f", "lib.py:1: def f(xs):", "edit lib.py 3|    return x", "FAIL f([3, -3]) got 2"]


@pytest.fixture(scope="session")
def tokenizer():
    return build_tokenizer(TEXTS * 4)


def small(kind, vocabulary):
    """A two-layer model of one architecture with grouped queries; sharper than a fresh one."""
    sizes = dict(
        vocab_size=vocabulary,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=512,
        tie_word_embeddings=True,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        if kind == "llama":
            model = LlamaForCausalLM(LlamaConfig(**sizes))
        elif kind == "qwen2":
            model = Qwen2ForCausalLM(Qwen2Config(**sizes))
        else:
            model = Qwen3ForCausalLM(Qwen3Config(**sizes, head_dim=16))
        for parameter in model.parameters():
            if parameter.ndim == 2:
                parameter.data.mul_(4)
            else:  # norms and biases: make each entry matter
                parameter.data.uniform_(0.5, 1.5)
    return model


@pytest.fixture(params=["tiny", "llama", "qwen2", "qwen3"])
def policy(request, tokenizer):
    if request.param == "tiny":
        return CausalLMPolicy(build_model(tokenizer), tokenizer)
    return CausalLMPolicy(small(request.param, len(tokenizer)), tokenizer)


@pytest.fixture
def tiny(tokenizer):
    return CausalLMPolicy(build_model(tokenizer), tokenizer)
