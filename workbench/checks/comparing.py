"""Where two values differ, in words.

Stage: outside the loop. In: what a reader's function returned and what was expected; out: a
sentence, or "" if they agree. A right number is right in any type: int, float, bool, Fraction or
Decimal; and so is a row of them as a list, tuple or array. Floats agree within a tolerance
(absolute, and relative above 1); two whole numbers agree exactly; nan agrees with nan; infinity
agrees only with itself. A torch tensor counts as an array, a masked place of an array as nan.
Nothing a reader returns makes this raise.
"""

from __future__ import annotations

import dataclasses
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

MAX_SHOWN = 300
"""Characters of a value that are printed."""
REAL = Real | Decimal
"""What counts as a number; bool does."""


def difference(got: Any, expected: Any, tolerance: float = 1e-9, where: str = "") -> str:
    """Where `got` differs from `expected`, or "" if it does not.

    >>> difference([1, 2.5], [1, 2.0])
    'at [1]: expected 2.0, got 2.5'
    >>> difference(np.zeros(3), np.zeros((3, 1)))
    'expected 3 rows of 1 number, shape (3, 1); got 3 numbers, shape (3,)'
    """
    try:
        return _difference(got, expected, tolerance, where)
    except Exception as error:  # a reader's object may do anything when it is looked at
        return _at(where, f"it cannot be compared: {type(error).__name__}")


def _difference(got: Any, expected: Any, tolerance: float, where: str) -> str:
    got, expected = plain(got), plain(expected)
    if got is expected:
        return ""
    if got is None:
        return _at(where, "got None; is a `return` missing?")
    if isinstance(expected, np.ndarray):
        got = np.asarray(got) if isinstance(got, list | tuple) else got
        return _between_arrays(got, expected, tolerance, where)
    if isinstance(expected, int) and isinstance(got, int):
        return "" if got == expected else _unequal(got, expected, where)
    if isinstance(expected, int | float) and isinstance(got, REAL):
        return "" if _close(got, expected, tolerance) else _unequal(got, expected, where)
    if isinstance(expected, complex) and isinstance(got, complex | REAL):
        return "" if _close(got, expected, tolerance) else _unequal(got, expected, where)
    if isinstance(expected, list | tuple) and isinstance(got, list | tuple | np.ndarray):
        return _between_sequences(got, expected, tolerance, where)
    if type(got) is not type(expected):
        return _at(where, f"expected {_a(expected)}, got {_a(got)}")
    if isinstance(expected, dict):
        return _between_dicts(got, expected, tolerance, where)
    if dataclasses.is_dataclass(expected) and not isinstance(expected, type):
        return _between_records(got, expected, tolerance, where)
    equal = got.equals(expected) if hasattr(expected, "iloc") else got == expected
    return "" if equal else _unequal(got, expected, where)


def shown(value: Any, limit: int = MAX_SHOWN) -> str:
    """A value as it is printed: short, arrays with their shape; of what cannot be, its kind."""
    try:
        text = _text(plain(value))
    except Exception:  # a reader's `__repr__`, or a number of too many digits
        text = f"({type(value).__name__}, which cannot be printed)"
    return text if len(text) <= limit else text[: limit - 3] + "..."


def _text(value: Any) -> str:
    if isinstance(value, BaseException):
        return f"{type(value).__name__}: {value}" if str(value) else type(value).__name__
    if isinstance(value, np.ndarray):
        numbers = np.array2string(value, precision=6, threshold=40, separator=", ")
        return f"{numbers} (array of {value.dtype})".replace("\n", "\n           ")
    return repr(value)


def plain(value: Any) -> Any:
    """numpy's and torch's single numbers as Python's, tensors as arrays.

    Raises what torch raises for a tensor without numbers (sparse, or on the device "meta").
    """
    if type(value).__module__.split(".")[0] == "torch" and hasattr(value, "detach"):
        value = value.detach().cpu()
        floats = value.is_floating_point()  # numpy has no bfloat16
        value = (value.float() if floats and value.itemsize < 4 else value).numpy()
    if isinstance(value, np.ma.MaskedArray):
        value = value.astype(np.result_type(value.dtype, float)).filled(np.nan)
    if isinstance(value, np.ndarray | np.generic) and np.ndim(value) == 0:
        return value.item()
    return value


def _between_arrays(got: Any, expected: np.ndarray, tolerance: float, where: str) -> str:
    if not isinstance(got, np.ndarray):
        return _at(where, f"expected an array, got {_a(got)}")
    if got.shape != expected.shape:
        hint = "; transposed?" if got.shape == expected.shape[::-1] else ""
        return _at(
            where,
            f"expected {_in_words(expected.shape)}, shape {expected.shape}; "
            f"got {_in_words(got.shape)}, shape {got.shape}{hint}",
        )
    if np.iscomplexobj(got) != np.iscomplexobj(expected):
        return _at(where, f"expected an array of {expected.dtype}, got one of {got.dtype}")
    if any(np.issubdtype(one.dtype, np.inexact) for one in (got, expected)):
        wrong = ~_all_close(got, expected, tolerance)
    else:
        wrong = got != expected
    if not wrong.any():
        return ""
    place = tuple(int(i) for i in np.argwhere(wrong)[0])
    first = _unequal(got[place].item(), expected[place].item(), where + str(list(place)))
    return first if wrong.sum() == 1 else f"{first} ({wrong.sum()} of {wrong.size} numbers differ)"


def _between_sequences(got: Any, expected: Any, tolerance: float, where: str) -> str:
    for i, (g, e) in enumerate(zip(got, expected)):
        if found := difference(g, e, tolerance, f"{where}[{i}]"):
            return found
    if len(got) != len(expected):
        return _at(where, f"expected {len(expected)} items, got {len(got)}")
    return ""


def _between_dicts(got: dict, expected: dict, tolerance: float, where: str) -> str:
    if missing := [key for key in expected if key not in got]:
        return _at(where, f"the key {missing[0]!r} is missing")
    if extra := [key for key in got if key not in expected]:
        return _at(where, f"the key {extra[0]!r} is one too many")
    found = (difference(got[k], expected[k], tolerance, f"{where}[{k!r}]") for k in expected)
    return next(filter(None, found), "")


def _between_records(got: Any, expected: Any, tolerance: float, where: str) -> str:
    names = [field.name for field in dataclasses.fields(expected)]
    found = (
        difference(getattr(got, n), getattr(expected, n), tolerance, f"{where}.{n}") for n in names
    )
    return next(filter(None, found), "")


def _close(got: Any, expected: float | complex, tolerance: float) -> bool:
    try:
        got = complex(got) if isinstance(expected, complex) else float(got)
    except OverflowError:  # a whole number larger than any float
        return False
    return bool(_all_close(np.asarray(got), np.asarray(expected), tolerance))


def _all_close(got: np.ndarray, expected: np.ndarray, tolerance: float) -> np.ndarray:
    """Where numbers agree; an infinite one has no room around it."""
    wide = np.result_type(got, expected, np.float64)
    got, expected = got.astype(wide), expected.astype(wide)
    finite = np.isfinite(got) & np.isfinite(expected)
    with np.errstate(invalid="ignore", over="ignore"):
        near = np.abs(got - expected) <= tolerance * np.maximum(1.0, np.abs(expected))
    return (finite & near) | (got == expected) | (np.isnan(got) & np.isnan(expected))


def _unequal(got: Any, expected: Any, where: str) -> str:
    return _at(where, f"expected {shown(expected)}, got {shown(got)}")


def _at(where: str, text: str) -> str:
    return f"at {where}: {text}" if where else text


def _a(value: Any) -> str:
    """A value's kind and text, e.g. "list [1, 2]"."""
    kind = "an array" if isinstance(value, np.ndarray) else type(value).__name__
    return f"{kind} {shown(value, 60)}"


def _in_words(shape: tuple[int, ...]) -> str:
    def numbers(count: int) -> str:
        return f"{count} number" + "s" * (count != 1)

    if len(shape) == 1:
        return numbers(shape[0])
    if len(shape) == 2:
        return f"{shape[0]} row{'s' * (shape[0] != 1)} of {numbers(shape[1])}"
    return f"an array of {' x '.join(map(str, shape))}"
