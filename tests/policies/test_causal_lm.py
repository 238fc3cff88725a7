"""Opening, naming and saving policies."""

import pytest
import torch
from peft import LoraConfig
from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerFast

from workbench.policies import CausalLMPolicy, build_model, open_policy
from workbench.records import SamplerSettings


@pytest.fixture
def folder(tokenizer, tmp_path):
    CausalLMPolicy(build_model(tokenizer, layers=1), tokenizer).save(tmp_path / "policy")
    return tmp_path / "policy"


def test_a_saved_policy_opens_with_the_same_version_and_the_same_actions(tokenizer, folder):
    policy = CausalLMPolicy(build_model(tokenizer, layers=1), tokenizer)
    again = open_policy(folder)
    assert again.version == policy.version
    actions = []
    for one in (policy, again):
        session = one.open(1, seed=3, sampler=SamplerSettings(max_action_tokens=5))
        session.observe(0, "fix f")
        actions.append(session.act([0]))
    assert actions[0] == actions[1]


def test_the_version_follows_the_weights(folder):
    policy = open_policy(folder)
    first = policy.version
    weight = policy.model.model.norm.weight
    with torch.no_grad():
        weight[3] += 1.0
    second = policy.version
    with torch.no_grad():
        weight[3] -= 1.0
    assert second != first
    assert policy.version == first
    weight.data[3] += 1.0  # not counted by torch: noticed at the next open
    policy.open(1)
    assert policy.version == second


def test_lora_adds_adapters_and_freezes_the_rest(folder):
    config = LoraConfig(r=2, target_modules="all-linear")
    policy = open_policy(folder, lora=config, seed=4)
    trainable = {n for n, p in policy.model.named_parameters() if p.requires_grad}
    assert trainable and all("lora_" in name for name in trainable)
    assert open_policy(folder, lora=config, seed=4).version == policy.version
    assert open_policy(folder, lora=config, seed=5).version != policy.version


def test_a_saved_lora_policy_opens_with_its_adapters(folder, tmp_path):
    policy = open_policy(folder, lora=LoraConfig(r=2, target_modules="all-linear"))
    with torch.no_grad():
        for name, parameter in policy.model.named_parameters():
            if "lora_B" in name:
                parameter += 0.1
    policy.save(tmp_path / "adapters")
    again = open_policy(tmp_path / "adapters")
    ids = torch.tensor([[1, 3, 20, 2, 4]])
    assert torch.allclose(again.model(ids).logits, policy.model(ids).logits, atol=1e-6)


def test_an_unknown_name_says_what_there_is():
    with pytest.raises(ValueError, match="expected a folder that exists, one of .* got 'tinny'"):
        open_policy("tinny")


def test_a_tokenizer_without_wire_tokens_and_chat_template_is_refused(tokenizer):
    plain = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.BPE()))
    with pytest.raises(ValueError, match="expected a chat template, got none"):
        CausalLMPolicy(build_model(tokenizer, layers=1), plain)


def test_a_context_longer_than_the_models_positions_is_refused(tokenizer):
    policy = CausalLMPolicy(build_model(tokenizer, layers=1, positions=64), tokenizer)
    with pytest.raises(ValueError, match="at most the model's 64 positions, got 65"):
        policy.open(1, sampler=SamplerSettings(max_context=65))
    with pytest.raises(ValueError, match="temperature: expected 0 or more"):
        policy.open(1, sampler=SamplerSettings(temperature=-1.0, max_context=64))
