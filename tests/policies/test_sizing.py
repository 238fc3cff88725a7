"""Weights counted from configs, against the sizes that the models' makers publish."""

import pytest
import torch
from transformers import Gemma3TextConfig, Qwen2Config, Qwen3Config

from workbench.policies import sizing

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
    count = sizing.num_parameters(config_of(QWEN_CODER[size]))
    assert count == pytest.approx(PUBLISHED[size], rel=0.003)


def test_yarn_stretches_by_the_wanted_over_the_native_number():
    config = config_of(QWEN_CODER["half"])
    longer = sizing.with_positions(config, 131_072)
    assert longer.rope_parameters["factor"] == 4.0
    assert longer.rope_parameters["original_max_position_embeddings"] == 32_768
    assert longer.max_position_embeddings == 131_072 and config.max_position_embeddings == 32_768
    assert sizing.with_positions(config, 4096) is config
    qwen3 = config_of((1024, 28, 16, 8, 128, 3072, 151_936, True), Qwen3Config)
    qwen3.max_position_embeddings = 40_960  # of which 32,768 were trained with
    assert sizing.with_positions(qwen3, 131_072).rope_parameters["factor"] == 4.0
    with pytest.raises(ValueError, match="plain rotary positions to stretch from 131072"):
        sizing.with_positions(longer, 262_144)
    with pytest.raises(ValueError, match="plain rotary positions .*'sliding_attention'"):
        sizing.with_positions(Gemma3TextConfig(max_position_embeddings=32_768), 131_072)


def test_auto_is_what_the_machine_has():
    assert sizing.choose_device("auto", is_small=True) == "cpu"
    assert sizing.choose_dtype("auto", "cpu", 10**6) == torch.float32
    assert sizing.choose_dtype("auto", "cpu", 10**15) == torch.bfloat16  # no machine holds that
    assert sizing.choose_dtype("auto", "cuda", 10**6) == torch.bfloat16
    assert sizing.choose_dtype(torch.float16, "cpu", 10**6) == torch.float16
