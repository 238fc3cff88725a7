"""From tokens to nodes."""

from stencil.errors import TemplateError
from stencil.filters import FILTERS
from stencil.lexer import tokens
from stencil.nodes import For, If, Text, Value


def parse(source):
    """The nodes of a template."""
    stream = list(tokens(source))
    nodes, end = _body(stream, 0, ())
    assert end == len(stream)
    return nodes


def _body(stream, at, stops, opened=None):
    """Nodes from token `at` up to a tag in `stops`; the nodes and the place of that tag."""
    nodes = []
    while at < len(stream):
        token = stream[at]
        if token.kind == "tag" and token.text in stops:
            return nodes, at
        node, at = _node(stream, at)
        nodes.append(node)
    if stops:
        raise TemplateError(opened.line, f"no end for: {opened.text}")
    return nodes, at


def _node(stream, at):
    token = stream[at]
    if token.kind == "text":
        return Text(token.text), at + 1
    if token.kind == "value":
        return _value(token), at + 1
    word, _, rest = token.text.partition(" ")
    if word == "if":
        return _if(stream, at, rest.strip())
    if word == "for":
        return _for(stream, at, rest)
    if word == "else":
        raise TemplateError(token.line, "else outside of if")
    raise TemplateError(token.line, f"unknown tag: {token.text}")


def _value(token):
    path, *names = (part.strip() for part in token.text.split("|"))
    for name in names:
        if name not in FILTERS:
            raise TemplateError(token.line, f"unknown filter: {name}")
    return Value(path, names)


def _if(stream, at, path):
    opened = stream[at]
    body, at = _body(stream, at + 1, ("else", "end"), opened)
    otherwise = []
    if stream[at].text == "else":
        otherwise, at = _body(stream, at + 1, ("end",), opened)
    return If(path, body, otherwise), at + 1


def _for(stream, at, rest):
    opened = stream[at]
    name, _, path = rest.partition(" in ")
    if not path:
        raise TemplateError(opened.line, f"expected 'for NAME in NAMES', got: {opened.text}")
    body, at = _body(stream, at + 1, ("end",), opened)
    return For(name.strip(), path.strip(), body), at + 1
