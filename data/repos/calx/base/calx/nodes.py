"""The parts of an expression, each of which has a value."""

import math
from dataclasses import dataclass
from fractions import Fraction

from calx.errors import CalcError

FUNCTIONS = {"abs": abs, "min": min, "max": max, "floor": math.floor}
MAX_EXPONENT = 10_000


@dataclass(frozen=True)
class Number:
    """A number as it was written."""

    text: str

    def value(self, variables):
        """Its value."""
        return Fraction(self.text)


@dataclass(frozen=True)
class Name:
    """A variable."""

    name: str
    column: int

    def value(self, variables):
        """What the variable stands for."""
        if self.name not in variables:
            raise CalcError(self.column, f"unknown name {self.name!r}")
        return variables[self.name]


@dataclass(frozen=True)
class Call:
    """A function and its arguments."""

    name: str
    arguments: tuple
    column: int

    def value(self, variables):
        """What the function returns."""
        if self.name not in FUNCTIONS:
            raise CalcError(self.column, f"unknown function {self.name!r}")
        values = [argument.value(variables) for argument in self.arguments]
        if not values or (self.name in ("abs", "floor") and len(values) > 1):
            raise CalcError(self.column, f"{self.name} of {len(values)} values")
        many = self.name in ("min", "max")
        return Fraction(FUNCTIONS[self.name](values) if many else FUNCTIONS[self.name](*values))


@dataclass(frozen=True)
class Negative:
    """A minus sign in front."""

    operand: object

    def value(self, variables):
        """The operand's value with the other sign."""
        return -self.operand.value(variables)


@dataclass(frozen=True)
class Binary:
    """Two operands and a sign between them."""

    sign: str
    left: object
    right: object
    column: int

    def value(self, variables):
        """The result."""
        left, right = self.left.value(variables), self.right.value(variables)
        if self.sign == "^":
            return self._power(left, right)
        if self.sign == "/" and right == 0:
            raise CalcError(self.column, "division by zero")
        return {"+": left.__add__, "-": left.__sub__, "*": left.__mul__, "/": left.__truediv__}[
            self.sign
        ](right)

    def _power(self, base, exponent):
        if exponent.denominator != 1:
            raise CalcError(self.column, f"the exponent {exponent} is no whole number")
        if abs(exponent) > MAX_EXPONENT:
            raise CalcError(self.column, f"the exponent {exponent} is too large")
        if base == 0 and exponent < 0:
            raise CalcError(self.column, "division by zero")
        return base ** int(exponent)
