"""How else a command may be written: tool calls as JSON, a fenced block, after some thinking.

Stage: environments. The whole message of a chat model in, the one command in it out, or why there
is none. A message that is a command as it stands is never looked at twice, so a policy that has
learned the plain commands meets no second dialect.

    edit lib.py 3|    return x                      the command itself
    <tool_call>{"name": "edit", "arguments": {"file": "lib.py", "line": 3, ...}}</tool_call>
    <tool_call><function=cat><parameter=file>lib.py</parameter></function></tool_call>
    ```                                             the last fenced block of a message,
    edit lib.py 3|    return x                      a command or a tool call's JSON
    ```
    {"name": "cat", "parameters": {"file": "lib.py"}}   JSON as all of the message (Llama)

Left out: several commands in a message (refused: each waits for its answer).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from workbench.environments.parsing import MAX_ECHO, parse_command
from workbench.records import ToolCall

Parse = Callable[[str], tuple[ToolCall | None, str | None]]

OPEN_CALL, CLOSE_CALL = "<tool_call>", "</tool_call>"
OPEN_THOUGHT, CLOSE_THOUGHT = "<think>", "</think>"
OPEN_FUNCTION, OPEN_PARAMETER, CLOSE_PARAMETER = "<function=", "<parameter=", "</parameter>"
FENCE = "```"
FIELDS = {
    "ls": "",
    "cat": "{file}",
    "grep": "{word}",
    "run": "",
    "edit": "{file} {line}|{text}",
    "insert": "{file} {line}|{text}",
    "submit": "",
    "hand": "{message}",
}
"""Each tool's argument, made of its named ones."""


def parse_message(text: str, parse: Parse = parse_command) -> tuple[ToolCall | None, str | None]:
    """The tool call in a message, or None and the reason: exactly one of the two is None.

    Args:
        text: what the policy said, whole.
        parse: what reads the command once it is found.

    >>> parse_message('So: <tool_call>{"name": "cat", "arguments": {"file": "lib.py"}}</tool_call>')
    (ToolCall(name='cat', argument='lib.py'), None)
    >>> parse_message("<think>Where is f?</think>\\n```\\ngrep f\\n```")
    (ToolCall(name='grep', argument='f'), None)
    """
    call, error = parse(text)
    if call is not None or not _is_written_otherwise(text):
        return call, error
    if OPEN_THOUGHT in text and CLOSE_THOUGHT not in text:
        return None, "the thinking does not end"
    answer = text.rpartition(CLOSE_THOUGHT)[2].strip()
    found = [part.partition(CLOSE_CALL)[0] for part in answer.split(OPEN_CALL)[1:]]
    if len(found) > 1:
        return None, f"one tool call a message, got {len(found)}"
    if not found:
        blocks = answer.split(FENCE)[1:-1:2]  # closed ones
        found = [_without_language(blocks[-1])] if blocks else [answer]
    command = found[0].strip("\n")
    if command.lstrip().startswith("{"):
        command, error = command_of_json(command)
    elif command.lstrip().startswith(OPEN_FUNCTION):
        command, error = command_of_tags(command)
    else:
        error = None
    return (None, error) if error is not None else parse(command)


def command_of_json(text: str) -> tuple[str, str | None]:
    """(command line, None) of a tool call's JSON, or ("", why it is none).

    `arguments` (Llama: `parameters`) may be an object, or the JSON text of one as OpenAI's servers
    send it; its fields those of FIELDS, or the one field "argument".
    """
    try:
        call = json.loads(text)
        name, arguments = call["name"], call.get("arguments", call.get("parameters", {}))
        if isinstance(arguments, str):
            arguments = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return "", "the tool call is not JSON"
    except (KeyError, TypeError, AttributeError):
        return "", "a tool call needs name and arguments"
    if not isinstance(name, str) or not isinstance(arguments, Mapping):
        return "", "a tool call needs a name and an object of arguments"
    return command_line(name, arguments)


def command_of_tags(text: str) -> tuple[str, str | None]:
    """(command line, None) of a call in tags, or ("", what is missing): Qwen3-Coder, Qwen3.5.

    A line break behind a value's opening tag and before its closing one are not part of it.
    """
    name, _, rest = text.partition(OPEN_FUNCTION)[2].partition(">")
    arguments = {}
    for part in rest.split(OPEN_PARAMETER)[1:]:
        field, _, value = part.partition(">")
        value = value.partition(CLOSE_PARAMETER)[0]
        arguments[field] = value.removeprefix("\n").removesuffix("\n")
    return command_line(name, arguments)


def command_line(name: str, arguments: Mapping[str, Any]) -> tuple[str, str | None]:
    """(command line, None) of a tool and its named arguments, or ("", what is missing).

    >>> command_line("edit", {"file": "lib.py", "line": 3, "text": "    return x"})
    ('edit lib.py 3|    return x', None)
    """
    if set(arguments) == {"argument"}:
        argument = str(arguments["argument"])
    elif name not in FIELDS:
        return "", f"unknown command {name[:MAX_ECHO]}"
    else:
        try:
            argument = FIELDS[name].format_map(arguments)
        except KeyError as missing:
            return "", f"{name} needs {missing.args[0]}"
    return (f"{name} {argument}" if argument else name), None


def _is_written_otherwise(text: str) -> bool:
    marks = (OPEN_CALL, CLOSE_THOUGHT, OPEN_THOUGHT, FENCE)
    return any(mark in text for mark in marks) or text.lstrip().startswith('{"')


def _without_language(block: str) -> str:
    """A fenced block without what stands behind its opening fence."""
    first, line_break, rest = block.partition("\n")
    return rest if line_break and not first.strip().count(" ") else block
