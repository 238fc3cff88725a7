"""Quantities: an exact amount and its unit."""

import re
from dataclasses import dataclass
from fractions import Fraction

UNITS = {
    "g": ("mass", Fraction(1)),
    "kg": ("mass", Fraction(1000)),
    "oz": ("mass", Fraction("28.349523125")),
    "lb": ("mass", Fraction("453.59237")),
    "ml": ("volume", Fraction(1)),
    "cl": ("volume", Fraction(10)),
    "l": ("volume", Fraction(1000)),
    "piece": ("number", Fraction(1)),
    "dozen": ("number", Fraction(12)),
}
"""Unit -> (what it measures, how many of the smallest one it is)."""
_SAID = re.compile(r"(\d+(?:\.\d+)?|\d+/\d+)\s*([a-z]+)")


class UnitError(ValueError):
    """A unit that does not exist or does not measure the same as another."""


@dataclass(frozen=True)
class Quantity:
    """So much of something."""

    amount: Fraction
    unit: str

    def __post_init__(self):
        if self.unit not in UNITS:
            raise UnitError(f"unknown unit {self.unit!r}")

    def __str__(self):
        """At most three places: "2.5 kg"."""
        text = f"{float(self.amount):.3f}".rstrip("0").rstrip(".")
        return f"{text} {self.unit}"


def quantity(text):
    """What a text such as "2.5 kg" or "1/3 dozen" says; raises ValueError."""
    match = _SAID.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"expected an amount and a unit such as '2.5 kg', got {text!r}")
    return Quantity(Fraction(match[1]), match[2])


def convert(found, unit):
    """The same quantity in another unit; raises UnitError if that measures something else."""
    kind, size = UNITS[found.unit]
    other_kind, other_size = UNITS[Quantity(Fraction(0), unit).unit]
    if kind != other_kind:
        raise UnitError(f"{found.unit} measures {kind}, {unit} measures {other_kind}")
    return Quantity(found.amount * size / other_size, unit)
