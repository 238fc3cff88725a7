"""Predictions: a guess before the answer, recorded and never in the way.

Stage: outside the loop. In: a guess, later what came out; out: printed lines. A guess of another
kind than the question asks for gets a nudge and is kept; one for a question that no notebook asks
is not. Left out: judging a guess.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.checks.comparing import shown
from workbench.checks.memory import guesses, say, truths
from workbench.checks.questions import Question, find
from workbench.fast_mode import is_fast


def predict(question: str, guess: Any) -> None:
    """Remember a guess for `reveal`, or remind the reader that there is none yet."""
    asked = find(question)
    if asked is None:
        print(f"{question}: no notebook asks this; the guess is not kept.")
        return
    if guess is None:
        guesses.pop(question, None)
        say(question, "no guess yet. Replace None above; being wrong is how it sticks.")
        return
    if isinstance(guess, np.ndarray | np.generic) and np.ndim(guess) == 0:
        guess = guess.item()  # a number like any other, also in a file
    guesses[question] = guess
    nudge = _nudge(asked, guess)
    say(question, f"you guess {shown(guess)}. {nudge or 'On to the answer.'}")


def reveal(question: str, truth: Any, unit: str = "") -> None:
    """Print what came out beside what was guessed, and whether the fast size cut its run short."""
    truths[question] = truth
    told = f"{truth:.3g}" if isinstance(truth, float) else shown(truth)
    guess, asked = guesses.get(question), find(question)
    words = "you made no guess" if guess is None else f"you guessed {shown(guess)}{unit}"
    cut = is_fast() and asked is not None and asked.cut_short
    note = "; fast size: the run was cut short, the answer means nothing" if cut else ""
    say(question, f"{told}{unit} ({words}{note})")


def _nudge(question: Question, guess: Any) -> str:
    """What a guess of the wrong kind is told; "" if there is nothing to say."""
    if question.guess == "any":
        return ""
    if question.guess == "number":
        return _nudge_for_a_number(question, guess)
    if question.guess == "yes or no":
        return "" if isinstance(guess, bool) else "Kept, but the question asks for True or False."
    if not isinstance(guess, str):
        return "Kept, but the question asks for a text, in quotes."
    if question.options and guess not in question.options:
        return f"Kept, but the answer is one of {', '.join(question.options)}."
    return ""


def _nudge_for_a_number(question: Question, guess: Any) -> str:
    if isinstance(guess, bool) or not isinstance(guess, int | float):
        bare = " Leave out the quotes." if isinstance(guess, str) else ""
        return f"Kept, but the question asks for a number.{bare}"
    if question.between is None:
        return ""
    low, high = question.between
    if not low <= guess <= high:  # nan does not either
        return f"Kept, but the answer lies between {low:g} and {high:g}."
    if high == 100 and 0 < guess < 1:
        return f"Kept as {guess:g} out of 100; did you mean {100 * guess:g}?"
    return ""
