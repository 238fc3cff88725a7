"""MixerMenus: which group's ranking is shown, and how rewards become advantages.

Stage: reading. In: a name for each group; out: a widget of two menus. Left out: what follows from
a choice (`reward_mixer`).
"""

from __future__ import annotations

from collections.abc import Sequence

import ipywidgets
import traitlets

SCALES = (
    ("divided by the spread (std)", "std"),
    ("only centred (none)", "none"),
    ("leave one out", "leave_one_out"),
    ("each component by itself (gdpo)", "gdpo"),
)
"""How rewards become advantages, in words and as in `Scores.advantages`."""


class MixerMenus(ipywidgets.HBox):
    """A widget with two menus."""

    group = traitlets.Int(0)
    """Index of the chosen group."""
    scale = traitlets.Enum([scale for _, scale in SCALES], "std")
    """The chosen way from rewards to advantages."""

    def __init__(self, names: Sequence[str]) -> None:
        """Menus over as many groups as there are names."""
        group = ipywidgets.Dropdown(
            options=[(name, index) for index, name in enumerate(names)], description="group",
            tooltip="whose ranking is shown",
            layout={"width": "360px"}, style={"description_width": "50px"},
        )  # fmt: skip
        scale = ipywidgets.Dropdown(
            options=SCALES, description="advantages", tooltip="how rewards become advantages",
            layout={"width": "340px"}, style={"description_width": "85px"},
        )  # fmt: skip
        super().__init__([group, scale], layout={"flex_flow": "row wrap"})
        traitlets.link((self, "group"), (group, "value"))
        traitlets.link((self, "scale"), (scale, "value"))
