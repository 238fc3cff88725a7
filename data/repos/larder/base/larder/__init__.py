"""A cache that forgets what is old or seldom used."""

from larder.cache import Cache
from larder.clock import ManualClock
from larder.stats import Stats

__all__ = ["Cache", "ManualClock", "Stats"]
