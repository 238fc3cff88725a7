"""A route for people."""


def report(network, route):
    """Each place with the time at which one is there, or a sentence if there is no way."""
    if route is None:
        return "There is no way."
    lines, minutes = [], 0
    for place, after in zip(route.places, (*route.places[1:], None)):
        lines.append(f"{minutes // 60:2}:{minutes % 60:02}  {place}")
        if after is not None:
            minutes += dict(network.trails_from(place))[after]
    return "\n".join(lines)
