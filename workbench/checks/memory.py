"""What this kernel remembers about its reader's answers.

Stage: outside the loop. In: what the other modules of this room found; out: the same, for
`results`. It lives as long as the kernel does. Left out: anything on disk.
"""

from __future__ import annotations

from typing import Any

guesses: dict[str, Any] = {}
"""What the reader has predicted, by question."""
truths: dict[str, Any] = {}
"""What came out, by question."""
solved: dict[str, bool] = {}
"""Whether the reader's newest attempt at each exercise was right."""
once_solved: set[str] = set()
"""Exercises of which some attempt was right: to try another way afterwards takes nothing away."""
attempts: dict[str, int] = {}
"""How often an exercise was checked that was no longer the stub."""
hints_used: dict[str, int] = {}
"""How many hints the reader has seen."""
said: dict[str, str] = {}
"""What was last printed about each question."""


def say(question: str, text: str) -> None:
    """Print `text` after the question's name and remember it."""
    said[question] = f"{question}: {text}"
    print(said[question])


def judged(question: str, right: bool, text: str) -> None:
    """Remember an attempt and whether it was right, and print what was found."""
    attempts[question] = attempts.get(question, 0) + 1
    solved[question] = right
    if right:
        once_solved.add(question)
    say(question, text)


def not_attempted(question: str) -> None:
    """Say that the stub is still there; not counted as an attempt."""
    solved[question] = False
    say(question, "not attempted yet.")


def forget() -> None:
    """Start again, as a new kernel would."""
    for remembered in (guesses, truths, solved, once_solved, attempts, hints_used, said):
        remembered.clear()
