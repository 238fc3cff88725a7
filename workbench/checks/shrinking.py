"""A failing input made smaller, so that a reader sees the mistake and not fifty numbers.

Stage: outside the loop. In: arguments on which two functions differ; out: smaller ones on which
they still do. Lists and arrays lose items, an axis that several of them share in all of them at
once; numbers become rounder. What the package's own function refuses is not tried further.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

MAX_TRIES = 300


def shrink(arguments: tuple, fails: Callable[[tuple], bool]) -> tuple:
    """The smallest arguments found on which `fails` is true.

    It may be stopped by an exception of `fails`, which is passed on: keep what `fails` saw.
    """
    tries = 0
    progress = True
    while progress and tries < MAX_TRIES:
        progress = False
        for candidate in smaller(arguments):
            tries += 1
            if fails(candidate):
                arguments, progress = candidate, True
                break
            if tries >= MAX_TRIES:
                break
    return arguments


def smaller(arguments: tuple) -> Iterator[tuple]:
    """Simpler versions of the arguments, the boldest first."""
    for length in sorted({n for value in arguments for n in _lengths(value) if n > 1}):
        first = any(_lengths(value)[:1] == (length,) for value in arguments)
        for kept in _parts(length):
            if first:
                yield tuple(_cut(value, length, kept, only_first=True) for value in arguments)
            yield tuple(_cut(value, length, kept) for value in arguments)
    for i, value in enumerate(arguments):
        for simpler in _simpler(value):
            yield (*arguments[:i], simpler, *arguments[i + 1 :])


def _lengths(value: Any) -> tuple[int, ...]:
    if isinstance(value, np.ndarray) or hasattr(value, "detach"):
        return tuple(value.shape)
    return (len(value),) if isinstance(value, list | tuple | str) else ()


def _parts(length: int) -> Iterator[list[int]]:
    half = length // 2
    yield list(range(half))
    yield list(range(half, length))
    if length > 2:
        for dropped in range(length):
            yield [i for i in range(length) if i != dropped]


def _cut(value: Any, length: int, kept: list[int], only_first: bool = False) -> Any:
    """Only the `kept` places of every axis, or of the first, that is `length` long."""
    if isinstance(value, np.ndarray) or hasattr(value, "detach"):
        for axis, size in enumerate(value.shape):
            if size == length and (axis == 0 or not only_first):
                value = value[(slice(None),) * axis + (kept,)]
        return value
    if isinstance(value, list | tuple | str) and len(value) == length:
        items = [value[i] for i in kept]
        return "".join(items) if isinstance(value, str) else type(value)(items)
    return value


def _simpler(value: Any) -> Iterator[Any]:
    """The same value with rounder numbers; each differs from it."""
    if isinstance(value, bool) or value is None:
        return
    if isinstance(value, int):
        yield from (n for n in (0, 1, value // 2) if abs(n) < abs(value))
    elif isinstance(value, float):
        rounder = (0.0, float(round(value)) if np.isfinite(value) else 0.0, round(value, 1))
        yield from (x for x in rounder if len(repr(x)) < len(repr(value)))
    elif isinstance(value, np.ndarray) and np.issubdtype(value.dtype, np.floating):
        for digits in (0, 1):
            if not np.array_equal(np.round(value, digits), value, equal_nan=True):
                yield np.round(value, digits) + 0.0  # no -0.0, which only distracts
        if value.size <= 20:
            for place in zip(*np.nonzero(value)):
                simpler = value.copy()
                simpler[place] = 0.0
                yield simpler
    elif isinstance(value, list | tuple) and len(value) <= 20 and type(value) in (list, tuple):
        for i, item in enumerate(value):
            for simpler in _simpler(item):
                yield type(value)([*value[:i], simpler, *value[i + 1 :]])
