"""What a chat model's completion says: its text, and the commands of its tool calls.

Stage: adapters. A completion in TRL's, OpenAI's or verifiers' shape goes in, the texts our own
environment takes come out; and the way back, a trajectory as messages. Nothing is executed here.
Code out of a fence: `workbench.environments.answers`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from workbench.records import Trajectory, Turn

Message = Mapping[str, Any]
"""{"role", "content", "tool_calls"?}, as OpenAI, TRL and verifiers write it."""

def text_of(completion: str | Sequence[Message]) -> str:
    """The text of a completion: itself, or the content of its last assistant message.

    Raises ValueError if no message is the assistant's.
    """
    if isinstance(completion, str):
        return completion
    for message in reversed(completion):
        if message["role"] == "assistant":
            return _content(message)
    roles = [message["role"] for message in completion]
    raise ValueError(f"completion: expected a message of the assistant, got roles {roles}")


def commands_of(completion: Sequence[Message]) -> list[str]:
    """The commands of a conversation, one an element, as `Environment.step` takes them.

    A tool call `edit(argument="lib.py 3|x")` is the command "edit lib.py 3|x"; `arguments` may be
    an object or the JSON text of one. An assistant message without a call is a command as it
    stands, unless it is the last message: that is a closing remark, and ends the episode.
    """
    commands = []
    for index, message in enumerate(completion):
        if message["role"] != "assistant":
            continue
        calls = message.get("tool_calls") or []
        commands += [_command(call) for call in calls]
        if not calls and index < len(completion) - 1:
            commands.append(_content(message))
    return commands


def messages_of(trajectory: Trajectory) -> list[dict[str, Any]]:
    """A trajectory as a completion's messages: `commands_of` gives its commands back.

    What the environment said after the last turn is left out: nobody was told.
    """
    messages: list[dict[str, Any]] = []
    for turn in trajectory.turns:
        messages += _messages_of_turn(turn)
    return messages[:-1] if messages and messages[-1]["role"] != "assistant" else messages


def _messages_of_turn(turn: Turn) -> list[dict[str, Any]]:
    call = turn.tool_call
    if call is None or call.name == "write":  # no command, or the answer of a single turn
        said = {"role": "assistant", "content": turn.action.text}
        return [said, {"role": "user", "content": turn.observation}]
    arguments = {"argument": call.argument} if call.argument else {}
    function = {"name": call.name, "arguments": arguments}
    said = {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"type": "function", "function": function}],
    }
    return [said, {"role": "tool", "name": call.name, "content": turn.observation}]


def _command(call: Mapping[str, Any]) -> str:
    function = call.get("function", call)  # verifiers writes name and arguments one level up
    arguments = function.get("arguments") or {}
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            return f"{function['name']} {arguments}"  # as the model wrote it; the parser says why
    if not isinstance(arguments, Mapping) or set(arguments) - {"argument"}:
        return f"{function['name']} {json.dumps(arguments)}"
    argument = arguments.get("argument", "")
    return f"{function['name']} {argument}" if argument else function["name"]


def _content(message: Message) -> str:
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content)
