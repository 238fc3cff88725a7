"""From function objects to the text of a module that defines them: source, imports, helpers.

Stage: adapters. Functions and designs of a notebook go in, text comes out that means the same where
the notebook is not there. What cannot be carried is refused with the reason and what to do. Left
out: classes of the notebook, and its values: a copy would silently stay behind when they change.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import importlib.util
import inspect
import symtable
import textwrap
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

from workbench.rewards import Configured, RewardDesign

HEADER = '"""Written by workbench.adapters.save_as_module from a notebook: edit it there."""'
"""First line of every module that is written, by which it may be overwritten."""


class Sources:
    """A module's text as it grows: what it imports and the functions it defines."""

    def __init__(self) -> None:
        self._imports: dict[str, str] = {}  # name -> the line that binds it
        self._functions: dict[str, str] = {}  # name -> source, helpers before who calls them

    def text(self, ending: str = "") -> str:
        """The module, `ending` last."""
        imports = ["from __future__ import annotations", *sorted(set(self._imports.values()))]
        parts = [HEADER, "\n".join(imports), *self._functions.values(), ending]
        return "\n\n\n".join(part.strip("\n") for part in parts if part) + "\n"

    def add(self, function: Callable[..., Any]) -> str:
        """Write a function's source and all it needs; returns its name.

        Raises ValueError if the function is none that text can carry.
        """
        source = source_of(function)
        name = function.__name__
        if self._functions.setdefault(name, source) != source or name in self._imports:
            raise ValueError(f"{name}: two things have this name; give one of them another")
        needed, annotations = free_names(source)
        for other in sorted((needed | annotations) - {name}):
            self._bind(function, other, must=other in needed)
        self._functions[name] = self._functions.pop(name)  # behind its helpers
        return name

    def expression(self, value: Any) -> str:
        """Text that makes a component, or an argument of one, in the module."""
        if isinstance(value, Configured):
            arguments = [self.expression(a) for a in value.args]
            arguments += [f"{k}={self.expression(v)}" for k, v in value.kwargs.items()]
            return f"{self.expression(value.maker)}({', '.join(arguments)})"
        if callable(value):
            return self._import(value.__name__, value) if importable(value) else self.add(value)
        try:
            if ast.literal_eval(repr(value)) == value:
                return repr(value)
        except (ValueError, SyntaxError):
            pass
        raise ValueError(f"expected numbers, texts and functions as arguments, got {value!r:.80}")

    def _bind(self, function: Callable[..., Any], name: str, must: bool) -> None:
        """Make the name mean in the module what it means to the function."""
        scope = inspect.unwrap(function).__globals__
        if name not in scope:
            if must and not hasattr(builtins, name):
                raise ValueError(f"{function.__name__} uses {name!r}, which is defined nowhere")
            return
        value = scope[name]
        if isinstance(value, ModuleType) or importable(value):
            self._import(name, value)
        elif isinstance(value, FunctionType) and value.__name__ == name:
            if name not in self._functions:
                self.add(value)
        elif must:
            raise ValueError(
                f"{function.__name__} uses {name!r}, a {type(value).__name__} of the notebook, "
                "which is not there in another process; define or import it inside the function"
            )

    def _import(self, name: str, value: Any) -> str:
        if isinstance(value, ModuleType):
            line = f"import {value.__name__}"
            line += "" if value.__name__ == name else f" as {name}"
        else:
            line = f"from {value.__module__} import {value.__name__}"
            line += "" if value.__name__ == name else f" as {name}"
        if self._imports.setdefault(name, line) != line or name in self._functions:
            raise ValueError(f"{name}: two things have this name; give one of them another")
        return name


def design_text(design: RewardDesign) -> str:
    """A module that defines `design`. Raises ValueError for what is more than named components
    with weights, or a component that text cannot carry."""
    plain = RewardDesign(**{c.name: (c.component, c.weight) for c in design.components})
    if plain != design or repr(plain) != repr(design):
        raise ValueError(
            "this design is more than components and weights (a gate, an optional component); "
            "write the module by hand"
        )
    sources = Sources()
    sources.expression(RewardDesign)
    lines = [
        f"    {c.name}=({sources.expression(c.component)}, {c.weight!r}),"
        for c in design.components
    ]
    return sources.text("\n".join(["design = RewardDesign(", *lines, ")"]))


def source_of(function: Callable[..., Any]) -> str:
    """The function's own text, decorators included. Raises ValueError, with the reason and what to
    do, if there is none or it would mean something else in a module."""
    name = getattr(function, "__qualname__", type(function).__name__)
    plain = inspect.unwrap(function) if isinstance(function, FunctionType) else function
    if inspect.ismethod(plain) or "." in name.rpartition("<locals>.")[2]:
        raise ValueError(f"{name} is a method; write a function of its own")
    if not isinstance(plain, FunctionType):
        kind = type(function).__name__
        raise ValueError(f"{name}: expected a function or a RewardDesign, got an object ({kind})")
    if plain.__name__ == "<lambda>":
        raise ValueError("a lambda has no name to be imported by; write `def` and a name")
    if plain.__closure__:
        raise ValueError(
            f"{name} is a closure over {list(plain.__code__.co_freevars)}, which only live where "
            "it was made; define it at the top of a cell, with these inside or as default values"
        )
    try:
        return textwrap.dedent(inspect.getsource(plain))
    except (OSError, TypeError):
        raise ValueError(f"{name}: Python does not know its source; define it in a cell or a file")


def free_names(source: str) -> tuple[set[str], set[str]]:
    """(global names that the text of a function reads, those only its annotations name).

    >>> free_names("def f(t: Task):\\n    x = 1\\n    return math.sqrt(x)")
    ({'math'}, {'Task'})
    """
    bare = _WithoutAnnotations().visit(ast.parse(source))
    needed = _globals(symtable.symtable(ast.unparse(bare), "function", "exec"))
    named = {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}
    stored = {node.id for node in ast.walk(bare) if isinstance(node, ast.Name)}
    return needed, named - stored


class _WithoutAnnotations(ast.NodeTransformer):
    def visit_arg(self, node: ast.arg) -> ast.arg:
        return ast.arg(node.arg)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        self.generic_visit(node)
        value = node.value or ast.Constant(None)
        return ast.copy_location(ast.Assign([node.target], value), node)


def _globals(table: symtable.SymbolTable) -> set[str]:
    """Names that the table and those inside it look up among a module's."""
    at_top = table.get_type() == "module"
    found = {
        s.get_name()
        for s in table.get_symbols()
        if (s.is_referenced() and not s.is_assigned() if at_top else s.is_global())
    }
    return found.union(*map(_globals, table.get_children()))


def importable(value: Any) -> bool:
    """Whether another process finds this very object by its module and name."""
    module, name = getattr(value, "__module__", None), getattr(value, "__name__", None)
    if not module or not name or module == "__main__":
        return False
    try:
        if importlib.util.find_spec(module) is None:
            return False
    except (ImportError, ValueError):
        return False
    return getattr(importlib.import_module(module), name, None) is value
