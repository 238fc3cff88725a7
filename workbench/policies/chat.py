"""The chat format of a model: how an episode becomes the token ids that its chat template makes.

Stage: policy. A tokenizer with a chat template in; prompt ids of each turn out. Only what is new is
ever rendered: the first prompt is the whole conversation so far, a later one is what follows the
end of the model's own message. Old turns are never put through the template again, which would
change their ids (some templates rewrite them, Qwen3's drops their thinking) and with them what the
policy is said to have done.

A template that knows tools gets their schemas and hears answers in the role "tool"; for any other
the commands are described in words and answers come from the user.
Left out: images; several tool calls in one message.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from jinja2 import TemplateError
from transformers import PreTrainedTokenizerBase

from workbench.policies.tools import ALONE, SYSTEM, plain_instructions, schemas

_TEXT, _SAID = "\ufdd1text\ufdd1", "\ufdd2said\ufdd2"
"""Stand for a message's content while a template is rendered; noncharacters, in no text."""


@dataclass(frozen=True)
class ChatFormat:
    """How one model is spoken to; made by `chat_format`."""

    tokenizer: PreTrainedTokenizerBase
    """Whose chat template it is."""
    style: Literal["tools", "plain"]
    """Tool schemas by the template, or commands described in words."""
    end_id: int
    """Token with which the model ends a message."""
    first: tuple[str, str]
    """What stands before and after the first observation."""
    later: tuple[str, str]
    """What stands before and after any other, beginning behind the end of the model's message."""

    def encode(self, text: str, first: bool) -> list[int]:
        """Prompt ids of one turn, up to where the model speaks."""
        before, after = self.first if first else self.later
        if not _holds_special(self.tokenizer, text):
            return self.tokenizer.encode(before + text + after, add_special_tokens=False)
        return [  # text that looks like a special token stays text
            *self.tokenizer.encode(before, add_special_tokens=False),
            *self.tokenizer.encode(text, add_special_tokens=False, split_special_tokens=True),
            *self.tokenizer.encode(after, add_special_tokens=False),
        ]

    def decode(self, ids: Sequence[int]) -> str:
        """What the model said, thinking and tool calls included."""
        return self.tokenizer.decode(
            ids, skip_special_tokens=False, clean_up_tokenization_spaces=False
        )


def chat_format(
    tokenizer: PreTrainedTokenizerBase,
    *,
    style: Literal["auto", "tools", "plain"] = "auto",
    system: str = SYSTEM,
    tools: tuple[str, ...] = ALONE,
    options: Mapping[str, Any] = MappingProxyType({}),
) -> ChatFormat:
    """The chat format of a tokenizer's template.

    Args:
        style: "auto" = "tools" if the template shows tools to the model, else "plain".
        system: the system message; with "plain" the description of the commands follows it. A
            template without a system role gets it in front of the first observation.
        tools: which tools the model is told of.
        options: of the template, such as {"enable_thinking": False} for Qwen3.
    Raises:
        ValueError: no chat template, one without an end of the model's message, or one that does
            not show tools though `style` asks for it.
    """
    if not getattr(tokenizer, "chat_template", None):
        raise ValueError(
            f"{tokenizer.name_or_path or 'tokenizer'}: expected a chat template, got none; take "
            "the model's instruct version, or set tokenizer.chat_template"
        )
    render = _Renderer(tokenizer, dict(options))
    knows_tools = render.shows_tools(schemas(tools))
    if style == "tools" and not knows_tools:
        raise ValueError('style: the chat template does not show tools to the model; take "plain"')
    if style == "plain" or not knows_tools:
        told = f"{system}\n\n{plain_instructions(tools)}".strip() if tools else system
        first, later = render.first(told), render.later("user")
        return ChatFormat(tokenizer, "plain", render.end_id(), first, later)
    first, later = render.first(system, schemas(tools)), render.later("tool")
    return ChatFormat(tokenizer, "tools", render.end_id(), first, later)


class _Renderer:
    """Pieces of what a chat template writes around messages."""

    def __init__(self, tokenizer: PreTrainedTokenizerBase, options: dict[str, Any]):
        self._tokenizer, self._options = tokenizer, options

    def first(self, system: str, tools: list | None = None) -> tuple[str, str]:
        """Around the first observation, up to where the model speaks."""
        asked = [{"role": "user", "content": _TEXT}]
        told = [{"role": "system", "content": system}] if system else []
        try:
            return _around(self._render(told + asked, tools=tools))
        except TemplateError:  # no system role
            asked[0]["content"] = f"{system}\n\n{_TEXT}"
            return _around(self._render(asked, tools=tools))

    def later(self, role: str) -> tuple[str, str]:
        """Around a later observation, from behind the end of the model's message."""
        rendered = self._render([*self._said(), {"role": role, "content": _TEXT}])
        before, after = _around(rendered.partition(_SAID)[2])
        end = self._tokenizer.decode([self.end_id()])
        return before.removeprefix(end), after

    def end_id(self) -> int:
        """The token right behind what the model says."""
        rendered = self._render(self._said(), add_generation_prompt=False)
        rest = rendered.partition(_SAID)[2]
        ids = self._tokenizer.encode(rest, add_special_tokens=False)
        if not ids or ids[0] not in self._tokenizer.added_tokens_decoder:
            raise ValueError(
                "chat template: expected a special token behind the assistant's message, got "
                f"{rest[:20]!r}; without one a message has no end"
            )
        return ids[0]

    def shows_tools(self, tools: list[dict]) -> bool:
        """Whether the model would see every tool, and the answers of tools."""
        if not tools:
            return False
        try:
            rendered = self._render([{"role": "user", "content": _TEXT}], tools=tools)
            answered = self._render([*self._said(), {"role": "tool", "content": _TEXT}])
        except (TemplateError, TypeError, KeyError, IndexError):
            return False
        names = [tool["function"]["description"] for tool in tools]
        return all(name in rendered for name in names) and answered.count(_TEXT) == 1

    def _said(self) -> list[dict[str, str]]:
        return [{"role": "user", "content": "-"}, {"role": "assistant", "content": _SAID}]

    def _render(self, messages, tools=None, add_generation_prompt=True) -> str:
        return self._tokenizer.apply_chat_template(
            messages,
            tools=tools,
            tokenize=False,
            add_generation_prompt=add_generation_prompt,
            **self._options,
        )


def _around(rendered: str) -> tuple[str, str]:
    before, found, after = rendered.partition(_TEXT)
    if not found:
        raise ValueError(f"chat template: expected a message's content in {rendered[:80]!r}")
    return before, after


def _holds_special(tokenizer: PreTrainedTokenizerBase, text: str) -> bool:
    tokens = tokenizer.added_tokens_decoder.values()
    return any(token.special and token.content in text for token in tokens)
