"""Predictions and exercises in notebooks: a nudge, a comparison, never an exception.

Stage: outside the loop. In: a reader's guess or function; out: printed lines. Nothing is stored
on disk and nothing is sent anywhere. Left out: grading; a teacher can read `guesses` and `solved`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

guesses: dict[str, Any] = {}
"""What the reader has predicted in this kernel, by question."""
solved: dict[str, bool] = {}
"""Whether the reader's newest attempt at each exercise was right."""


def predict(question: str, guess: Any) -> None:
    """Remember a guess for `reveal`, or remind the reader that there is none yet."""
    if guess is None:
        print(f"{question}: no guess yet. Replace None above; being wrong is how it sticks.")
    else:
        guesses[question] = guess
        print(f"{question}: you guess {guess!r}. On to the answer.")


def reveal(question: str, truth: Any, unit: str = "") -> None:
    """Print what came out beside what was guessed."""
    shown = f"{truth:.3g}" if isinstance(truth, float) else f"{truth!r}"
    guess = guesses.get(question)
    words = "you made no guess" if guess is None else f"you guessed {guess!r}{unit}"
    print(f"{question}: {shown}{unit} ({words})")


def run(
    question: str, attempt: Callable, cases: list[tuple[tuple, Any]], tolerance: float = 1e-9
) -> None:
    """Compare a reader's function with the right answers; says what it found, in `solved` too.

    Args:
        question: its name in the notebook.
        attempt: the reader's function; NotImplementedError means "not attempted yet".
        cases: ((arguments...), expected) pairs.
        tolerance: numbers this close are equal.
    """
    solved[question] = False
    for arguments, expected in cases:
        try:
            got = attempt(*arguments)
        except NotImplementedError:
            print(f"{question}: not attempted yet.")
            return
        except Exception as error:  # a reader's function may raise anything; it is the answer
            got = error
        if not _same(got, expected, tolerance):
            shown = ", ".join(f"{argument!r:.60}" for argument in arguments)
            print(f"{question}: for {shown}\n  expected {expected!r}\n  got      {got!r}")
            return
    solved[question] = True
    print(f"{question}: right, {len(cases)} of {len(cases)} cases.")


def _same(got: Any, expected: Any, tolerance: float) -> bool:
    if isinstance(expected, float):
        return isinstance(got, int | float) and abs(got - expected) <= tolerance
    return type(got) is type(expected) and got == expected
