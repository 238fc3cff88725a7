import json
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    AutoModelForCausalLM,
    LlamaConfig,
    PreTrainedTokenizerFast,
    Qwen2Config,
    Qwen3Config,
)

from workbench.policies import build_tokenizer
from workbench.policies.tools import SYSTEM, schemas

TEXTS = [
    "fix f",
    "lib.py:1: def f(xs):",
    "edit lib.py 3|    return sum(x for x in xs)",
    "FAIL f([3, -3]) got 2 want 4",
    "cat lib.py",
]


@pytest.fixture(scope="session")
def tokenizer():
    return build_tokenizer(TEXTS * 4)


QWEN_TOKENS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
LLAMA_TOKENS = ["<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"]


def shipped_template(name):
    """A model family's chat template, as TRL carries it."""
    import trl

    return (Path(trl.__file__).parent / "chat_templates" / f"{name}.jinja").read_text("utf-8")


def make_chat_tokenizer(template, pad="<|endoftext|>", eos=None):
    """A small byte-level tokenizer with a family's template and its tokens."""
    special = LLAMA_TOKENS if template.startswith("llama") else QWEN_TOKENS
    special = ["<|endoftext|>", *[t for t in special if t != "<|endoftext|>"]]
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=900,
        special_tokens=special,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    bpe.train_from_iterator([*TEXTS, SYSTEM, *map(json.dumps, schemas())] * 4, trainer)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=bpe, eos_token=eos or special[-1], pad_token=pad, bos_token=special[1]
    )
    tokenizer.add_tokens(["<think>", "</think>", "<tool_call>", "</tool_call>"])
    tokenizer.chat_template = shipped_template(template)
    return tokenizer


@pytest.fixture(scope="session")
def chat_tokenizer():
    """A function: template's name -> a small byte-level tokenizer with it and its tokens."""
    return make_chat_tokenizer


def small_config(kind, vocabulary):
    """A two-layer config of one architecture; the sizes of a toy."""
    kinds = {"llama": LlamaConfig, "qwen2": Qwen2Config, "qwen3": Qwen3Config}
    return kinds[kind](
        vocab_size=vocabulary,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
        max_position_embeddings=4096,
        tie_word_embeddings=True,
    )


def save_chat_model(folder, kind="qwen2", template="qwen2_5", **options):
    """A model and a tokenizer of toy size in `folder`, as from the Hub; returns the folder."""
    tokenizer = make_chat_tokenizer(template, **options)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = AutoModelForCausalLM.from_config(small_config(kind, len(tokenizer)))
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture
def chat_folder(tmp_path):
    """A function: (architecture, template) -> a folder with such a model, as from the Hub."""

    def make(kind="qwen2", template="qwen2_5", **options):
        return save_chat_model(tmp_path / f"{kind}-{template}", kind, template, **options)

    return make
