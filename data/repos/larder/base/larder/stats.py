"""What a cache has done so far."""

from dataclasses import dataclass


@dataclass
class Stats:
    """Counters of one cache."""

    hits: int = 0
    misses: int = 0
    evictions: int = 0

    @property
    def hit_rate(self):
        """Share of reads that found something; 0 before the first."""
        reads = self.hits + self.misses
        return self.hits / reads if reads else 0.0
