"""What a notebook asks: a prediction, or an exercise with hints and points.

Stage: outside the loop. A record; no logic.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Question:
    """A prediction or an exercise of a notebook."""

    id: str
    """Its name in the notebook: notebook, dash, letter."""
    notebook: str
    """The notebook's two digits."""
    title: str
    """What is asked, in one line."""
    kind: Literal["prediction", "exercise"] = "exercise"
    """A prediction is never right or wrong."""
    hints: tuple[str, ...] = ()
    """Shown one at a time, from a nudge to nearly the answer."""
    points: float = 0.0
    """What a right answer is worth; 0 for a prediction."""
    guess: Literal["any", "number", "text", "yes or no"] = "any"
    """What kind of guess is asked for."""
    between: tuple[float, float] | None = None
    """Smallest and largest sensible number."""
    cut_short: bool = False
    """Whether the fast size shortens the runs that the answer comes from: then it means nothing.
    Recorded attempts, counts and formulas answer in either size."""
    options: tuple[str, ...] = ()
    """The sensible texts, where there are few."""
