"""AttemptList: attempts to choose from, most important first.

Stage: reading. In: attempts and words for them; out: a widget whose `chosen` is the one that was
picked. Left out: sorting; the first MAX_LISTED are listed, and it says how many more there are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import ipywidgets
import traitlets

from workbench.rewards.comparing import Attempt
from workbench.widgets.markup import line

MAX_LISTED = 50
"""Attempts in the list: a longer one slows down every move of a slider, and nobody reads it."""


class AttemptList(ipywidgets.VBox):
    """A widget with a list of attempts, of which one can be chosen."""

    chosen = traitlets.Tuple(allow_none=True, default_value=None)
    """(group, trajectory) of the line that is marked; None = no line is."""

    listing = traitlets.Unicode()
    """Which attempts are wanted: what its menu says."""

    def __init__(self, listings: Sequence[str], words: Callable[[Attempt], str]) -> None:
        """An empty list.

        Args:
            listings: what the menu offers.
            words: says in one line what an attempt is.
        """
        self._words, self._busy = words, False
        menu = ipywidgets.Dropdown(
            options=listings, description="list", tooltip="which attempts are listed",
            layout={"width": "300px"}, style={"description_width": "50px"},
        )  # fmt: skip
        self._select = ipywidgets.Select(
            options=[], rows=6, tooltip="choose an attempt to open it below",
            layout={"width": "auto"},
        )  # fmt: skip
        self._more = ipywidgets.Label()
        head = ipywidgets.HBox([menu, self._more], layout={"flex_flow": "row wrap"})
        super().__init__([head, self._select], listing=menu.value)
        traitlets.link((menu, "value"), (self, "listing"))
        self._select.observe(self._picked, "value")

    def show(self, attempts: Sequence[Attempt], mark: Attempt) -> None:
        """List `attempts`, and mark one of them if it is there."""
        options = [(line(self._words(one), 120), one) for one in attempts[:MAX_LISTED]]
        values = [one for _, one in options]
        self._busy = True
        try:
            with self._select.hold_sync():
                if options != list(self._select.options):
                    self._select.options = options
                self._select.index = values.index(mark) if mark in values else None
        finally:
            self._busy = False
        self.chosen = self._select.value
        more = len(attempts) - len(options)
        self._more.value = f"{len(attempts):,} attempts" + f", {more:,} not listed" * (more > 0)

    def _picked(self, change: dict) -> None:
        if not self._busy:
            self.chosen = change["new"]
