"""A job and the days on which it is due."""

from dataclasses import dataclass
from datetime import time, tzinfo

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


@dataclass(frozen=True)
class Job:
    """Something that is due at a time of day in a zone."""

    name: str
    at: time
    zone: tzinfo
    days: str = " ".join(DAYS)
    """Names of the days of the week, separated by blanks."""

    def __post_init__(self):
        unknown = set(self.days.split()) - set(DAYS)
        if unknown or not self.days.split():
            raise ValueError(f"days: expected some of {' '.join(DAYS)!r}, got {self.days!r}")

    def is_due_on(self, day):
        """Whether it is due on a date."""
        return DAYS[day.weekday()] in self.days.split()
