"""The chat format of a model: how an episode becomes the token ids that its chat template makes.

Stage: policy. A tokenizer with a chat template in; prompt ids of each turn out. Only what is new is
ever rendered: the first prompt is the whole conversation so far, a later one is what follows the
end of the model's own message. Old turns are never put through the template again, which would
change their ids (some templates rewrite them, Qwen3's drops their thinking) and with them what the
policy is said to have done.

A template that shows tools, and calls them in a notation that the environment reads, gets their
schemas and hears answers in the role "tool"; for any other the commands are described in words and
answers come from the user.
Left out: images; several tool calls in one message.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from jinja2 import TemplateError
from transformers import PreTrainedTokenizerBase

from workbench.policies.tools import ALONE, SYSTEM, plain_instructions, schemas

_TEXT, _SAID = "\ufdd1text\ufdd1", "\ufdd2said\ufdd2"
"""Stand for a message's content while a template is looked at; noncharacters, in no text."""
_CALL = {"name": "cat", "arguments": {"file": "lib.py"}}
_NOTATIONS = (
    '<tool_call>\n{"name": "cat", "arguments": ',
    "<tool_call>\n<function=cat>\n<parameter=file>\n",
    '{"name": "cat", "parameters": ',
)
"""How those templates write _CALL whose calls the environment can read (`notations`)."""
_FAULTS = (TemplateError, TypeError, KeyError, IndexError, ValueError)
"""What templates raise for messages they do not foresee."""


@dataclass(frozen=True)
class ChatFormat:
    """How one model is spoken to; made by `chat_format`."""

    tokenizer: PreTrainedTokenizerBase
    """Whose chat template it is."""
    style: Literal["tools", "plain"]
    """Tool schemas by the template, or commands described in words."""
    system: str
    """The system message; "" = none."""
    preface: str = ""
    """What stands before the first observation, where the template has no system role."""
    tools: tuple[dict[str, Any], ...] = ()
    """Schemas that the template gets."""
    options: Mapping[str, Any] | None = None
    """Further options of the template."""
    end_id: int | None = None
    """Token with which the model ends a message; found by `chat_format`."""

    def encode(self, text: str, first: bool) -> list[int]:
        """Prompt ids of one turn, up to where the model speaks."""
        encode = self.tokenizer.encode
        if not _holds_special(self.tokenizer, text):
            return encode(self.prompt(text, first), add_special_tokens=False)
        before, _, after = self.prompt(_TEXT, first).partition(_TEXT)
        return [  # text that looks like a special token stays text
            *encode(before, add_special_tokens=False),
            *encode(text, add_special_tokens=False, split_special_tokens=True),
            *encode(after, add_special_tokens=False),
        ]

    def prompt(self, text: str, first: bool) -> str:
        """What the template writes around an observation: of a later one, from behind the token
        that ended the model's message."""
        if first:
            told = [{"role": "system", "content": self.system}] if self.system else []
            return self._render([*told, {"role": "user", "content": self.preface + text}])
        role = "tool" if self.style == "tools" else "user"
        rendered = self._render([*self._said(), {"role": role, "content": text}])
        end = "" if self.end_id is None else self.tokenizer.decode([self.end_id])
        return rendered.partition(_SAID)[2].removeprefix(end)

    def decode(self, ids: Sequence[int]) -> str:
        """What the model said, thinking and tool calls included."""
        return self.tokenizer.decode(
            ids, skip_special_tokens=False, clean_up_tokenization_spaces=False
        )

    def _said(self, **more: Any) -> list[dict[str, Any]]:
        asked = {"role": "user", "content": "-"}
        return [asked, {"role": "assistant", "content": _SAID, **more}]

    def _render(self, messages: list[dict], add_generation_prompt: bool = True) -> str:
        return self.tokenizer.apply_chat_template(
            messages,
            tools=list(self.tools) or None,
            tokenize=False,
            add_generation_prompt=add_generation_prompt,
            **(self.options or {}),
        )


def chat_format(
    tokenizer: PreTrainedTokenizerBase,
    *,
    style: Literal["auto", "tools", "plain"] = "auto",
    system: str = SYSTEM,
    tools: tuple[str, ...] = ALONE,
    options: Mapping[str, Any] | None = None,
) -> ChatFormat:
    """The chat format of a tokenizer's template.

    Args:
        style: "auto" = "tools" if the template has them in a notation that can be read, else
            "plain".
        system: the system message; with "plain" the description of the commands follows it. A
            template without a system role gets it in front of the first observation.
        tools: which tools the model is told of.
        options: of the template, such as {"enable_thinking": False} for Qwen3.
    Raises:
        ValueError: no chat template, one without an end of the model's message or for images, or
            one without tools though `style` asks for them.
    """
    if not getattr(tokenizer, "chat_template", None):
        raise ValueError(
            f"{tokenizer.name_or_path or 'tokenizer'}: expected a chat template, got none; take "
            "the model's instruct version, or the tokenizer of `open_policy`, which gives a base "
            "model a template (TRL: processing_class=open_policy(...).tokenizer)"
        )
    called = ChatFormat(tokenizer, "tools", system, "", tuple(schemas(tools)), options)
    has_tools = bool(tools) and _has_tools(called)
    if style == "tools" and not has_tools:
        raise ValueError(
            "style: the chat template shows no tools, or writes calls in a notation that the "
            'environment does not read; take "plain"'
        )
    if has_tools and style != "plain":
        made = called
    else:
        told = f"{system}\n\n{plain_instructions(tools)}".strip() if tools else system
        made = ChatFormat(tokenizer, "plain", told, options=options)
        if told and not _takes_system(made):
            made = ChatFormat(tokenizer, "plain", "", f"{told}\n\n", options=options)
    if _TEXT not in made.prompt(_TEXT, True):
        raise ValueError("chat template: expected one for messages of text, got another kind")
    return replace(made, end_id=_end_id(made))


def answer_format(
    tokenizer: PreTrainedTokenizerBase, options: Mapping[str, Any] | None = None
) -> ChatFormat:
    """The chat format for tasks of one turn: the statement is all that the model is told.

    Told of commands, as `chat_format` does, it would write `cat lib.py` where a program is wanted.
    `options` as there.
    """
    return chat_format(tokenizer, system="", tools=(), options=options)


def _end_id(form: ChatFormat) -> int:
    """The token right behind what the model says."""
    rest = form._render(form._said(), add_generation_prompt=False).partition(_SAID)[2]
    ids = form.tokenizer.encode(rest, add_special_tokens=False)
    if not ids or ids[0] not in form.tokenizer.added_tokens_decoder:
        raise ValueError(
            "chat template: expected a special token behind the assistant's message, got "
            f"{rest[:20]!r}; without one a message has no end"
        )
    return ids[0]


def _has_tools(form: ChatFormat) -> bool:
    """Whether the model would see every tool and the answers, and call in a readable notation."""
    try:
        first, later = form.prompt(_TEXT, True), form.prompt(_TEXT, False)
        said = form._said(tool_calls=[{"type": "function", "function": _CALL}])
        said[0]["content"] = _TEXT
        call = form._render(said, add_generation_prompt=False).partition(_TEXT)[2]
    except _FAULTS:
        return False
    names = [tool["function"]["description"] for tool in form.tools]
    readable = any(notation in call for notation in _NOTATIONS)
    return readable and all(name in first for name in names) and later.count(_TEXT) == 1


def _takes_system(form: ChatFormat) -> bool:
    try:
        return form.system.splitlines()[-1] in form.prompt(_TEXT, True)
    except _FAULTS:
        return False


def _holds_special(tokenizer: PreTrainedTokenizerBase, text: str) -> bool:
    tokens = tokenizer.added_tokens_decoder.values()
    return any(token.special and token.content in text for token in tokens)
