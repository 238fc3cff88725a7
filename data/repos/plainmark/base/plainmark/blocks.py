"""The blocks of a text: what is separated by blank lines or begins with a mark."""

import re
from typing import NamedTuple

_HEADING = re.compile(r"(#{1,6})\s+(.*?)\s*#*")
_ITEM = re.compile(r"(\s*)([-*+]|\d{1,9}[.)])\s+(.*)")
CODE_INDENT = "    "


class Block(NamedTuple):
    """A piece of the text."""

    kind: str
    """"heading", "paragraph", "item" or "code"."""
    text: str
    level: int = 0
    """Of a heading 1 to 6; of an item how deep it lies, from 0."""
    mark: str = ""
    """Of an item "-" or its number, "3."."""


def blocks(text):
    """The blocks in order."""
    found, lines = [], []

    def close():
        if lines:
            found.append(Block("paragraph", " ".join(lines)))
            lines.clear()

    for line in text.splitlines():
        heading, item = _HEADING.fullmatch(line), _ITEM.fullmatch(line)
        if not line.strip():
            close()
        elif heading:
            close()
            found.append(Block("heading", heading[2], len(heading[1])))
        elif item:
            close()
            mark = "-" if item[2] in "-*+" else item[2]
            found.append(Block("item", item[3], len(item[1]) // 2, mark))
        elif line.startswith(CODE_INDENT) and not lines:
            found.append(Block("code", line))
        elif found and found[-1].kind == "item" and not lines and line[0].isspace():
            item = found.pop()
            found.append(item._replace(text=f"{item.text} {line.strip()}"))
        else:
            lines.append(line.strip())
    close()
    return found
