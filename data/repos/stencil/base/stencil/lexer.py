"""From text to tokens."""

import re
from dataclasses import dataclass

_TAG = re.compile(r"\{\{(.*?)\}\}|\{%(.*?)%\}", re.DOTALL)


@dataclass(frozen=True)
class Token:
    """A piece of a template: its kind is "text", "value" or "tag"."""

    kind: str
    text: str
    line: int


def tokens(source):
    """The pieces of a template in order."""
    position, line = 0, 1
    for match in _TAG.finditer(source):
        if match.start() > position:
            yield Token("text", source[position : match.start()], line)
        line += source.count("\n", position, match.start())
        kind = "value" if match[1] is not None else "tag"
        yield Token(kind, (match[1] or match[2] or "").strip(), line)
        line += match[0].count("\n")
        position = match.end()
    if position < len(source):
        yield Token("text", source[position:], line)
