"""What a chat model is told about the environment's tools: JSON schemas, or a page of plain text.

Stage: policy. Nothing goes in; descriptions come out, as OpenAI's and transformers' `tools=` take
them. The environment reads what comes back (`workbench.environments.notations`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SYSTEM = (
    "You repair programs. Look at the files, change what is wrong, run the tests, and submit when "
    "you are done. One command a message: you see its result before the next."
)
"""What a chat model is told about its task, before the tools."""

FILE = ("file", "string", "Path of the file, as ls shows it.")
LINE = ("line", "integer", "Line number, counted from 1.")
TEXT = ("text", "string", "The new line, with its indentation.")

_TOOLS = {
    "ls": ("List the files.", ()),
    "cat": ("Show a file, each line with its number.", (FILE,)),
    "grep": ("Find the lines that contain a word.", (("word", "string", "The word."),)),
    "run": ("Run the tests and show what fails.", ()),
    "edit": ("Replace one line of a file.", (FILE, LINE, TEXT)),
    "insert": (
        "Add one line below a line of a file.",
        (FILE, ("line", "integer", "Line below which it goes; 0 = at the top."), TEXT),
    ),
    "submit": ("Hand in the files as they are. This ends the task.", ()),
    "hand": (
        "Hand over to the next agent.",
        (("message", "string", "What it must know; it sees nothing else of yours."),),
    ),
}

ALONE = ("ls", "cat", "grep", "run", "edit", "insert", "submit")
"""Tools of an agent that works by itself."""


def schemas(names: tuple[str, ...] = ALONE) -> list[dict[str, Any]]:
    """One JSON schema a tool, in the form of OpenAI's `tools`.

    Raises ValueError for a name that is no tool.
    """
    if strangers := sorted(set(names) - set(_TOOLS)):
        raise ValueError(f"tools: expected some of {list(_TOOLS)}, got {strangers}")
    return [_schema(name, *_TOOLS[name]) for name in names]


def plain_instructions(names: tuple[str, ...] = ALONE) -> str:
    """The same in words, for a model whose chat template knows no tools."""
    lines = [
        f"{_usage(schema['function'])}: {schema['function']['description']}"
        for schema in schemas(names)
    ]
    return (
        "End each message with one command in a fenced block, on one line:\n\n"
        "```\ncat lib.py\n```\n\nThe commands:\n" + "\n".join(lines)
    )


def _schema(name: str, description: str, fields: tuple[tuple[str, str, str], ...]) -> dict:
    properties = {field: {"type": kind, "description": what} for field, kind, what in fields}
    parameters = {"type": "object", "properties": properties, "required": list(properties)}
    function = {"name": name, "description": description, "parameters": parameters}
    return {"type": "function", "function": function}


def _usage(function: Mapping[str, Any]) -> str:
    fields = [field.upper() for field in function["parameters"]["properties"]]
    if fields == ["FILE", "LINE", "TEXT"]:
        return f"{function['name']} FILE LINE|TEXT"
    return " ".join([function["name"], *fields])
