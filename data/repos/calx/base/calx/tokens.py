"""From text to tokens: a state machine that looks at one character at a time."""

from typing import NamedTuple

from calx.errors import CalcError

SIGNS = "+-*/^(),"


class Token(NamedTuple):
    """A piece of an expression."""

    kind: str
    """"number", "name", "end", or the sign itself."""
    text: str
    column: int


def tokens(text):
    """The tokens of an expression, with one of kind "end" behind them; raises CalcError."""
    found, start, state = [], 0, "between"
    for at, char in enumerate(text + "\0"):
        if state == "number" and not (char.isdecimal() or char == "."):
            found.append(_number(text[start:at], start + 1))
            state = "between"
        elif state == "name" and not (char.isalnum() or char == "_"):
            found.append(Token("name", text[start:at], start + 1))
            state = "between"
        if state != "between" or char.isspace():
            continue
        start = at
        if char.isdecimal() or char == ".":
            state = "number"
        elif char.isalpha() or char == "_":
            state = "name"
        elif char in SIGNS:
            found.append(Token(char, char, at + 1))
        elif at < len(text):
            raise CalcError(at + 1, f"unexpected {char!r}")
    return [*found, Token("end", "", len(text) + 1)]


def _number(text, column):
    if text.count(".") > 1 or text == ".":
        raise CalcError(column, f"no number: {text!r}")
    return Token("number", text, column)
