"""MaskViewer: a packed sequence, token by token: who wrote it, and what learns.

Stage: reading. In: a group, a batch of ours or TRL's, or any ids with a loss mask; out: a widget
that shows one sequence at a time. That only sampled tokens learn is what a person should see at a
glance; a token that learns and was not sampled is counted with a cross. Left out: changing masks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ipywidgets
import traitlets
from matplotlib.figure import Figure

from workbench.plots.credit_pictures import packed_row
from workbench.plots.packing import PackedRow, rows_of_arrays, rows_of_batch, rows_of_group
from workbench.plots.tokens import as_decode
from workbench.records import Group
from workbench.widgets.credit_html import CREDIT_STYLE
from workbench.widgets.markup import STYLE, boxed, line
from workbench.widgets.token_html import TOKEN_STYLE, packed_html, summary_words


class MaskViewer(ipywidgets.VBox):
    """A widget that shows packed sequences, one at a time.

    >>> MaskViewer(group, policy.tokenizer, credit=advantages)          # doctest: +SKIP
    >>> MaskViewer(trainer_inputs, tokenizer)                           # doctest: +SKIP
    >>> MaskViewer(ids, tokenizer, loss_mask=mask)                      # doctest: +SKIP
    """

    index = traitlets.Int(0)
    """Which sequence is shown, from 0."""
    text = traitlets.Unicode("")
    """What the picture says, in a sentence."""

    def __init__(
        self,
        source: Any,
        decode: Any = None,
        *,
        credit: Sequence[Any] | None = None,
        loss_mask: Any = None,
        attention_mask: Any = None,
        advantages: Any = None,
    ) -> None:
        """Show the first sequence.

        Args:
            source: a group; a `learning.Batch`; a mapping as TRL's GRPO trainer makes it; or ids
                of shape (B, T) or (T,), which need `loss_mask`.
            decode: a tokenizer, or a function from token ids to text; None = ids are shown.
            credit: of a group, a number or (K,) numbers for each trajectory, as `pack` takes them.
            loss_mask, attention_mask, advantages: of ids, arrays of their shape.
        Raises:
            ValueError: for a source that is none of these, shapes that do not fit, or no sequence.
        """
        if isinstance(source, Group):
            self.rows = rows_of_group(source, credit)
        elif loss_mask is not None:
            self.rows = rows_of_arrays(source, loss_mask, attention_mask, advantages=advantages)
        else:
            self.rows = rows_of_batch(source)
        if not self.rows:
            raise ValueError("source: expected at least one sequence, got none")
        self.decode = as_decode(decode)
        bar = self._controls()
        self._picture = ipywidgets.HTML()
        self._picture.add_class("wb-fit")
        style = STYLE + CREDIT_STYLE + TOKEN_STYLE
        super().__init__([ipywidgets.HTML(style, layout={"display": "none"}), bar, self._picture])
        self.observe(lambda _: self._draw(), "index")
        self._draw()

    @property
    def row(self) -> PackedRow:
        """The sequence that is shown."""
        return self.rows[self.index]

    def figure(self) -> Figure:
        """The bands of the sequence that is shown, as a still figure."""
        return packed_row(self.row)

    def html(self) -> str:
        """The sequence that is shown, as HTML for a page without a kernel."""
        return STYLE + CREDIT_STYLE + TOKEN_STYLE + self._picture.value

    def _repr_mimebundle_(self, **options) -> dict:
        """The widget, and its HTML for pages where widgets do not run (nbconvert, untrusted)."""
        return super()._repr_mimebundle_(**options) | {"text/html": self.html()}

    def _controls(self) -> ipywidgets.Dropdown:
        names = [(f"{i}: {line(row.label)}", i) for i, row in enumerate(self.rows)]
        choice = ipywidgets.Dropdown(
            options=names, description="sequence", tooltip="the sequence that is shown",
            layout={"width": "300px"}, style={"description_width": "initial"},
        )  # fmt: skip
        traitlets.link((self, "index"), (choice, "value"))
        return choice

    @traitlets.validate("index")
    def _check_index(self, proposal: dict) -> int:
        if not 0 <= proposal["value"] < len(self.rows):
            raise traitlets.TraitError(
                f"index: expected 0 to {len(self.rows) - 1}, got {proposal['value']}"
            )
        return proposal["value"]

    def _draw(self) -> None:
        self.text = f"{line(self.row.label)}: {summary_words(self.row)}"
        self._picture.value = boxed(packed_html(self.row, self.decode))
