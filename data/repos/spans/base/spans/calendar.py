"""Bookings of one room on one day."""

from spans.interval import Interval, merge


class Conflict(ValueError):
    """A booking that does not fit beside another one."""


class Calendar:
    """Named bookings that do not overlap."""

    def __init__(self):
        self._bookings = {}

    def book(self, name, start, end):
        """Add a booking; raises Conflict if the room is taken, ValueError for a name in use."""
        if name in self._bookings:
            raise ValueError(f"there is a booking {name!r} already")
        wanted = Interval(start, end)
        for other, taken in self._bookings.items():
            if taken.overlaps(wanted):
                raise Conflict(f"{name!r} overlaps {other!r}")
        self._bookings[name] = wanted

    def cancel(self, name):
        """Remove a booking; raises KeyError if there is none."""
        del self._bookings[name]

    def at(self, minute):
        """Name of the booking at a minute, or None."""
        for name, taken in self._bookings.items():
            if taken.contains(minute):
                return name
        return None

    def busy(self):
        """The stretches in which the room is taken, in order."""
        return merge(self._bookings.values())

    def free_slots(self, opens, closes, minutes=1):
        """Gaps of at least `minutes` between opening and closing time, in order."""
        gaps = []
        free_from = opens
        for taken in self.busy():
            gaps.append((free_from, min(taken.start, closes)))
            free_from = max(free_from, taken.end)
        gaps.append((free_from, closes))
        return [Interval(a, b) for a, b in gaps if b - a >= max(minutes, 1)]
