"""Small text templates."""

from stencil.errors import TemplateError
from stencil.parser import parse

__all__ = ["TemplateError", "parse", "render"]


def render(source, values=()):
    """The text of a template with `values` filled in; raises TemplateError."""
    scope = dict(values)
    return "".join(node.render(scope) for node in parse(source))
