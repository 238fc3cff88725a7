"""A conversation as the template writes it, cut into what the model says and what it is told.

Stage: beside the loop. Messages and a tokenizer go in, labelled pieces of text come out; nothing is
taken from the ids or the mask that are being checked. A turn is cut out by rendering twice, with
and without it; where a template rewrites earlier turns (Qwen3 drops their thinking), a stand-in
conversation is rendered instead, as TRL does for tool results. Left out: images.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Label = Literal["prompt", "header", "model", "end", "separator", "observation"]
MODELS_OWN = frozenset({"model", "end"})
"""Labels of what the model samples: it learns these and no others."""

STAND_IN = {"role": "user", "content": "x"}


@dataclass(frozen=True)
class Piece:
    """A stretch of the conversation."""

    label: Label
    """header: the generation prompt; end: the token that ends the model's turn; separator: what the
    template writes after it; prompt and observation: everything else, before and after the first
    turn."""
    text: str
    """As it decodes."""


class Renderer:
    """The chat template, turned into ids."""

    def __init__(self, tokenizer: Any, template: str | None, tools: Sequence[Any] | None):
        """Raises ValueError for a tokenizer without a template."""
        if not (template or getattr(tokenizer, "chat_template", None)):
            raise ValueError(
                "tokenizer: expected one with a chat template, got none; give template=..."
            )
        self.tokenizer, self._template, self._tools = tokenizer, template, tools
        self._num_closing = 0
        bare, led = self.ids([STAND_IN]), self.ids([STAND_IN], header=True)
        same = next((i for i, (a, b) in enumerate(zip(bare, led)) if a != b), len(bare))
        if _special(tokenizer).issuperset(bare[same:]):  # Phi-3 closes what no turn will follow
            self._num_closing = len(bare) - same

    def ids(self, messages: Sequence[Mapping], header: bool = False) -> list[int]:
        """Ids of the messages; with `header` also of the generation prompt."""
        if not messages:
            return []
        ids = self.tokenizer.apply_chat_template(
            list(messages),
            tools=self._tools,
            chat_template=self._template,
            add_generation_prompt=header,
            tokenize=True,
            return_dict=False,
        )
        return ids if header else ids[: len(ids) - self._num_closing]


def pieces(messages: Sequence[Mapping], renderer: Renderer) -> list[Piece]:
    """The conversation in order. Raises ValueError if no message is the model's."""
    turns = [k for k, message in enumerate(messages) if message["role"] == "assistant"]
    if not turns:
        raise ValueError("messages: expected at least one of role 'assistant', got none")
    out: list[tuple[Label, list[int]]] = []
    previous: int | None = None
    for k in turns:
        told = _told(messages, previous, k, renderer)
        out.append(("prompt" if previous is None else "observation", told))
        out.append(("header", _header(messages[:k], renderer)))
        said = _said(messages, k, renderer)
        cut = _end_of_turn(said, renderer.tokenizer)
        out += [("model", said[: cut - 1]), ("end", said[cut - 1 : cut]), ("separator", said[cut:])]
        previous = k
    if messages[turns[-1] + 1 :]:
        out.append(("observation", _told(messages, previous, len(messages), renderer)))
    texts = [(label, "".join(decoded(renderer.tokenizer, ids))) for label, ids in out]
    return [Piece(label, text) for label, text in texts if text]


def _told(messages: Sequence[Mapping], previous: int | None, k: int, renderer: Renderer):
    """Ids of the messages between two turns of the model."""
    if previous is None:
        return renderer.ids(messages[:k])
    before, whole = renderer.ids(messages[: previous + 1]), renderer.ids(messages[:k])
    if whole[: len(before)] == before:
        return whole[len(before) :]
    lead = [STAND_IN, {**messages[previous], "content": "x"}]  # nothing in it to be dropped later
    return renderer.ids([*lead, *messages[previous + 1 : k]])[len(renderer.ids(lead)) :]


def _header(messages: Sequence[Mapping], renderer: Renderer) -> list[int]:
    """Ids of the generation prompt."""
    messages = messages or [STAND_IN]
    return renderer.ids(messages, header=True)[len(renderer.ids(messages)) :]


def _said(messages: Sequence[Mapping], k: int, renderer: Renderer) -> list[int]:
    """Ids of turn k after its header, with what the template writes behind it."""
    before, whole = renderer.ids(messages[:k], header=True), renderer.ids(messages[: k + 1])
    if before and whole[: len(before)] == before:
        return whole[len(before) :]
    before = renderer.ids([STAND_IN], header=True)
    return renderer.ids([STAND_IN, messages[k]])[len(before) :]


def _end_of_turn(said: Sequence[int], tokenizer: Any) -> int:
    """One past the last special token of a turn; its length if there is none."""
    special = _special(tokenizer)
    return max((i + 1 for i, token in enumerate(said) if token in special), default=len(said))


def _special(tokenizer: Any) -> set[int]:
    """Special tokens, those too that have no role of their own, as an end of turn beside eos."""
    added = tokenizer.added_tokens_decoder.items()
    return {*tokenizer.all_special_ids, *(token for token, about in added if about.special)}


def decoded(tokenizer: Any, ids: Sequence[int]) -> list[str]:
    """The text of each id, so that joined they are the text of all.

    Ids that only together are a character share it: the first has its text, the others "". A
    special token is never part of a character.
    """
    special = _special(tokenizer)
    texts: list[str] = []
    waiting: list[int] = []

    def flush() -> None:
        if waiting:
            text = tokenizer.decode(waiting, skip_special_tokens=False)
            texts.extend([text] + [""] * (len(waiting) - 1))
            waiting.clear()

    for token in ids:
        if token in special:
            flush()
        waiting.append(token)
        if not tokenizer.decode(waiting, skip_special_tokens=False).endswith("\ufffd"):
            flush()  # else: in the middle of a character
    flush()
    return texts
