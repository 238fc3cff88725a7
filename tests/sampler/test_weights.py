"""What the sampler's forward pass can't compute is refused, never computed wrongly."""

import pytest
import torch
from peft import IA3Config, LoraConfig, PromptTuningConfig, get_peft_model
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

from workbench.policies import CausalLMPolicy
from workbench.records import SamplerSettings
from workbench.sampler import extract_weights

SIZES = dict(
    vocab_size=320,
    hidden_size=32,
    intermediate_size=48,
    num_hidden_layers=1,
    num_attention_heads=2,
    max_position_embeddings=128,
)


def test_the_copy_does_not_follow_the_model():
    model = LlamaForCausalLM(LlamaConfig(**SIZES))
    weights = extract_weights(model, 8)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(1.0)
    fresh = extract_weights(model, 8)
    for name in ("embed", "norm_out", "head"):
        assert torch.allclose(getattr(fresh, name), getattr(weights, name) + 1.0)
    for name in ("norm_in", "qkv", "out", "norm_mlp", "gate_up", "down"):
        old, new = getattr(weights.layers[0], name), getattr(fresh.layers[0], name)
        assert torch.allclose(new, old + 1.0)


def test_rotations_turn_by_position_times_frequency():
    """Position p turns pair j by p * 10000 ** (-2j / D) radians; D = 16 here."""
    weights = extract_weights(LlamaForCausalLM(LlamaConfig(**SIZES)), 4)
    assert weights.rotations.shape == (4, 8)
    angles = 3 * 10000.0 ** (-2 * torch.arange(8) / 16)
    assert torch.allclose(weights.rotations[3], torch.polar(torch.ones(8), angles))


def test_scaled_rotary_embeddings_are_the_models_own(tokenizer):
    rope = dict(
        rope_type="llama3",
        rope_theta=10000.0,
        factor=8.0,
        low_freq_factor=1.0,
        high_freq_factor=4.0,
        original_max_position_embeddings=16,
    )
    config = LlamaConfig(**{**SIZES, "vocab_size": len(tokenizer)}, rope_parameters=rope)
    policy = CausalLMPolicy(LlamaForCausalLM(config), tokenizer)
    session = policy.open(1, sampler=SamplerSettings(max_action_tokens=20, max_context=128))
    session.observe(0, "lib.py:1: def f(xs):" * 2)
    (action,) = session.act([0])
    ids = torch.tensor([action.new_ids + action.ids])
    with torch.no_grad():
        logprobs = policy.model(ids).logits[0].log_softmax(-1)
    count = len(action.ids)
    expected = logprobs[-count - 1 : -1].gather(-1, ids[0, -count:, None])[:, 0]
    assert action.logprobs == pytest.approx(expected.tolist(), abs=1e-5)


def test_other_architectures_and_biases_are_refused():
    gpt2 = GPT2LMHeadModel(GPT2Config(n_layer=1, n_embd=32, n_head=2, vocab_size=64))
    with pytest.raises(ValueError, match="expected one of .*'llama'.* got 'gpt2'"):
        extract_weights(gpt2, 8)
    with pytest.raises(ValueError, match="without biases"):
        extract_weights(LlamaForCausalLM(LlamaConfig(**SIZES, attention_bias=True)), 8)
    with pytest.raises(ValueError, match="activation: expected 'silu', got 'gelu'"):
        extract_weights(LlamaForCausalLM(LlamaConfig(**SIZES, hidden_act="gelu")), 8)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"use_dora": True}, "got .*Dora"),
        ({"alora_invocation_tokens": [1]}, "got .*ALora"),
        ({"lora_bias": True}, "got one with a bias"),
        ({"modules_to_save": ["lm_head"]}, "LoRA adapters only"),
    ],
)
def test_adapters_other_than_plain_lora_are_refused(options, reason):
    config = LoraConfig(r=2, target_modules=["q_proj"], **options)
    model = get_peft_model(LlamaForCausalLM(LlamaConfig(**SIZES)), config)
    with pytest.raises(ValueError, match=reason):
        extract_weights(model, 8)


@pytest.mark.parametrize(
    "config",
    [
        IA3Config(target_modules=["k_proj", "down_proj"], feedforward_modules=["down_proj"]),
        PromptTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=2),
    ],
    ids=["IA3", "prompt tuning"],
)
def test_adapters_that_are_no_lora_are_refused(config):
    model = get_peft_model(LlamaForCausalLM(LlamaConfig(**SIZES)), config)
    with pytest.raises(ValueError, match="adapter 'default': expected LoRA"):
        extract_weights(model, 8)
