"""Half-open intervals of minutes: the start belongs to them, the end does not."""

from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Interval:
    """The minutes from `start` up to, and without, `end`."""

    start: int
    end: int

    def __post_init__(self):
        if self.start >= self.end:
            raise ValueError(f"an interval must not be empty, got {self.start}-{self.end}")

    @property
    def minutes(self):
        """How long it is."""
        return self.end - self.start

    def contains(self, minute):
        """Whether a minute lies inside."""
        return self.start <= minute < self.end

    def overlaps(self, other):
        """Whether the two have a minute in common."""
        return self.start <= other.end and other.start <= self.end

    def union(self, other):
        """The smallest interval that holds both."""
        return Interval(min(self.start, other.start), max(self.end, other.end))


def merge(intervals):
    """Busy stretches: intervals in order, those without a gap between them joined into one."""
    merged = []
    for interval in sorted(intervals):
        if merged and merged[-1].overlaps(interval):
            merged[-1] = merged[-1].union(interval)
        else:
            merged.append(interval)
    return merged
