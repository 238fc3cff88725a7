"""Whether a returned value is the expected one: three ways to compare, in the trainer's process.

Stage: grading. A value of plain data that a hostile program chose and the case's expected value go
in, a bool comes out; no value makes these functions raise. "same" is the strict way of the
workbench's own suites, "equal" and "close" mean what published asserts mean. What programs print
is text and compared as judges of programming contests do. Left out: a checker of a task's own,
where several outputs are right.
"""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction
from typing import Any

from workbench.encoding import dump_bytes
from workbench.records import Case


def matches(got: Any, case: Case) -> bool:
    """True if `got` is what the case expects, by the case's own comparison.

    >>> matches(1.0, Case((), 1, "equal")), matches(1.0, Case((), 1))
    (True, False)
    """
    if case.comparison == "equal":
        return equal_value(got, case.expected)
    if case.comparison == "close":
        return close_value(got, case.expected, case.tolerance)
    assert case.comparison == "same", case.comparison
    return same_value(got, case.expected)


def same_output(got: str, expected: str) -> bool:
    """True if both texts have the same lines, white space at the end of each left out, and empty
    lines at the end too.

    >>> same_output("1 2 \\r\\n\\n", "1 2"), same_output(" 1", "1"), same_output("1.0", "1")
    (True, False, False)
    """
    return _lines(got) == _lines(expected)


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.rstrip().split("\n")]


def close_output(got: str, expected: str, tolerance: float) -> bool:
    """True if both texts have the same words, or numbers that are close as by `close_value`.

    Words are what white space separates; how much of it there is does not count.

    >>> close_output("area 0.3333\\n", "area  0.333333", 1e-4)
    True
    """
    words, wanted = got.split(), expected.split()
    return len(words) == len(wanted) and all(
        word == want or _close_words(word, want, tolerance) for word, want in zip(words, wanted)
    )


def _close_words(word: str, want: str, tolerance: float) -> bool:
    try:
        numbers = float(word), float(want)
    except ValueError:
        return False
    return all(map(math.isfinite, numbers)) and _close(*numbers, tolerance)


def equal_value(got: Any, expected: Any) -> bool:
    """True if Python's `got == expected` holds: True is 1, 1.0 is 1, a tuple is not a list.

    nan equals nothing, as in Python. Nesting too deep for Python to compare is not equal.
    """
    try:
        return bool(got == expected)
    except RecursionError:
        return False


def close_value(got: Any, expected: Any, tolerance: float) -> bool:
    """True if numbers differ by at most `tolerance`, absolutely or relative to the expected one.

    Lists and tuples are compared item by item, and must agree in type and length; everything
    else, True and False too, as by `equal_value`. nan is close to nan, inf only to itself.

    >>> close_value([0.1 + 0.2, "x"], [0.3, "x"], 1e-9)
    True
    """
    try:
        return _close(got, expected, tolerance)
    except RecursionError:
        return False


def _close(got: Any, expected: Any, tolerance: float) -> bool:
    if type(expected) in (list, tuple):
        return (
            type(got) is type(expected)
            and len(got) == len(expected)
            and all(_close(g, e, tolerance) for g, e in zip(got, expected))
        )
    if type(got) not in (int, float) or type(expected) not in (int, float):
        return equal_value(got, expected)
    if not (_finite(got) and _finite(expected)):
        return got == expected or (got != got and expected != expected)
    try:
        return abs(got - expected) <= tolerance * max(1, abs(expected))
    except OverflowError:  # a whole number too large for a float
        distance = abs(Fraction(got) - Fraction(expected))
        return distance <= Fraction(tolerance) * max(1, abs(Fraction(expected)))


def _finite(number: int | float) -> bool:
    return type(number) is int or math.isfinite(number)


def same_value(got: Any, expected: Any) -> bool:
    """True if both have the same type and the same value, at every level.

    True is not 1, 1.0 is not 1, a tuple is not a list, -0.0 is not 0.0; nan is nan. The order of a
    dict's keys and of a set's items does not count.

    >>> same_value([1, (2.0, float("nan"))], [1, (2.0, float("nan"))])
    True
    >>> same_value(True, 1)
    False
    """
    if type(got) is not type(expected):
        return False
    if isinstance(expected, float):
        if math.isnan(expected):
            return math.isnan(got)
        return got == expected and math.copysign(1.0, got) == math.copysign(1.0, expected)
    if isinstance(expected, complex):
        return same_value(got.real, expected.real) and same_value(got.imag, expected.imag)
    if isinstance(expected, (list, tuple)):
        return len(got) == len(expected) and all(map(same_value, got, expected))
    if isinstance(expected, dict):
        return _same_dict(got, expected)
    if isinstance(expected, (set, frozenset)):  # 1 and True are equal, their encodings are not
        return sorted(map(dump_bytes, got)) == sorted(map(dump_bytes, expected))
    return got == expected


def _same_dict(got: dict, expected: dict) -> bool:
    unmatched = defaultdict(list)  # several values for one key only if there are nans in it
    for key, value in got.items():
        unmatched[dump_bytes(key)].append(value)
    for key, value in expected.items():
        values = unmatched[dump_bytes(key)]
        found = [i for i, other in enumerate(values) if same_value(other, value)]
        if not found:
            return False
        del values[found[0]]
    return len(got) == len(expected)
