"""DesignControls: sliders, boxes and menus for one reward design.

Stage: reading. In: a design; out: a widget whose `design` is that design under the settings that
its controls show. Code may set the same traits. Settings that contradict each other are refused:
the controls go back and a line says why.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import Any

import ipywidgets
import traitlets

from workbench.plots.ranking import nice
from workbench.rewards import Gate, RewardDesign
from workbench.rewards.rules import WeightedComponent, gate_words
from workbench.widgets.markup import line, text
from workbench.widgets.mixing import Mix, block_limit, gate_choices

RANGE = 2.0
"""Sliders go from minus this to this, further where a weight is larger."""


class DesignControls(ipywidgets.VBox):
    """A widget with a row of controls for each component of a design."""

    weights = traitlets.Dict()
    """Component -> weight. Setting some of them leaves the others."""
    off = traitlets.Tuple()
    """Names of components that are left out."""
    gates = traitlets.Dict()
    """Component -> its gates. To be set to a tuple of `Gate`, the name of what it needs, or ()."""
    blockers = traitlets.Tuple()
    """Names of components where less than the limit makes the total 0."""
    normalised = traitlets.Bool(False)
    """Whether the sum is divided by the sum of the weights."""
    design = traitlets.Instance(RewardDesign)
    """What follows from the settings above; read only."""

    def __init__(self, base: RewardDesign, title: str = "") -> None:
        """Controls that start at `base`."""
        self.base = base
        self._busy = False
        self._rows = {c.name: _Row.of(base, c) for c in base.components}
        self._normalised = ipywidgets.Checkbox(
            description="divide by the sum of the weights", indent=False,
            tooltip="a normalised design: with components in [0, 1] the reward is in [0, 1]",
            layout={"width": "auto"},
        )  # fmt: skip
        self._reset = ipywidgets.Button(
            description="Reset", icon="undo", tooltip="back to the design as it was given",
            layout={"width": "90px"},
        )  # fmt: skip
        self._reset.on_click(lambda _: self.reset())
        self._message = ipywidgets.HTML()
        self._mix = Mix.of(base)
        super().__init__(self._laid_out(title), design=base, **_settings(self._mix))
        for row in self._rows.values():
            for control in row.controls:
                control.observe(self._from_controls, "value")
        self._normalised.observe(self._from_controls, "value")
        self.observe(self._follow, [field.name for field in fields(Mix)])
        self._show()

    def reset(self) -> None:
        """Back to the design as it was given."""
        self._set(Mix.of(self.base))

    @property
    def message(self) -> str:
        """Why the last change was refused, or ""."""
        return self._message.value

    def _laid_out(self, title: str) -> list[ipywidgets.Widget]:
        heading = ipywidgets.HTML(f'<div class="wb"><b>{text(title)}</b></div>')
        rows = [row.laid_out() for row in self._rows.values()]
        last = ipywidgets.HBox(
            [self._normalised, self._reset],
            layout={"flex_flow": "row wrap", "justify_content": "space-between"},
        )
        return [heading, *rows, last, self._message]

    @traitlets.validate("weights", "off", "gates", "blockers", "normalised")
    def _check(self, proposal: dict) -> Any:
        name, value = proposal["trait"].name, proposal["value"]
        if name in ("weights", "gates"):
            value = {**getattr(self._mix, name), **value}
        try:
            if unknown := [one for one in _names(value) if one not in self._rows]:
                raise ValueError(f"expected one of {list(self._rows)}, got {unknown[0]!r}")
            if name == "gates":
                value = {one: self._as_gates(one, gates) for one, gates in value.items()}
            elif name in ("off", "blockers"):
                value = tuple(one for one in self._rows if one in value)
            elif name == "weights":
                value = {one: _weight(one, weight) for one, weight in value.items()}
            replace(self._mix, **{name: value}).design(self.base)
        except ValueError as error:
            raise traitlets.TraitError(f"{name}: {error}") from None
        return value

    def _as_gates(self, name: str, gates: Any) -> tuple[Gate, ...]:
        """Gates from what may also be the name of what is needed."""
        if isinstance(gates, str):
            limits = {gate.needs: gate.at_least for gate in self.base.component(name).gates}
            return (Gate(gates, limits.get(gates, 1.0)),)
        if isinstance(gates, Gate):
            return (gates,)
        if not isinstance(gates, (tuple, list)) or not all(isinstance(g, Gate) for g in gates):
            raise ValueError(f"{name}: expected gates or a component's name, got {gates!r:.80}")
        return tuple(gates)

    def _follow(self, change: dict) -> None:
        self._mix = replace(self._mix, **{change["name"]: change["new"]})
        self._message.value = ""
        if not self._busy:
            self.design = self._mix.design(self.base)
            self._show()

    def _from_controls(self, change: dict) -> None:
        """A control was moved: take its setting over, or put it back and say why."""
        if self._busy:
            return
        try:
            self._set(self._read(change["owner"]))
        except ValueError as error:
            self._show()
            self._message.value = f'<div class="wb" role="alert">✗ {text(error, 300)}</div>'

    def _read(self, moved: ipywidgets.Widget) -> Mix:
        mix = replace(self._mix, normalised=self._normalised.value)
        for name, row in self._rows.items():
            # the browser counts clicks of 0.05 from the left end: 0.04999999999999982
            weights = {row.slider: round(row.slider.value, 10), row.box: row.box.value}
            if moved in weights:
                weight = _weight(name, weights[moved])
                mix = replace(mix, weights={**mix.weights, name: weight})
        rows = self._rows.items()
        return replace(
            mix,
            off=tuple(name for name, row in rows if not row.on.value),
            gates={name: row.gates.value for name, row in rows},
            blockers=tuple(name for name, row in rows if row.blocks.value),
        )

    def _set(self, mix: Mix) -> None:
        """Take over several settings at once, or raise ValueError and change nothing."""
        design = mix.design(self.base)
        self._busy = True
        try:
            self._mix = mix
            for name, value in _settings(mix).items():
                setattr(self, name, value)
        finally:
            self._busy = False
        self.design = design
        self._show()

    def _show(self) -> None:
        """Let the controls stand where the settings are."""
        self._busy = True
        try:
            for name, row in self._rows.items():
                row.show(self._mix, name)
            self._normalised.value = self._mix.normalised
        finally:
            self._busy = False


@dataclass(frozen=True)
class _Row:
    """The controls of one component."""

    on: ipywidgets.Checkbox
    slider: ipywidgets.FloatSlider
    box: ipywidgets.FloatText
    gates: ipywidgets.Dropdown
    blocks: ipywidgets.Checkbox

    @classmethod
    def of(cls, base: RewardDesign, c: WeightedComponent) -> _Row:
        limit = block_limit(base, c.name)
        shown = getattr(c.component, "__name__", None) or repr(c.component)
        return cls(
            on=ipywidgets.Checkbox(
                description=line(f"{c.name} = {shown}", 60), indent=False,
                tooltip=line(f"{c.name} = {shown}: whether it is part of the design", 300),
                layout={"flex": "1 1 170px", "width": "auto", "min_width": "0"},
            ),
            slider=ipywidgets.FloatSlider(
                min=-RANGE, max=RANGE, step=0.05, readout=False, description="weight",
                tooltip=line(f"weight of {c.name}; arrow keys move it"),
                layout={"flex": "1 1 130px", "width": "auto"},
                style={"description_width": "50px"},
            ),
            box=ipywidgets.FloatText(
                step=0.05, tooltip=line(f"weight of {c.name} as a number"),
                layout={"width": "70px"},
            ),
            gates=ipywidgets.Dropdown(
                options=[(line(w, 60), gates) for w, gates in gate_choices(base, c.name)],
                description="counts", tooltip=line(f"when {c.name} counts; elsewhere it is 0"),
                layout={"width": "190px"}, style={"description_width": "50px"},
            ),
            blocks=ipywidgets.Checkbox(
                description=f"blocks below {limit:g}", indent=False,
                tooltip=line(f"the reward is 0 where {c.name} is less than {limit:g}"),
                layout={"flex": "0 0 auto", "width": "auto"},
            ),
        )  # fmt: skip

    @property
    def controls(self) -> list[ipywidgets.Widget]:
        return [self.on, self.blocks, self.slider, self.box, self.gates]

    def laid_out(self) -> ipywidgets.HBox:
        """One line where there is room, else two."""
        halves = (
            ipywidgets.HBox([self.on, self.blocks], layout={"flex": "1 1 340px"}),
            ipywidgets.HBox([self.slider, self.box, self.gates], layout={"flex": "2 1 380px"}),
        )
        return ipywidgets.HBox(halves, layout={"flex_flow": "row wrap", "width": "100%"})

    def show(self, mix: Mix, name: str) -> None:
        weight = mix.weights[name]
        if abs(weight) > self.slider.max:
            self.slider.max = nice(abs(weight))
            self.slider.min = -self.slider.max
        self.box.value = weight
        if abs(self.slider.value - weight) > 1e-9:  # a correction would meet the next key press
            self.slider.value = weight
        self.on.value, self.blocks.value = name not in mix.off, name in mix.blockers
        if mix.gates[name] not in [gates for _, gates in self.gates.options]:
            words = line(gate_words(mix.gates[name]), 60)
            self.gates.options = (*self.gates.options, (words, mix.gates[name]))
        self.gates.value = mix.gates[name]
        for control in self.controls[1:]:
            control.disabled = name in mix.off


def _settings(mix: Mix) -> dict[str, Any]:
    return {field.name: getattr(mix, field.name) for field in fields(Mix)}


def _names(value: Any) -> list[str]:
    return [] if isinstance(value, bool) else list(value)


def _weight(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ValueError(f"{name}: expected a finite number as weight, got {value!r}")
    return float(value)
