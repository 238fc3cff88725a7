"""Places and the trails between them."""

import re

_LINE = re.compile(r"(.+?)\s+([->])\s+(.+?)\s*:\s*(\d+)")


class Network:
    """Trails that take a number of minutes, each in one direction."""

    def __init__(self):
        self._trails = {}
        self._closed = set()

    @classmethod
    def from_text(cls, text):
        """A network from lines "A - B: MINUTES" (both ways) and "A > B: MINUTES" (one way).

        What follows a # is a comment. Raises ValueError that names the line.
        """
        network = cls()
        for number, line in enumerate(text.splitlines(), 1):
            line = line.partition("#")[0].strip()
            match = _LINE.fullmatch(line)
            if line and match is None:
                raise ValueError(f"line {number}: expected 'A - B: MINUTES', got {line!r}")
            if match:
                network.add(match[1], match[3], int(match[4]), one_way=match[2] == ">")
        return network

    def add(self, start, end, minutes, one_way=False):
        """Add a trail; of several between the same two places the quickest counts."""
        if minutes < 1:
            raise ValueError(f"a trail takes at least a minute, got {minutes}")
        for place in (start, end):
            self._trails.setdefault(place, {})
        there = self._trails[start].get(end, minutes)
        self._trails[start][end] = min(there, minutes)
        if not one_way:
            self.add(end, start, minutes, one_way=True)

    def close(self, start, end):
        """Let nobody take the trail, in either direction, until it is opened."""
        self._closed |= {(start, end), (end, start)}

    def open(self, start, end):
        """Let people take it again."""
        self._closed -= {(start, end), (end, start)}

    def places(self):
        """All places, sorted."""
        return sorted(self._trails)

    def trails_from(self, place):
        """(next place, minutes) of the open trails that leave a place, in the order in which they
        were added; raises KeyError for an unknown place."""
        if place not in self._trails:
            raise KeyError(f"no place {place!r}")
        return [
            (end, minutes)
            for end, minutes in self._trails[place].items()
            if (place, end) not in self._closed
        ]
