"""Intervals of minutes and calendars made of them."""

from spans.calendar import Calendar, Conflict
from spans.interval import Interval, merge

__all__ = ["Calendar", "Conflict", "Interval", "merge"]
