"""The wire format: how an episode becomes token ids, and how ids become commands again.

Stage: policy. Observations and commands go in as text, token ids come out. The pretraining
corpus, the sampler and TRL all take the format from here, so a policy never meets two dialects:

    <|bos|><|task|>fix f<|end|><|act|>grep f<|end|><|obs|>lib.py:1: def f(xs):<|end|><|act|>...

The policy samples what follows <|act|>, up to and including <|end|>; all else is prompt.
Left out: a tool schema in the prompt (the tiny policy has learned its tools) and more than one
command per turn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

PAD, BOS, END = "<|pad|>", "<|bos|>", "<|end|>"
TASK, ACT, OBS, SYSTEM = "<|task|>", "<|act|>", "<|obs|>", "<|system|>"

SPECIAL_TOKENS = (
    *(PAD, BOS, END, TASK, ACT, OBS, SYSTEM),
    *("<|ask|>", "<|note|>", "<|code|>", "<|user|>", "<|agent|>"),
    *("<|extra_0|>", "<|extra_1|>", "<|extra_2|>", "<|extra_3|>"),
)
"""Every special token; a token's id is its index. Those after <|system|> are reserved: they have
an embedding from the start, so that a later skill needs no resized model."""

ROLES = {"task": TASK, "obs": OBS, "act": ACT, "system": SYSTEM}
"""Role name -> the token that opens a message of that role."""

BREAK = "\ufdd0"
"""A noncharacter that the tokenizer deletes. Written inside "<|", it stops text that merely looks
like a special token from becoming one, and leaves the ids of the plain text."""

COMMANDS = ("ls", "cat", "grep", "run", "edit", "submit")
"""Command names that TRL's parser accepts as tool calls."""

CHAT_TEMPLATE = """\
{%- macro plain(text) -%}{{ (text or '') | replace('<|', '<BREAK|') }}{%- endmacro -%}
{%- macro call(function) -%}
  {{- plain(function.name) -}}
  {%- if function.arguments is string -%}
    {{- raise_exception('expected tool-call arguments as an object, got a string') -}}
  {%- elif function.arguments and 'argument' in function.arguments -%}
    {%- if function.arguments.argument -%}
      {{- ' ' + plain(function.arguments.argument) -}}
    {%- endif -%}
  {%- elif function.arguments -%}
    {{- ' ' + plain(function.arguments | tojson) -}}
  {%- endif -%}
{%- endmacro -%}
{{- '<|bos|>' -}}
{%- for message in messages -%}
  {%- if message.role == 'assistant' -%}
    {{- '<|act|>' -}}
    {%- generation -%}
      {{- plain(message.content) -}}
      {%- for tool_call in message.tool_calls or [] -%}
        {%- if not loop.first -%}
          {{- raise_exception('expected one tool call per message, got more') -}}
        {%- endif -%}
        {{- call(tool_call.function) -}}
      {%- endfor -%}
      {{- '<|end|>' -}}
    {%- endgeneration -%}
  {%- elif message.role in ('user', 'tool', 'system') -%}
    {{- {'user': '<|task|>', 'tool': '<|obs|>', 'system': '<|system|>'}[message.role] -}}
    {{- plain(message.content) + '<|end|>' -}}
  {%- else -%}
    {{- raise_exception('expected role user, assistant, tool or system, got ' + message.role) -}}
  {%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- '<|act|>' -}}{%- endif -%}
""".replace("BREAK", BREAK)
"""Jinja template that renders OpenAI-style messages to exactly the wire ids. Rendering more
messages never changes the text of earlier ones, as TRL's tool loop requires."""

_CLOSE = r"<\|end\|>\Z"

RESPONSE_TEMPLATE: dict[str, Any] = {
    "defaults": {"role": "assistant"},
    "start_anchor": ACT,
    "fields": {
        "tool_calls": {
            # the last lookahead: a message cut off before its end is no command
            "open_pattern": rf"\A(?P<name>{'|'.join(COMMANDS)})(?: |(?=<\|end\|>\Z))(?=.*{_CLOSE})",
            "close_pattern": _CLOSE,
            "repeats": True,
            "content": "text",
            "content_args": {"strip": False},  # an edit's argument ends in indented code
            "transform": {
                "type": "function",
                "function": {"name": "{name}", "arguments": {"argument": "{content}"}},
            },
        },
        "content": {"close_pattern": _CLOSE, "content": "text", "content_args": {"strip": False}},
    },
}
"""How transformers and TRL read an action back: `edit lib.py 3|    x` becomes the tool call
edit(argument="lib.py 3|    x"); what does not start with a known command stays content."""


def encode_text(tokenizer: PreTrainedTokenizerFast, text: str) -> list[int]:
    """Ids of `text` as plain text: "<|end|>" inside it becomes characters, never a special id."""
    ids = tokenizer.encode(text, add_special_tokens=False, split_special_tokens=True)
    assert not set(ids) & set(tokenizer.all_special_ids), f"special id from plain text {text!r}"
    return ids


def message_ids(tokenizer: PreTrainedTokenizerFast, role: str, text: str) -> list[int]:
    """Ids of one whole message: role token, text, end of turn.

    Raises ValueError if `role` is not one of ROLES.
    """
    if role not in ROLES:
        raise ValueError(f"role: expected one of {sorted(ROLES)}, got {role!r}")
    marker, end = tokenizer.convert_tokens_to_ids([ROLES[role], END])
    return [marker, *encode_text(tokenizer, text), end]


def prompt_ids(
    tokenizer: PreTrainedTokenizerFast, role: str, text: str, first: bool = False
) -> list[int]:
    """Prompt tokens of one turn: what the policy is told, up to and including <|act|>.

    Args:
        role: "task" for the first observation, "obs" for later ones.
        text: the observation.
        first: True for the first message of an episode, which starts with <|bos|>.
    """
    bos, act = tokenizer.convert_tokens_to_ids([BOS, ACT])
    return [*([bos] if first else []), *message_ids(tokenizer, role, text), act]
