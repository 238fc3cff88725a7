"""A tokenizer held against the model beside it: does text survive, has every token a row?

Stage: policy. Both come in as they were loaded. Left out: whether they were trained together, which
only the model's answers tell.
"""

from __future__ import annotations

from torch import nn
from transformers import PreTrainedTokenizerBase

_CODE = "def f(x):\n    return x + 1"


def expect_vocabulary(model: nn.Module, tokenizer: PreTrainedTokenizerBase) -> None:
    """Raises ValueError if the tokenizer loses text, or has a token outside the embedding.

    `from_pretrained` makes a tokenizer of a folder without one, empty, and gives one without
    padding a new token that its model does not know.
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
    outside = [token for token, i in tokenizer.get_vocab().items() if i >= num_rows]
    if outside:
        raise ValueError(
            f"{name}: expected tokens that the model's embedding of {num_rows} rows holds, got "
            f"{sorted(outside)[:8]} beyond it (the padding token is {tokenizer.pad_token!r}); give "
            "the model rows for them, model.resize_token_embeddings(len(tokenizer)), and save both"
        )
