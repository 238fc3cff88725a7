"""A server's messages and ours: the text of what was said, its tool calls, its tokens.

Stage: policy. One choice of a chat completion in; the text that the environment reads, token ids
and log-probabilities out, and the text back as a message for the next request.
Left out: several choices a request.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

_OPEN, _CLOSE = "<tool_call>", "</tool_call>"


def text_of(message: Mapping[str, Any]) -> str:
    """What the model said as one text: thinking, content, tool calls as the environment reads them.

    >>> text_of({"content": None, "tool_calls": [{"function": {"name": "ls", "arguments": "{}"}}]})
    '<tool_call>{"name": "ls", "arguments": {}}</tool_call>'
    """
    thinking = message.get("reasoning_content") or message.get("reasoning") or ""
    parts = [f"<think>{thinking}</think>"] if thinking else []
    if message.get("content"):
        parts.append(message["content"])
    for call in message.get("tool_calls") or []:
        function = call["function"]
        said = {"name": function["name"], "arguments": _as_object(function.get("arguments"))}
        parts.append(f"{_OPEN}{json.dumps(said)}{_CLOSE}")
    return "\n".join(parts)


def assistant_message(text: str, call_id: str) -> dict[str, Any]:
    """The message of `text_of`'s text, for the next request: without the thinking, as servers want.

    Its tool calls are `call_id`, `call_id`_1 and so on.
    """
    said = text.rpartition("</think>")[2].strip("\n")
    content, *rest = said.split(_OPEN)
    calls = [_call(part.partition(_CLOSE)[0]) for part in rest]
    message: dict[str, Any] = {"role": "assistant", "content": content.strip("\n")}
    if not calls or None in calls:
        return {**message, "content": said}
    names = [call_id if k == 0 else f"{call_id}_{k}" for k in range(len(calls))]
    message["tool_calls"] = [
        {"id": name, "type": "function", "function": call} for name, call in zip(names, calls)
    ]
    return message


def sampled(choice: Mapping[str, Any]) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """(token ids, log-probabilities) of a choice, each () where the server does not tell them."""
    told = (choice.get("logprobs") or {}).get("content") or ()
    logprobs = tuple(float(token["logprob"]) for token in told)
    return tuple(choice.get("token_ids") or ()), logprobs


def heard_ids(
    before: Sequence[int], prompt: Sequence[int] | None
) -> tuple[int, tuple[int, ...]]:
    """(how many tokens of the sequence so far the prompt keeps, its other tokens)."""
    prompt = tuple(prompt or ())
    kept = 0
    for one, other in zip(before, prompt):
        if one != other:
            break
        kept += 1
    return kept, prompt[kept:]


def _as_object(arguments: Any) -> Any:
    """The arguments as an object; what is not JSON stays the text it is."""
    try:
        return (json.loads(arguments) if isinstance(arguments, str) else arguments) or {}
    except (ValueError, RecursionError):
        return arguments or {}


def _call(text: str) -> dict[str, str] | None:
    try:
        call = json.loads(text)
        arguments = call.get("arguments", {})
        as_text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        return {"name": call["name"], "arguments": as_text}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
