"""The program in a chat model's message: code out of a fence.

Stage: environments. What a model wrote in a single turn goes in, the text that is handed in comes
out. Nothing is executed here. Left out: what a model wrote outside its last fenced block, which is
not part of its answer.
"""

from __future__ import annotations

import ast
import re

from workbench.records import Task

_OPENS, _CLOSES = re.compile(r" {0,3}```[^`]*"), re.compile(r" {0,3}```[ \t\r]*")


def code_of(text: str) -> str:
    """The text between the lines of the last closed fence (three backticks), whatever language it
    names; the whole text if there is none.

    >>> code_of("Try this:\\n```python\\nx = 1\\n```\\nDone.")
    'x = 1'
    >>> code_of("    return 1")
    '    return 1'
    """
    block, code = None, text
    for line in text.split("\n"):  # not one pattern: of many fences none of which is closed,
        if block is None:  # as a policy repeats them, each would be searched to the end
            block = [] if _OPENS.fullmatch(line) else None
        elif _CLOSES.fullmatch(line):
            block, code = None, "\n".join(block)
        else:
            block.append(line)
    return code


def answer_of(task: Task, text: str) -> str:
    """What a single-turn completion hands in, as `Environment.step` takes it: `code_of(text)`.

    A task with a `beginning` wants its continuation. A fenced block that defines the task's
    function itself, as chat models write it, is appended behind the beginning, whose own function
    is closed with `pass`: the later definition counts, and the beginning's imports are kept.
    """
    text = text.rpartition("</think>")[2]
    code = code_of(text)
    if task.beginning and code != text and _defines(code, task.entry_point):
        return f"\n    pass\n\n\n{code}"
    return code


def _defines(code: str, name: str) -> bool:
    try:
        return any(getattr(node, "name", None) == name for node in ast.parse(code).body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
