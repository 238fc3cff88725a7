"""The cache itself."""

from larder.clock import system_clock
from larder.recency import Recency
from larder.stats import Stats


class Cache:
    """At most `size` entries, each for `ttl` seconds after it was written (None = for good)."""

    def __init__(self, size, ttl=None, clock=system_clock):
        if size < 1:
            raise ValueError(f"size: expected at least 1, got {size}")
        self._size, self._ttl, self._clock = size, ttl, clock
        self._entries = {}
        self._recency = Recency()
        self.stats = Stats()

    def put(self, key, value):
        """Store a value; the least recently used entry goes if there is no room."""
        self._drop_expired()
        if key not in self._entries and len(self._entries) >= self._size:
            self._drop(self._recency.oldest())
            self.stats.evictions += 1
        self._entries[key] = (value, self._clock())
        self._recency.touch(key)

    def get(self, key, default=None):
        """The value of a key, or `default`."""
        self._drop_expired()
        if key not in self._entries:
            self.stats.misses += 1
            return default
        self.stats.hits += 1
        self._recency.touch(key)
        return self._entries[key][0]

    def __contains__(self, key):
        self._drop_expired()
        return key in self._entries

    def __len__(self):
        self._drop_expired()
        return len(self._entries)

    def _drop(self, key):
        del self._entries[key]
        self._recency.forget(key)

    def _drop_expired(self):
        if self._ttl is None:
            return
        now = self._clock()
        for key, (_, written) in list(self._entries.items()):
            if now - written >= self._ttl:
                self._drop(key)
