"""Memory counted from configs, against the sizes that the models' makers publish."""

import pytest
import torch
from peft import LoraConfig, get_peft_model
from transformers import (
    AutoModelForCausalLM,
    Gemma3TextConfig,
    LlamaConfig,
    Qwen2Config,
    Qwen3Config,
)

from workbench.policies import memory

QWEN_CODER = dict(
    half=(896, 24, 14, 2, 64, 4864, 151_936, True),
    one_and_half=(1536, 28, 12, 2, 128, 8960, 151_936, True),
    three=(2048, 36, 16, 2, 128, 11_008, 151_936, True),
    seven=(3584, 28, 28, 4, 128, 18_944, 152_064, False),
)
PUBLISHED = dict(half=494_032_768, one_and_half=1.54e9, three=3.09e9, seven=7_615_616_512)


def config_of(sizes, kind=Qwen2Config):
    names = (
        *("hidden_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads"),
        *("head_dim", "intermediate_size", "vocab_size", "tie_word_embeddings"),
    )
    return kind(**dict(zip(names, sizes)), max_position_embeddings=32_768)


@pytest.mark.parametrize("size", QWEN_CODER)
def test_the_weights_of_qwen_coder_are_those_that_are_published(size):
    count = memory.num_parameters(config_of(QWEN_CODER[size]))
    assert count == pytest.approx(PUBLISHED[size], rel=0.003)


def test_a_token_keeps_a_key_and_a_value_a_layer_and_head():
    """7B: 2 x 28 layers x 4 heads x 128 numbers x 2 bytes = 57,344; 131,072 of them are 7 GiB."""
    per_token = memory.cache_bytes_per_token(config_of(QWEN_CODER["seven"]))
    assert per_token == 57_344 and per_token * 131_072 == 7 * memory.GIB
    assert memory.cache_bytes_per_token(config_of(QWEN_CODER["half"])) == 12_288


@pytest.mark.parametrize("kind", [LlamaConfig, Qwen2Config, Qwen3Config])
def test_adapters_have_as_many_weights_as_peft_makes(kind):
    config = config_of((32, 2, 4, 2, 16, 64, 100, True), kind)
    adapters = LoraConfig(r=2, target_modules="all-linear")
    model = get_peft_model(AutoModelForCausalLM.from_config(config), adapters)
    trained = sum(p.numel() for p in model.parameters() if p.requires_grad)
    assert memory.lora_parameters(config, 2) == trained


def test_needs_add_up():
    """One layer, by hand: 8 rows x 100 tokens x 2 x 2 heads x 16 x 2 bytes = 102,400."""
    config = config_of((32, 1, 4, 2, 16, 64, 100, True), Qwen3Config)
    needs = memory.memory_needs(config, rank=2, rows=8, context=100)
    count = memory.num_parameters(config)
    assert needs.cache == 102_400 and needs.weights == 2 * count and needs.sampling_copy == 0
    assert needs.adapters == 16 * memory.lora_parameters(config, 2)
    assert needs.total == needs.cache + needs.weights + needs.adapters
    copied = memory.memory_needs(config, rank=2, rows=8, context=100, sampling_copy=True)
    assert copied.total == needs.total + 2 * count


def test_yarn_stretches_by_the_wanted_over_the_native_number():
    config = config_of(QWEN_CODER["half"])
    longer = memory.with_positions(config, 131_072)
    assert longer.rope_parameters["factor"] == 4.0
    assert longer.rope_parameters["original_max_position_embeddings"] == 32_768
    assert longer.max_position_embeddings == 131_072 and config.max_position_embeddings == 32_768
    assert memory.with_positions(config, 4096) is config
    qwen3 = config_of((1024, 28, 16, 8, 128, 3072, 151_936, True), Qwen3Config)
    qwen3.max_position_embeddings = 40_960  # of which 32,768 were trained with
    assert memory.with_positions(qwen3, 131_072).rope_parameters["factor"] == 4.0
    with pytest.raises(ValueError, match="plain rotary positions to stretch from 131072"):
        memory.with_positions(longer, 262_144)
    with pytest.raises(ValueError, match="plain rotary positions .*'sliding_attention'"):
        memory.with_positions(Gemma3TextConfig(max_position_embeddings=32_768), 131_072)


def test_auto_is_what_the_machine_has():
    assert memory.choose_device("auto", is_small=True) == "cpu"
    assert memory.choose_dtype("auto", "cpu", 10**6) == torch.float32
    assert memory.choose_dtype("auto", "cpu", 10**15) == torch.bfloat16  # no machine holds that
    assert memory.choose_dtype("auto", "cuda", 10**6) == torch.bfloat16
    assert memory.choose_dtype(torch.float16, "cpu", 10**6) == torch.float16
