"""A sandbox that is open, or is opened in whichever process needs it first.

Stage: adapters. Trainers that score in another process send everything there by pickling; servers
that run on this machine cannot be sent, how to start them can.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from workbench.sandbox import Sandbox


class Opening:
    """Holds a sandbox, or a function that opens one; picklable with the second."""

    def __init__(self, given: Sandbox | Callable[[], Sandbox]) -> None:
        self.__setstate__(given)

    @property
    def sandbox(self) -> Sandbox:
        """The open sandbox, the same at every call in this process."""
        with self._lock:
            if self._opened is None:
                given = self._given
                self._opened = given if isinstance(given, Sandbox) else given()
            return self._opened

    def __getstate__(self) -> Callable[[], Sandbox]:
        if isinstance(self._given, Sandbox):
            raise TypeError(
                "an open sandbox cannot be sent to another process; give a function that opens "
                "one there: functools.partial(open_sandbox, 'auto', workers=2)"
            )
        return self._given

    def __setstate__(self, given: Sandbox | Callable[[], Sandbox]) -> None:
        self._given, self._opened, self._lock = given, None, threading.Lock()
