"""Formulas of a notebook's text as pictures, so that a hand-out needs no MathJax.

Stage: outside the loop. In: Markdown with $...$ and $$...$$; out: Markdown with SVG pictures inside
the text, drawn by matplotlib's mathtext. Left out: what mathtext does not know (`\\begin{...}`);
such a formula stays as its source.
"""

from __future__ import annotations

import base64
import functools
import html
import io
import re

_CODE_OR_FORMULA = re.compile(
    r"(?P<code>```.*?```|`[^`\n]*`)|\$\$(?P<block>.+?)\$\$|\$(?P<inline>[^\s$][^$\n]*?)(?<!\s)\$(?!\d)",
    re.DOTALL,
)


def with_pictures(text: str) -> str:
    r"""`text` with every formula outside of code as an `<img>`; the source is its alternative text.

    >>> with_pictures("costs `$x` or 5 $")
    'costs `$x` or 5 $'
    >>> with_pictures(r"$\frac{1}{2}$")[:20]
    '<img class="formula"'
    """
    return _CODE_OR_FORMULA.sub(_replaced, text)


def _replaced(match: re.Match) -> str:
    block, inline = match["block"], match["inline"]
    if match["code"] is not None:
        return match["code"]
    picture = _picture((block or inline).strip())
    if picture is None:
        return match[0]
    return f'<p style="text-align: center">{picture}</p>' if block else picture


@functools.cache
def _picture(formula: str) -> str | None:
    """The `<img>` of a formula, standing on the line's base; None if mathtext cannot draw it."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.mathtext import MathTextParser, math_to_image

    size = FontProperties(size=11)
    buffer = io.BytesIO()
    try:
        depth_pt = math_to_image(f"${formula}$", buffer, prop=size, format="svg")
        width, height, *_ = MathTextParser("path").parse(f"${formula}$", 72, size)
    except ValueError:
        return None
    data = base64.b64encode(buffer.getvalue()).decode("ascii")
    style = f"height: {height / 11:.2f}em; vertical-align: {-depth_pt / 11:.2f}em"
    return (
        f'<img class="formula" alt="{html.escape(formula)}" style="{style}" '
        f'src="data:image/svg+xml;base64,{data}">'
    )
