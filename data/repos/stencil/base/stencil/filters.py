"""Functions that a template can put a value through."""

import html


def _text(value):
    return "" if value is None else str(value)


FILTERS = {
    "upper": lambda value: _text(value).upper(),
    "title": lambda value: _text(value).title(),
    "trim": lambda value: _text(value).strip(),
    "escape": lambda value: html.escape(_text(value)),
    "length": lambda value: 0 if value is None else len(value),
}
