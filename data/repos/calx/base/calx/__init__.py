"""An exact calculator."""

from fractions import Fraction

from calx.errors import CalcError
from calx.parser import parse

__all__ = ["CalcError", "evaluate", "parse"]


def evaluate(text, **variables):
    """The value of an expression as a Fraction; raises CalcError."""
    values = {name: Fraction(value) for name, value in variables.items()}
    return parse(text).value(values)
