"""Calling a reader's function: whatever it does, an Answer comes back.

Stage: outside the loop. In: a function and its arguments; out: what it returned or raised, and
whether it changed its arguments. An endless loop is ended by an alarm (SIGALRM) where there is one:
in the main thread, not on Windows. Elsewhere there is no protection: interrupt the kernel. Left
out: a loop inside one call of compiled code, which hears the alarm only when it returns.
"""

from __future__ import annotations

import contextlib
import copy
import signal
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.checks.comparing import difference


class TookTooLong(BaseException):
    """The alarm rang. Not an Exception, so that an answer's `except Exception` cannot hide it."""


class NotDone(TimeoutError):
    """What an answer that took too long counts as having raised."""


@dataclass(frozen=True)
class Answer:
    """What a call of a reader's function gave."""

    value: Any = None
    """What it returned."""
    error: BaseException | None = None
    """What it raised, or None."""
    changed: str = ""
    """Which argument it changed, in words; "" if none."""

    @property
    def is_stub(self) -> bool:
        """Whether the reader has not written anything yet."""
        return isinstance(self.error, NotImplementedError)


def call(function: Callable, arguments: tuple, seconds: float | None = None) -> Answer:
    """What `function` answers to a copy of `arguments`; with `seconds`, an alarm after so many."""
    given = copied(arguments)
    try:
        with time_limit(seconds):
            value = function(*given)
    except TookTooLong:
        if seconds is None:
            raise  # an alarm of somebody further out
        return Answer(error=NotDone(f"not done after {seconds:g} s; an endless loop?"))
    except (Exception, SystemExit) as error:  # whatever a reader's function raises is its answer
        return Answer(error=error)
    changed = [
        number
        for number, (now, before) in enumerate(zip(given, arguments), 1)
        if difference(now, before, 0.0)
    ]
    if not changed:
        return Answer(value)
    which = "its argument" if len(arguments) == 1 else f"its argument {changed[0]}"
    return Answer(value, changed=f"your function changed {which}; work on a copy")


@contextlib.contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Raise TookTooLong in the body after `seconds`, where alarms work; None = no limit."""
    in_main = threading.current_thread() is threading.main_thread()
    if seconds is None or not in_main or not hasattr(signal, "setitimer"):
        yield
        return

    def ring(number: int, frame: Any) -> None:
        raise TookTooLong

    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def copied(value: Any) -> Any:
    """A copy of what can be changed in place: containers, arrays, tensors; the rest is shared.

    Records are frozen and may be large, so they are not copied.
    """
    if type(value) in (list, tuple, set):
        return type(value)(copied(item) for item in value)
    if type(value) is dict:
        return {key: copied(item) for key, item in value.items()}
    if type(value).__module__.split(".")[0] == "torch" and hasattr(value, "detach"):
        return value.detach().clone().requires_grad_(value.requires_grad)
    if isinstance(value, np.ndarray | bytearray) or hasattr(value, "iloc"):
        return copy.deepcopy(value)
    return value
