"""Clocks: functions that return seconds."""

import time

system_clock = time.monotonic


class ManualClock:
    """A clock that stands still until it is moved."""

    def __init__(self, now=0.0):
        self.now = now

    def __call__(self):
        return self.now

    def advance(self, seconds):
        """Move it forward."""
        self.now += seconds
