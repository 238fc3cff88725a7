"""From the policy's message to a tool call, or to the reason why it is none.

Stage: environments. Text in, `ToolCall` or an error sentence out; nothing is executed here.
One message is one command on one line. Left out: free reasoning before the command and JSON
tool calls (the adapters translate those into these lines).
"""

from __future__ import annotations

import re

from workbench.records import ToolCall

ARGUMENTS = {
    "ls": "",
    "cat": "FILE",
    "grep": "WORD",
    "run": "",
    "edit": "FILE N|TEXT",
    "insert": "FILE N|TEXT",
    "submit": "",
}
"""Every tool and the argument it takes, in the words of its error message."""
LOOKS = ("ls", "cat", "grep", "run")
"""Tools that answer and change nothing."""
CHANGES = ("edit", "insert", "write")
"""Tools that change the workspace; `write` is the answer of a task of one turn."""

MAX_ECHO = 24
"""An error message quotes at most this many characters of what it got."""

_EDIT = re.compile(r"(\S+) ([0-9]{1,6})\|(.*)", re.DOTALL)


def parse_command(text: str) -> tuple[ToolCall | None, str | None]:
    """The tool call in a message, or None and the reason: exactly one of the two is None.

    >>> parse_command("cat lib.py")
    (ToolCall(name='cat', argument='lib.py'), None)
    >>> parse_command("open lib.py")
    (None, 'unknown command open')
    """
    if "\n" in text:
        return None, "one command on one line"
    name, _, argument = text.partition(" ")
    if not name:
        return None, "empty message"
    if name not in ARGUMENTS:
        return None, f"unknown command {name[:MAX_ECHO]}"
    wanted = ARGUMENTS[name]
    if not wanted and argument:
        return None, f"{name} takes no argument"
    if wanted == "FILE N|TEXT":
        if not _EDIT.fullmatch(argument):
            return None, f"{name} needs {wanted}"
    elif wanted and not argument.strip():
        return None, f"{name} needs {wanted}"
    return ToolCall(name, argument), None


def parse_edit(argument: str) -> tuple[str, int, str]:
    """(path, line number, new text) of an `edit` or `insert` argument that parsed.

    >>> parse_edit("lib.py 3|    return xs")
    ('lib.py', 3, '    return xs')
    """
    match = _EDIT.fullmatch(argument)
    assert match, f"not an edit argument: {argument!r}; parse_command lets none through"
    return match[1], int(match[2]), match[3]
