"""What a template is made of; each node renders itself in a scope."""

from stencil.filters import FILTERS


def look_up(path, scope):
    """The value behind a dotted name, None if a part is not there."""
    value = scope
    for part in path.split("."):
        if isinstance(value, dict):
            value = value.get(part)
        else:
            value = getattr(value, part, None)
    return value


class Text:
    """Text that stays as it is."""

    def __init__(self, text):
        self.text = text

    def render(self, scope):
        return self.text


class Value:
    """A value with its filters."""

    def __init__(self, path, filters):
        self.path, self.filters = path, filters

    def render(self, scope):
        value = look_up(self.path, scope)
        for name in self.filters:
            value = FILTERS[name](value)
        return "" if value is None else str(value)


class If:
    """One of two bodies."""

    def __init__(self, path, body, otherwise):
        self.path, self.body, self.otherwise = path, body, otherwise

    def render(self, scope):
        chosen = self.body if look_up(self.path, scope) else self.otherwise
        return "".join(node.render(scope) for node in chosen)


class For:
    """A body for each item."""

    def __init__(self, name, path, body):
        self.name, self.path, self.body = name, path, body

    def render(self, scope):
        parts = []
        for item in look_up(self.path, scope) or ():
            inner = {**scope, self.name: item}
            parts.extend(node.render(inner) for node in self.body)
        return "".join(parts)
