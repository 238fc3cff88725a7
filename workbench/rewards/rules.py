"""One line of a reward design: a component, its weight, and the rules it is under.

Stage: rewards. What a user wrote goes in, checked records come out. Left out: the sum
(`design`, `rescoring`).
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from workbench.rewards.components import Component, is_maker

PLACE = ("stage", "iteration")
"""Columns of `score_many` that say where in a run a group was rolled out; of a stored run only."""
COLUMNS = (*PLACE, "group", "trajectory", "task_id", "stop_reason", "num_turns", "reward")
"""Columns of `score_many` that a component may not be named after."""


@dataclass(frozen=True)
class Gate:
    """A condition on another component."""

    needs: str
    """Name of the component that opens the gate."""
    at_least: float = 1.0
    """The gate is open where that component returned this or more."""


@dataclass(frozen=True)
class WeightedComponent:
    """One line of a design."""

    name: str
    """What the component is called in tables and breakdowns."""
    component: Component
    """Called with (trajectory, task)."""
    weight: float
    """Factor in the sum; negative for a penalty."""
    optional: bool = False
    """True = its None is left out of the sum; False = its None leaves no total."""
    gates: tuple[Gate, ...] = ()
    """It counts as 0 where one of them is closed."""
    blocks_below: float | None = None
    """The total is 0 where it returned less than this; None = it blocks nothing."""

    def calls(self) -> str:
        """The method calls that put these rules into a design, as source text."""
        text = ""
        for gate in self.gates:
            text += f".gate({self.name!r}, needs={gate.needs!r}{_at_least(gate.at_least)})"
        if self.blocks_below is not None:
            text += f".blockers({self.name!r}{_at_least(self.blocks_below)})"
        return text


def checked(name: str, pair: tuple[Component, float]) -> WeightedComponent:
    """A line from what was passed as `name=(component, weight)`; ValueError says what is wrong."""
    if name in COLUMNS:
        raise ValueError(f"{name!r} is a column of score_many; give the component another name")
    if not (isinstance(pair, tuple) and len(pair) == 2 and callable(pair[0])):
        raise ValueError(
            f"{name}: expected (component, weight), got {pair!r:.80}; for example "
            f'{name}=(all_pass("hidden"), 1.0)'
        )
    component, weight = pair
    if is_maker(component):
        raise ValueError(
            f"{name}: {component.__name__} makes a component and is none itself; call it with its "
            f"settings: {name}=({component.__name__}(...), {weight!r})"
        )
    _expect_two_arguments(name, component)
    if not isinstance(weight, (int, float)) or not math.isfinite(weight):
        raise ValueError(f"{name}: expected a finite number as weight, got {weight!r}")
    return WeightedComponent(name, component, float(weight))


def _expect_two_arguments(name: str, component: Component) -> None:
    """Raises ValueError if the component could not be called with a trajectory and its task."""
    try:
        inspect.signature(component).bind(None, None)
    except ValueError:  # compiled code need not say what it takes
        return
    except TypeError as error:
        raise ValueError(
            f"{name}: expected a component that is called as component(trajectory, task), got "
            f"{component!r:.80} ({error})"
        ) from None


def check_rules(components: Sequence[WeightedComponent], is_normalised: bool) -> None:
    """Raises ValueError for rules that contradict each other.

    What decides about others (a blocker, or what a gate needs) must always count itself: then
    None in it leaves no total, and nobody has to say what an unknown gate does.
    """
    by_name = {c.name: c for c in components}
    for c in components:
        if c.blocks_below is not None:
            _check_deciding(
                c, "blockers", f"let {_needs(c)} block as well, or leave out the gate on {c.name!r}"
            )
        for gate in c.gates:
            if gate.needs == c.name:
                raise ValueError(
                    f"gate: expected {c.name!r} to need another component, got {c.name!r} itself; "
                    "to pay nothing at all below a limit use blockers"
                )
            needed = by_name[gate.needs]
            cure = f"put {c.name!r} behind both gates, needs={gate.needs!r} and {_needs(needed)}, "
            cure += f"and {gate.needs!r} behind none"
            _check_deciding(needed, f"gate on {c.name!r}", cure)
    if is_normalised:
        weights = {c.name: c.weight for c in components}
        if min(weights.values()) < 0 or not any(weights.values()):
            raise ValueError(
                f"normalised: expected weights of 0 or more and one above 0, got {weights}; turn a "
                "penalty into a component that is 1.0 where all is well"
            )


def _check_deciding(c: WeightedComponent, where: str, cure: str) -> None:
    """Raises ValueError if `c`, which decides about others, might itself not count."""
    if c.optional:
        raise ValueError(
            f"{where}: expected a component that is always judged, got {c.name!r}, which is "
            "optional; leave it out of optional"
        )
    if c.gates:
        raise ValueError(
            f"{where}: expected a component that always counts, got {c.name!r}, which counts only "
            f"{gate_words(c.gates)}; {cure}"
        )


def _needs(c: WeightedComponent) -> str:
    return " and ".join(repr(gate.needs) for gate in c.gates)


def gate_words(gates: Iterable[Gate]) -> str:
    """When a component counts: "always", or "if tests ≥ 1"."""
    return " and ".join(f"if {g.needs} ≥ {g.at_least:g}" for g in gates) or "always"


def number(name: str, value: float | None, what: str = "") -> float | None:
    """`value` as a float, or None if it is None.

    Raises ValueError naming the component if it is neither a finite number nor None; `what`
    names a setting, which cannot be None either.
    """
    if value is None and not what:
        return None
    try:
        converted = math.nan if isinstance(value, str) else float(value)
    except (TypeError, ValueError):
        converted = math.nan
    if not math.isfinite(converted):
        place = f"component {name!r}"
        if what:
            raise ValueError(f"{place}: expected a finite number as {what}, got {value!r:.80}")
        raise ValueError(
            f"{place}: expected a finite number or None, got {value!r:.80}; return "
            "None for what cannot be judged"
        )
    return converted


def _at_least(value: float) -> str:
    return "" if value == 1.0 else f", at_least={value!r}"
