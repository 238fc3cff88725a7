"""Plain text for a model that was never spoken to: the chat template of a base model.

Stage: policy. A tokenizer without a chat template goes in and comes out with one. Nothing in it is
a special token but the beginning of the text and the end of the model's own messages.
Left out: examples of a conversation, from which a base model would see how one goes.
"""

from __future__ import annotations

import warnings

from transformers import PreTrainedTokenizerBase

TRANSCRIPT = (
    "{{ bos_token }}{% for message in messages %}"
    "{{ message.role | capitalize }}:\n{{ message.content }}"
    "{{ eos_token if message.role == 'assistant' }}\n\n{% endfor %}"
    "{% if add_generation_prompt %}Assistant:\n{% endif %}"
)
"""Who speaks, a colon, what is said; the model's messages end as its documents did."""


def with_template(tokenizer: PreTrainedTokenizerBase) -> PreTrainedTokenizerBase:
    """The tokenizer with TRANSCRIPT as its chat template, and a warning, if it has none.

    Raises ValueError if it has no token for the end of a text either.
    """
    if tokenizer.chat_template:
        return tokenizer
    name = tokenizer.name_or_path or "tokenizer"
    if tokenizer.eos_token is None:
        raise ValueError(f"{name}: expected a chat template or an end-of-text token, got neither")
    warnings.warn(
        f"{name} has no chat template: taken for a base model and spoken to in plain text "
        f"(workbench.policies.TRANSCRIPT). It has to learn that {tokenizer.eos_token} ends a "
        "message; take the instruct version if there is one, see docs/models.md",
        stacklevel=3,
    )
    tokenizer.chat_template = TRANSCRIPT
    return tokenizer
