"""What docs/models.md says of memory is what the configs give."""

import re
from pathlib import Path

import pytest
from transformers import Qwen2Config, Qwen3Config

from workbench.diagnostics import gpu_memory
from workbench.policies.opening import PINNED
from workbench.policies.sizing import num_parameters

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "models.md").read_text("utf-8")
ROW = r"^\| (Qwen[\w.-]+) " + r"\| ([\d.]+) " * 4 + r"\| (\d+) KiB " + r"\| ([\d.]+) " * 2 + r"\|$"
ROWS = {found[0]: found[1:] for found in re.findall(ROW, PAGE, re.MULTILINE)}
SIZES = {  # hidden, layers, heads, KV heads, head size, feed-forward, vocabulary, tied
    "Qwen2.5-Coder-0.5B-Instruct": (896, 24, 14, 2, 64, 4864, 151_936, True),
    "Qwen2.5-Coder-1.5B-Instruct": (1536, 28, 12, 2, 128, 8960, 151_936, True),
    "Qwen2.5-Coder-3B-Instruct": (2048, 36, 16, 2, 128, 11_008, 151_936, True),
    "Qwen2.5-Coder-7B-Instruct": (3584, 28, 28, 4, 128, 18_944, 152_064, False),
    "Qwen3-0.6B": (1024, 28, 16, 8, 128, 3072, 151_936, True),
    "Qwen3-1.7B": (2048, 28, 16, 8, 128, 6144, 151_936, True),
    "Qwen3-4B": (2560, 36, 32, 8, 128, 9728, 151_936, True),
    "Qwen3-8B": (4096, 36, 32, 8, 128, 12_288, 151_936, False),
}


def config_of(name):
    names = (
        *("hidden_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads"),
        *("head_dim", "intermediate_size", "vocab_size", "tie_word_embeddings"),
    )
    kind = Qwen3Config if name.startswith("Qwen3") else Qwen2Config
    return kind(**dict(zip(names, SIZES[name])))


def test_every_pinned_model_has_a_row():
    assert {f"Qwen/{name}" for name in ROWS} == set(PINNED) and set(ROWS) == set(SIZES)
    assert all(re.fullmatch(r"[0-9a-f]{40}", commit) for commit in PINNED.values())


@pytest.mark.parametrize("name", SIZES)
def test_the_row_of_a_model_is_its_configs(name):
    config = config_of(name)
    token, short, long = (
        gpu_memory(config, sequences=1, context=context) for context in (1, 16_384, 131_072)
    )
    needs = [short.weights, gpu_memory(config, dtype="nf4").weights, short.trained]
    expected = [f"{num_parameters(config) / 1e9:.2f}", *map(gib, needs)]
    expected += [f"{token.kv_cache / 1024:.0f}", gib(short.kv_cache), gib(long.kv_cache)]
    assert list(ROWS[name]) == expected


def gib(num_bytes):
    return f"{num_bytes / 2**30:.1f}"
