"""Whether a returned value is the expected one: by type and value, in the trainer's process.

Stage: grading. Two values of plain data go in, a bool comes out. Left out: tolerance for floats
(a task that wants one must say so, and none does yet).
"""

from __future__ import annotations

import math
from typing import Any

from workbench.encoding import dump_bytes


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
        got_by_key = {dump_bytes(key): value for key, value in got.items()}
        return len(got) == len(expected) and all(
            dump_bytes(key) in got_by_key and same_value(got_by_key[dump_bytes(key)], value)
            for key, value in expected.items()
        )
    if isinstance(expected, (set, frozenset)):  # 1 and True are equal, their encodings are not
        return sorted(map(dump_bytes, got)) == sorted(map(dump_bytes, expected))
    return got == expected
