"""Between moments, which are the same everywhere, and what the clock on a wall says."""

from datetime import datetime, timezone


def moment(day, time, zone):
    """The moment, in UTC, at which the clock of a zone says `time` on that day."""
    return datetime.combine(day, time, zone).astimezone(timezone.utc)


def day_of(when, zone):
    """The date that the calendar of a zone has at a moment."""
    return aware(when).astimezone(zone).date()


def aware(when):
    """The same moment; raises ValueError for one that does not say its zone."""
    if when.utcoffset() is None:
        raise ValueError(f"expected a datetime with a time zone, got {when!r}")
    return when
