"""The search for the quickest way."""

import heapq
from typing import NamedTuple


class Route(NamedTuple):
    """A way from the first place to the last."""

    places: tuple
    minutes: int


def quickest(network, start, goal):
    """The quickest Route, or None if there is no way; raises KeyError for an unknown place."""
    network.trails_from(goal)  # it must be known
    seen = {start}
    waiting = [(0, 1, (start,))]  # minutes so far, number of places, places
    while waiting:
        minutes, num_places, places = heapq.heappop(waiting)
        if places[-1] == goal:
            return Route(places, minutes)
        for place, more in network.trails_from(places[-1]):
            if place not in seen:
                seen.add(place)
                heapq.heappush(waiting, (minutes + more, num_places + 1, (*places, place)))
    return None
