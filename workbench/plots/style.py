"""Colours and the empty figure that every plot starts from.

Stage: reading. Figures are `matplotlib.figure.Figure`, never pyplot: pyplot's backend is global,
and another cell may change it under a widget. Colours are Okabe and Ito's (2008), which people
with the common colour-vision deficiencies can tell apart; no plot relies on colour alone.
"""

from __future__ import annotations

import io
from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.text import Text

BLUE, SKY, GREEN, ORANGE = "#0072B2", "#56B4E9", "#009E73", "#E69F00"
VERMILLION, PURPLE, INK, PALE = "#D55E00", "#CC79A7", "#333333", "#E8E8E8"
GREY = "#777777"

WIDTH_IN = 9.0
"""Width of a figure in inches: about 990 pixels at DPI, a README's column."""
DPI = 110


class Picture(Figure):
    """A figure that a notebook shows as it is, without pyplot or %matplotlib.

    All text is drawn as it is written: a `$` in a name or in what an agent said begins no formula.
    """

    def draw(self, renderer) -> None:
        """Draw the figure; matplotlib's legends and titles would parse formulas."""
        for text in self.findobj(Text):
            text.set_parse_math(False)
        super().draw(renderer)

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", dpi=DPI)
        return buffer.getvalue()


def new_figure(height_in: float, width_in: float = WIDTH_IN) -> Figure:
    """An empty figure, of README width unless told otherwise."""
    return Picture(figsize=(width_in, height_in), dpi=DPI, layout="constrained")


def tidy(axes, *, title: str = "", x: str = "", y: str = "") -> None:
    """Label axes and take away the frame's upper and right lines."""
    axes.set_title(title, loc="left", fontsize=11, color=INK, fontweight="bold")
    axes.set_xlabel(x, color=INK)
    axes.set_ylabel(y, color=INK)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(colors=INK)


def percent(axes, top: float = 1.0) -> None:
    """Write the y axis in percent, from 0 to `top`."""
    axes.set_ylim(0, top)
    axes.yaxis.set_major_formatter(lambda value, _: f"{100 * value:g} %")


def save_png(figure: Figure, path: str | Path) -> Path:
    """Write the figure as a small PNG; returns the path."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=DPI, metadata={"Software": None})
    return path
