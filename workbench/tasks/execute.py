"""Run text that this package's own grammar wrote, in this process, to verify a generated task.

Stage: tasks (generation only). In: a source that `grammar` and `mutators` composed. Out: a value
or the exception's name. **Never give it text from a policy or a person**: that is what the
sandbox is for. It exists because generating a corpus verifies a hundred thousand functions of a
closed, loop-bounded grammar, and one fork each would take longer than training on them; a test
holds its answers equal to the sandbox's.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


@functools.lru_cache(maxsize=4096)
def load(source: str, name: str) -> Callable[..., Any] | Exception:
    """The function `name` that `source` defines, or the exception that defining it raised."""
    namespace: dict[str, Any] = {}
    try:
        exec(compile(source, "<grammar>", "exec"), namespace)
        return namespace[name]
    except Exception as error:  # a mutated line may raise anything; the caller looks at it
        return error


def call(source: str, name: str, args: tuple) -> Any:
    """What `name(*args)` returns, or the exception it raised (as a value)."""
    function = load(source, name)
    if isinstance(function, Exception):
        return function
    try:
        return function(*args)
    except Exception as error:
        return error


def same(a: Any, b: Any) -> bool:
    """Equal by type and value: the grammar's values are ints, lists of ints and None."""
    return type(a) is type(b) and not isinstance(a, Exception) and a == b
