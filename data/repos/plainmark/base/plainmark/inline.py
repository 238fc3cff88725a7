"""Marks within a line: emphasis goes away, links become notes."""

import re

_LINK = re.compile(r"\[([^\]]*)\]\(([^)\s]*)\)")
_STRONG = re.compile(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1")
_EMPHASIS = re.compile(r"(?<![\w*_])([*_])(?=\S)(.+?)(?<=\S)\1(?![\w*_])")
_CODE = re.compile(r"`([^`]+)`")


def plain(text, notes):
    """The text without marks. The addresses of its links are added to the list `notes`; one that
    is there already keeps its number."""

    def note(match):
        label, address = match.groups()
        if address not in notes:
            notes.append(address)
        return f"{label} [{notes.index(address) + 1}]"

    parts = _CODE.split(_LINK.sub(note, text))
    for at in range(0, len(parts), 2):  # the others are code
        parts[at] = _EMPHASIS.sub(r"\2", _STRONG.sub(r"\2", parts[at]))
    return "".join(parts)
