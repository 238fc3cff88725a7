"""A design as JSON and as source text: what a run keeps, and what a colleague can read.

Stage: rewards. A design goes in, plain JSON or Python comes out, and back. A component is stored by
the name under which it can be imported, with its settings and a hash of its source text: code is
never stored, so a component that nobody else could import is refused. Left out: what a component
calls; the hash covers its own source only.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import inspect
import sys
import warnings
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import TYPE_CHECKING, Any

from workbench.encoding import decode, encode
from workbench.records import from_json, to_json
from workbench.rewards.components import Component, Configured, is_maker
from workbench.rewards.rules import Gate

if TYPE_CHECKING:
    from workbench.rewards.design import RewardDesign, WeightedComponent

DESIGN_SCHEMA = 1
"""Version of the JSON layout; a design with another number is refused."""


@dataclass(frozen=True)
class StoredComponent:
    """One line of a design, as it is stored."""

    name: str
    """Name within the design."""
    weight: float
    """Factor in the sum."""
    function: str
    """"module:name" of the component, or of the function that makes it."""
    source_hash: str | None
    """Hash of that function's source text; None = it could not be read."""
    args: tuple[Any, ...] = ()
    """Settings, as `encoding.encode` writes them."""
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    """Settings by name."""
    optional: bool = False
    """As in `WeightedComponent`, like what follows."""
    gates: tuple[Gate, ...] = ()
    """Its gates."""
    blocks_below: float | None = None
    """What it must reach for the total not to be 0."""


@dataclass(frozen=True)
class StoredDesign:
    """A design, as it is stored."""

    schema: int
    """DESIGN_SCHEMA."""
    components: tuple[StoredComponent, ...]
    """Its lines, in order."""
    normalised: bool = False
    """Whether the sum is divided by the sum of the weights."""


def design_to_json(design: RewardDesign) -> dict[str, Any]:
    """Plain JSON from which `design_from_json` makes an equal design.

    Raises ValueError for a component that cannot be imported by its name (defined in a notebook,
    in a function, a lambda) or whose settings are not plain data.
    """
    entries = tuple(_stored(c) for c in design.components)
    return to_json(StoredDesign(DESIGN_SCHEMA, entries, design.is_normalised))


def design_from_json(stored: Mapping[str, Any]) -> RewardDesign:
    """The design that `design_to_json` described.

    It imports the modules that are named in it: read only files that you would also run. Warns
    (UserWarning) where a component's source text is no longer what it was.

    Raises:
        ValueError: for another schema, a field that is missing, unknown or of another type, a
            component that cannot be imported, or settings that it does not take.
    """
    from workbench.rewards.design import RewardDesign  # it offers these functions as methods

    if not isinstance(stored, Mapping) or stored.get("schema") != DESIGN_SCHEMA:
        raise ValueError(
            f"expected a design of schema {DESIGN_SCHEMA}, as RewardDesign.to_json makes it, got "
            f"{stored!r:.80}"
        )
    read = from_json(StoredDesign, dict(stored), "design")
    names = [c.name for c in read.components]
    if len({"optional", *names}) <= len(names):  # that one is an argument of RewardDesign
        raise ValueError(f"design.components: expected different names, got {names}")
    pairs = {c.name: (_component(c), c.weight) for c in read.components}
    design = RewardDesign(**pairs, optional=[c.name for c in read.components if c.optional])
    for c in read.components:
        for gate in c.gates:
            design = design.gate(c.name, needs=gate.needs, at_least=gate.at_least)
        if c.blocks_below is not None:
            design = design.blockers(c.name, at_least=c.blocks_below)
    return design.normalised() if read.normalised else design


def design_to_python(design: RewardDesign) -> str:
    """Source text that makes the design anew and calls it `design`.

    Raises ValueError as `design_to_json`, where two modules have a component of one name, and for
    settings that do not print as source text (a set, an infinite number).
    """
    modules: dict[str, set[str]] = {"workbench.rewards": {"RewardDesign"}}
    origin: dict[str, str] = {"RewardDesign": "workbench.rewards"}
    for c in design.components:
        module, name = _stored(c).function.split(":")
        if isinstance(c.component, Configured) and not _is_literal(c.component):
            raise ValueError(f"component {c.name!r}: {c.component} is no source text; use to_json")
        if origin.setdefault(name, module) != module:
            raise ValueError(
                f"component {c.name!r}: {name} is imported from {origin[name]} and from {module}; "
                "give one of the two functions another name"
            )
        modules.setdefault(module, set()).add(name)
    imports = [f"from {m} import {', '.join(sorted(names))}" for m, names in modules.items()]
    return "\n".join(sorted(imports)) + f"\n\ndesign = {design!r}\n"


def rules_to_json(component: WeightedComponent) -> dict[str, Any]:
    """The rules that one line of a design is under; those that are not set are left out."""
    return {
        rule.name: to_json(getattr(component, rule.name))
        for rule in fields(component)
        if rule.default is not MISSING and getattr(component, rule.name) != rule.default
    }


def source_hash(function: Callable[..., Any]) -> str | None:
    """Sixteen hex digits of the function's source text; None if there is none to be read."""
    try:
        source = inspect.getsource(inspect.unwrap(function))
    except (OSError, TypeError):
        return None  # built in, or typed at a prompt
    return hashlib.sha256(source.encode()).hexdigest()[:16]


def _stored(c: WeightedComponent) -> StoredComponent:
    function = _function(c.component)
    args, kwargs = (), {}
    if isinstance(c.component, Configured):
        args, kwargs = c.component.args, c.component.kwargs
    name = _importable(c.name, function)
    try:
        args, kwargs = tuple(map(encode, args)), {k: encode(v) for k, v in kwargs.items()}
    except ValueError as error:
        raise ValueError(f"component {c.name!r}: its settings cannot be stored: {error}")
    rules = (c.optional, c.gates, c.blocks_below)
    return StoredComponent(c.name, c.weight, name, source_hash(function), args, kwargs, *rules)


def _component(stored: StoredComponent) -> Component:
    """The component that was stored, imported and configured."""
    module, _, name = stored.function.partition(":")
    try:
        function = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError, TypeError) as error:  # the last: ".name"
        raise ValueError(
            f"component {stored.name!r}: cannot import {stored.function!r} ({error}); put the "
            "file that defines it where Python finds it"
        )
    if stored.source_hash != (found := source_hash(function)):
        warnings.warn(
            f"component {stored.name!r}: the source of {stored.function} has changed since this "
            f"design was stored ({stored.source_hash}, now {found}); rewards may differ",
            stacklevel=4,
        )
    if not is_maker(function):
        return function
    try:
        settings = {key: decode(value) for key, value in stored.kwargs.items()}
        return function(*map(decode, stored.args), **settings)
    except (TypeError, ValueError) as error:
        raise ValueError(f"component {stored.name!r}: its settings do not fit: {error}") from None


def _function(component: Component) -> Callable[..., Any]:
    return component.maker if isinstance(component, Configured) else component


def _is_literal(component: Configured) -> bool:
    try:
        settings = (component.args, component.kwargs)
        return ast.literal_eval(repr(settings)) == settings
    except (ValueError, SyntaxError):
        return False


def _importable(name: str, function: Callable[..., Any]) -> str:
    """ "module:name" under which the function can be imported, by the shortest module path."""
    module = getattr(function, "__module__", None)
    called = getattr(function, "__qualname__", None)
    if not inspect.isroutine(function) or called is None:
        reason = "is no plain function; write it as one, or as a maker under @configured"
    elif module == "__main__":
        reason = (
            "is defined in the notebook or script itself, where nobody else can import it; put it "
            "into a file (%%writefile my_rewards.py) and import it from there"
        )
    elif "." in called or "<" in called or getattr(sys.modules[module], called, None) != function:
        reason = (
            "cannot be imported by its name; define it with def at the top level of a module "
            "(settings: a maker under @configured)"
        )
    else:
        parts = module.split(".")
        paths = [".".join(parts[: end + 1]) for end in range(len(parts))]
        return next(f"{p}:{called}" for p in paths if _offers(p, called, function))
    raise ValueError(f"component {name!r}: {called or type(function).__name__} {reason}")


def _offers(module: str, name: str, function: Callable[..., Any]) -> bool:
    return getattr(sys.modules.get(module), name, None) is function
