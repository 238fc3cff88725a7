"""Values in a verdict's messages: short, on one line, and never an exception of their own.

Stage: grading. Plain data that a hostile program chose goes in, text for people comes out.
"""

from __future__ import annotations

from typing import Any

from workbench.records import Case

SHOWN_CHARS = 80
"""Longest value in a message."""


def wanted(case: Case) -> str:
    """What the case expects, with its tolerance."""
    near = f" within {case.tolerance:g}" if case.comparison == "close" else ""
    return shown(case.expected) + near


def shown(value: Any) -> str:
    """`repr`, cut."""
    try:
        return cut(repr(value))
    except ValueError:  # Python writes no integer of more than 4300 digits, also inside a list
        return f"{type(value).__name__} with a number too long to show"


def cut(text: str) -> str:
    """The beginning of a text that is too long."""
    return text if len(text) <= SHOWN_CHARS else text[: SHOWN_CHARS - 3] + "..."
