"""Blocks to plain text."""

from plainmark.blocks import blocks
from plainmark.inline import plain
from plainmark.wrap import wrapped

UNDERLINES = {1: "=", 2: "-"}
INDENT = "  "


def convert(text, width=72):
    """Markdown as plain text in lines of at most `width` characters; links are noted at the end."""
    if width < 1:
        raise ValueError(f"width: expected 1 or more, got {width}")
    lines, notes, before = [], [], None
    for block in blocks(text):
        if lines and not (before == block.kind and block.kind in ("item", "code")):
            lines.append("")
        lines += _lines(block, width, notes)
        before = block.kind
    if notes:
        lines += ["", *(f"[{n}] {address}" for n, address in enumerate(notes, 1))]
    return "\n".join(lines)


def _lines(block, width, notes):
    if block.kind == "code":
        return [block.text]
    text = plain(block.text, notes)
    if block.kind == "heading":
        return [text, UNDERLINES[block.level] * len(text)] if block.level in UNDERLINES else [text]
    if block.kind == "item":
        first = f"{INDENT * block.level}{block.mark} "
        return wrapped(text, width, first, " " * len(first))
    return wrapped(text, width)
