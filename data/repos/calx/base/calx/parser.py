"""From tokens to a tree, by precedence climbing."""

from calx.errors import CalcError
from calx.nodes import Binary, Call, Name, Negative, Number
from calx.tokens import tokens

STRENGTH = {"+": 1, "-": 1, "*": 2, "/": 2, "^": 4}
"""How tightly an operator binds its operands."""
OF_MINUS = 3
"""How tightly a minus sign in front does."""


def parse(text):
    """The tree of an expression; raises CalcError."""
    parser = _Parser(tokens(text))
    tree = parser.expression(1)
    parser.expect("end")
    return tree


class _Parser:
    def __init__(self, found):
        self._tokens = found
        self._at = 0

    def _next(self):
        token = self._tokens[self._at]
        self._at += 1
        return token

    def _kind(self):
        return self._tokens[self._at].kind

    def expect(self, kind):
        """Take a token of that kind."""
        token = self._next()
        if token.kind != kind:
            what = {"end": "the end"}.get(kind, repr(kind))
            raise CalcError(token.column, f"expected {what}, got {token.text or 'the end'!r}")

    def expression(self, weakest):
        """The longest expression here whose operators all bind at least as tightly as `weakest`."""
        left = self._operand()
        while STRENGTH.get(self._kind(), 0) >= weakest:
            sign = self._next()
            right = self.expression(STRENGTH[sign.kind] + 1)
            left = Binary(sign.kind, left, right, sign.column)
        return left

    def _operand(self):
        token = self._next()
        if token.kind == "number":
            return Number(token.text)
        if token.kind == "-":
            return Negative(self.expression(OF_MINUS))
        if token.kind == "(":
            inside = self.expression(1)
            self.expect(")")
            return inside
        if token.kind == "name" and self._kind() == "(":
            return Call(token.text, self._arguments(), token.column)
        if token.kind == "name":
            return Name(token.text, token.column)
        raise CalcError(token.column, f"expected a value, got {token.text or 'the end'!r}")

    def _arguments(self):
        self.expect("(")
        found = []
        while self._kind() != ")":
            found.append(self.expression(1))
            if self._kind() != ")":
                self.expect(",")
        self.expect(")")
        return tuple(found)
