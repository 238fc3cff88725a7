"""The tiny policy's parts: a byte-level BPE tokenizer and an untrained Llama.

Stage: policy. Texts go in, a `transformers` tokenizer and model come out, loadable afterwards
with AutoTokenizer and AutoModelForCausalLM. Left out: training them (`workbench.pretraining`).
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from workbench.policies.wire import (
    BOS,
    BREAK,
    CHAT_TEMPLATE,
    END,
    PAD,
    RESPONSE_TEMPLATE,
    SPECIAL_TOKENS,
)

PRE_SPLIT = r" ?[\p{L}_]+|\p{N}| ?[^\s\p{L}\p{N}_]+|\n *| {2,}|\s"
"""Pieces that BPE never merges across: a word with the blank before it, one digit, a run of
punctuation, a line break with the indentation after it, other blanks."""


def build_tokenizer(texts: Iterable[str], vocab_size: int = 512) -> PreTrainedTokenizerFast:
    """A byte-level BPE tokenizer trained on `texts`, with the wire format's special tokens.

    Args:
        texts: plain texts without special tokens (statements, commands, observations).
        vocab_size: ids in all; at least 256 bytes plus the special tokens.
    Returns:
        A left-padding tokenizer: eos = <|end|>, pad = <|pad|>, bos = <|bos|>; chat template and
        response template are part of it and survive `save_pretrained`.
    """
    smallest = 256 + len(SPECIAL_TOKENS)
    if vocab_size < smallest:
        raise ValueError(f"vocab_size: expected at least {smallest}, got {vocab_size}")
    bpe = Tokenizer(models.BPE())
    bpe.normalizer = normalizers.Replace(BREAK, "")
    bpe.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PRE_SPLIT), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    bpe.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        special_tokens=list(SPECIAL_TOKENS),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    bpe.train_from_iterator(texts, trainer)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=bpe,
        bos_token=BOS,
        eos_token=END,
        pad_token=PAD,
        additional_special_tokens=[t for t in SPECIAL_TOKENS if t not in (BOS, END, PAD)],
        padding_side="left",
        clean_up_tokenization_spaces=False,
        model_max_length=2048,
    )
    tokenizer.chat_template = CHAT_TEMPLATE
    tokenizer.response_template = RESPONSE_TEMPLATE
    return tokenizer


def build_model(
    tokenizer: PreTrainedTokenizerFast,
    *,
    hidden: int = 128,
    layers: int = 4,
    heads: int = 4,
    intermediate: int = 320,
    positions: int = 2048,
    seed: int = 0,
) -> LlamaForCausalLM:
    """An untrained float32 Llama with tied embeddings; 820,352 parameters at the defaults.

    The same seed gives the same weights; torch's global random state is left as it was.
    """
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=hidden,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=heads,
        intermediate_size=intermediate,
        max_position_embeddings=positions,
        tie_word_embeddings=True,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        attention_dropout=0.0,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return LlamaForCausalLM(config)
