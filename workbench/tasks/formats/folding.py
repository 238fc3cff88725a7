"""The value of a constant expression, worked out from its syntax tree; nothing is ever executed.

Stage: tasks (reading other projects' files). A node of `ast` goes in, plain data comes out: what
Python itself would give, or `NotConstant`. Knows literals, arithmetic on numbers, joining and
repeating of sequences, a few conversions such as float("nan"), the constants of `math`, and names
that the caller says are bound to constants. Left out on purpose: comprehensions, indexing,
methods, formatting, whatever could grow without bound, and repeating what can change: the items of
`[[0]] * 2` are one list twice, which no plain data can say.
"""

from __future__ import annotations

import ast
import itertools
import math
import operator
from collections.abc import Mapping
from typing import Any

MAX_VALUES = 100_000
"""Most values, as `num_values` counts them, that an expression may build."""
MAX_BITS = 100_000
"""Largest whole number, in bits, that an expression may build."""

_ARITHMETIC = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}  # fmt: skip
_SIGNS = {ast.USub: operator.neg, ast.UAdd: operator.pos}
_CONVERSIONS = {
    kind.__name__: kind for kind in (float, complex, str, list, tuple, set, frozenset, dict, range)
}
_MATH = {name: getattr(math, name) for name in ("inf", "nan", "pi", "e")}
NAMES = frozenset(_CONVERSIONS) | {"math"}
"""Names an expression is read by; a text that gives one of them another meaning is not foldable."""


class NotConstant(Exception):
    """The expression is not one of the simple constants that are understood here."""


def fold(node: ast.expr, names: Mapping[str, Any]) -> Any:
    """The value of the expression `node`.

    Args:
        names: values of the names that may occur in it.
    Raises:
        NotConstant: if it is anything else than described above, or Python itself would raise.

    >>> fold(ast.parse("[1] * 3 + [2 ** 10, -x]", mode="eval").body, {"x": 5})
    [1, 1, 1, 1024, -5]
    """
    try:
        return _fold(node, names)
    except (TypeError, ValueError, ArithmeticError, RecursionError) as error:
        raise NotConstant(str(error)) from None


def unchanging(value: Any) -> bool:
    """Whether no call that is given the value can change it."""
    if isinstance(value, tuple):
        return all(map(unchanging, value))
    return value is None or isinstance(value, (bool, int, float, complex, str, bytes))


def num_values(value: Any) -> int:
    """How many values it holds at all levels, a text counting by its length.

    An item that occurs twice counts twice, as it is written twice. Counting stops soon after
    MAX_VALUES: a few lines of tuples of tuples name more values than there is time to count.
    """
    if isinstance(value, (str, bytes, range)):
        return 1 + len(value)
    if not isinstance(value, (list, tuple, set, frozenset, dict)):
        return 1
    total = 1
    for item in itertools.chain(value, value.values() if isinstance(value, dict) else ()):
        total += num_values(item)
        if total > MAX_VALUES:
            break
    return total


def _fold(node: ast.expr, names: Mapping[str, Any]) -> Any:
    value = _value(node, names)
    if num_values(value) > MAX_VALUES:
        raise NotConstant("too many values")
    return value


def _value(node: ast.expr, names: Mapping[str, Any]) -> Any:
    match node:
        case ast.Constant(value) if value is not ...:
            return value
        case ast.Name(name) if name in names:
            return names[name]
        case ast.List(items):
            return [_fold(item, names) for item in items]
        case ast.Tuple(items):
            return tuple(_fold(item, names) for item in items)
        case ast.Set(items):
            return {_fold(item, names) for item in items}
        case ast.Dict(keys, values) if None not in keys:  # None stands for **mapping
            return {_fold(k, names): _fold(v, names) for k, v in zip(keys, values)}
        case ast.UnaryOp(sign, operand) if type(sign) in _SIGNS:
            return _SIGNS[type(sign)](_fold(operand, names))
        case ast.BinOp(left, sign, right) if type(sign) in _ARITHMETIC:
            return _arithmetic(type(sign), _fold(left, names), _fold(right, names))
        case ast.Attribute(ast.Name("math"), name) if name in _MATH:
            return _MATH[name]
        case ast.Call(ast.Name(name), args, []) if name in _CONVERSIONS:
            return _convert(name, [_fold(arg, names) for arg in args])
    raise NotConstant(f"{type(node).__name__} is not a simple constant")


def _arithmetic(sign: type, left: Any, right: Any) -> Any:
    numbers = all(isinstance(side, (int, float, complex)) for side in (left, right))
    if numbers and _bits(sign, left, right) > MAX_BITS:
        raise NotConstant("a number too large")
    if not numbers:
        length = len(left) if hasattr(left, "__len__") else len(right)
        if sign is ast.Mult:
            sequence = left if hasattr(left, "__len__") else right
            if not all(map(unchanging, sequence)):
                raise NotConstant("one object repeated, which a call may change")
            length *= right if isinstance(right, int) else left
        elif sign is ast.Add:
            length += len(right)
        else:  # "%" would format text, "-" would subtract sets
            raise NotConstant("arithmetic on other things than numbers")
        if length > MAX_VALUES:
            raise NotConstant("a sequence too long")
    return _ARITHMETIC[sign](left, right)


def _bits(sign: type, left: Any, right: Any) -> int:
    """Upper bound on the size of a whole result; 0 where a float comes out."""
    if not (isinstance(left, int) and isinstance(right, int)):
        return 0
    if sign is ast.Pow:
        return int(left).bit_length() * max(right, 0)
    return int(left).bit_length() + int(right).bit_length()


def _convert(name: str, args: list) -> Any:
    if name in ("list", "tuple") and args and isinstance(args[0], (set, frozenset)):
        raise NotConstant("the order of a set's items")
    if name == "str" and not (len(args) == 1 and isinstance(args[0], (str, int, float))):
        raise NotConstant("text of other things than numbers")
    value = _CONVERSIONS[name](*args)
    if name == "range" and len(value) > MAX_VALUES:
        raise NotConstant("a sequence too long")
    return value
