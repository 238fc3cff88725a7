"""DesignExport: a design as text to be copied.

Stage: reading. In: a design; out: a widget with its Python or its JSON (`rewards.storing`). Left
out: reading a text back; `RewardDesign.from_json` does.
"""

from __future__ import annotations

import json

import ipywidgets
import traitlets

from workbench.rewards import RewardDesign


class DesignExport(ipywidgets.VBox):
    """A widget that writes out a design when asked to."""

    form = traitlets.Enum(("", "python", "json"), "")
    """In which form; "" = nothing is shown, and nothing computed."""
    text = traitlets.Unicode("")
    """What is shown."""

    def __init__(self, design: RewardDesign) -> None:
        """Closed at first; `show` gives it another design."""
        self._design = design
        menu = ipywidgets.ToggleButtons(
            options=[("No export", ""), ("As Python", "python"), ("As JSON", "json")],
            tooltips=["hide the text", "source text that makes this design", "what runs store"],
            style={"button_width": "100px"},
        )  # fmt: skip
        self._area = ipywidgets.Textarea(
            rows=10, tooltip="the design, to be copied; what you type here is not read",
            layout={"width": "auto", "display": "none"},
        )  # fmt: skip
        super().__init__([menu, self._area])
        traitlets.link((menu, "value"), (self, "form"))
        traitlets.link((self, "text"), (self._area, "value"))
        self.observe(lambda _: self.show(self._design), "form")

    def show(self, design: RewardDesign) -> None:
        """Write out `design`; where it cannot be stored, why."""
        self._design = design
        self.text = self._written()
        self._area.layout.display = "" if self.form else "none"

    def _written(self) -> str:
        try:
            if self.form == "python":
                return self._design.to_python()
            return json.dumps(self._design.to_json(), indent=1) if self.form else ""
        except ValueError as error:  # a component that nobody else could import
            return f"This design cannot be written out: {error}"
