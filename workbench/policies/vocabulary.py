"""A tokenizer held against the model beside it: does text survive, has every token a row?

Stage: policy. Both come in as they were loaded. Left out: whether they were trained together, which
only the model's answers tell.
"""

from __future__ import annotations

from torch import nn
from transformers import PreTrainedTokenizerBase

_CODE = "def f(x):\n    return x + 1"


def expect_vocabulary(model: nn.Module, tokenizer: PreTrainedTokenizerBase) -> None:
    """Raises ValueError if the tokenizer loses text, or makes tokens outside the embedding.

    `from_pretrained` makes a tokenizer of a folder without one, empty, and gives one without
    padding a new token that its model does not know. A special token that neither pads, begins or
    ends a text nor stands in the chat template may lie outside, as Gemma 3's for images does.
    """
    name = tokenizer.name_or_path or "tokenizer"
    ids = tokenizer.encode(_CODE, add_special_tokens=False)
    back = tokenizer.decode(ids, clean_up_tokenization_spaces=False)
    if back.strip() != _CODE:
        raise ValueError(
            f"{name}: expected a tokenizer that gives back what it reads, got {back!r} for "
            f"{_CODE!r}; are its files there, tokenizer.json above all? "
            "tokenizer.save_pretrained(folder) writes them"
        )
    num_rows = model.get_input_embeddings().weight.shape[0]
    special = {i for i, token in tokenizer.added_tokens_decoder.items() if token.special}
    used = {tokenizer.pad_token, tokenizer.bos_token, tokenizer.eos_token}
    outside = [
        token
        for token, i in tokenizer.get_vocab().items()
        if i >= num_rows
        and (i not in special or token in used or token in str(tokenizer.chat_template))
    ]
    if outside:
        raise ValueError(
            f"{name}: expected tokens that the model's embedding of {num_rows} rows holds, got "
            f"{sorted(outside)[:8]} beyond it; give the model rows for them, "
            "model.resize_token_embeddings(len(tokenizer)), and save both; if it is the padding, "
            "another token can be named, pad_token=..."
        )
