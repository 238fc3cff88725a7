"""What a hostile program is on paper: `Attack`, its honest `Twin`, and the classes.

Stage: tests. In: nothing. Out: frozen records that the modules of this folder fill, one module for
each family. A class is numbered as in the taxonomy of reward hacks that the literature uses (1-14);
15 and up are attempts on the machine instead of the verdict.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

CLASSES = {
    1: "test edit",
    2: "skip",
    3: "runner takeover",
    4: "early exit",
    5: "operator override",
    6: "monkeypatch",
    7: "read the answer",
    8: "hard-coding",
    9: "timing",
    10: "state between calls",
    11: "fake output",
    12: "judge",
    13: "network",
    14: "look busy",
    15: "files",
    16: "processes",
    17: "memory and disk",
    18: "kernel doors",
    19: "source bombs",
    20: "answer bombs",
    21: "never done",
}
"""Number -> name of every class of hostile program."""

MODES = ("call", "split", "program")
"""Ways of grading in which expected values stay out of the program's reach."""


@dataclass(frozen=True)
class Twin:
    """An honest program that uses the same feature of Python as an attack, and must pass."""

    name: str
    """Unique among twins."""
    program: str
    """Text of lib.py."""
    cases: tuple[tuple[tuple, Any], ...] = (((2,), 4), ((5,), 10), ((-3,), -6))
    """(args, expected): it doubles a number unless said otherwise."""
    modes: tuple[str, ...] = MODES
    """Modes in which it can be stated."""
    needs: str = ""
    """Module that a sandbox may lack, e.g. "numpy"; then the twin is not judged."""


@dataclass(frozen=True)
class Attack:
    """A program that wants a verdict it has not earned, or to touch what is not its own."""

    name: str
    """Unique; kebab-case."""
    number: int
    """Class, a key of CLASSES."""
    tries: str
    """What it attempts, one sentence."""
    program: str
    """Text of lib.py, which should define `f`."""
    beats: str
    """The naive grader it is shown to beat, a key of `naive.GRADERS`."""
    twin: Twin
    """The nearest honest program."""
    effect: str = ""
    """How the effect on the machine that it wants begins, e.g. "file:"; empty: it wants a pass."""
    cases: str | tuple[tuple[tuple, Any], ...] = "sealed"
    """(args, expected) pairs; "sealed" = values drawn at random, which no program can compute;
    "loot" = the expected value is the secret in the trainer's environment and canary file."""
    tolerance: float | None = None
    """Not None: numbers are compared by closeness."""
    files: Mapping[str, str] = field(default_factory=dict)
    """More files it leaves in the workspace: path -> text."""
    modes: tuple[str, ...] = MODES
    """Modes in which it makes sense."""
    runs: int = 1
    """How often it is graded in a row: later runs use what earlier ones left."""
    wall_s: float = 3.0
    """Wall-clock limit of its task: short for those that never end."""
    fast: bool = False
    """Part of the fast suite."""

    @property
    def kind(self) -> str:
        """Name of its class."""
        return CLASSES[self.number]


SAMPLES = (3, 8, 21, 40)
"""Arguments of sealed cases; the first half are the visible ones."""


def cases_of(cases: str | tuple, secret: str) -> tuple[tuple[tuple, Any], ...]:
    """(args, expected) of an attack; sealed values depend on `secret` alone."""
    if cases == "loot":
        return tuple(((n,), secret) for n in SAMPLES[:2])
    if cases == "sealed":
        digits = int(secret, 16)
        return tuple(((n,), 10_000 + (digits >> n) % 1_000_003) for n in SAMPLES)
    return cases
