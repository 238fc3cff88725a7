"""Still pictures of a notebook's widgets, made in its kernel after the last cell has run.

Stage: outside the loop. In: the widgets that live in this kernel; out: one display message with
the picture and the text of each that has a `.figure()`. Left out: widgets without one.
"""

from __future__ import annotations

import base64
import io
from typing import Any

MIME = "application/vnd.workbench.stills+json"
"""Type of the message: {widget's model id: {"png": base64, "text": words}}."""
CELL = "from workbench.classroom import stills; stills.send()"
"""The code that `gallery` runs after a notebook's own cells."""


def send() -> None:
    """Display the stills of all widgets of this kernel."""
    from IPython.display import display
    from ipywidgets import Widget, widget_serialization

    model_ids = Widget.get_manager_state(drop_defaults=True)["state"]
    find = widget_serialization["from_json"]
    display({MIME: stills([find(f"IPY_MODEL_{one}", None) for one in model_ids])}, raw=True)


def stills(widgets: list[Any]) -> dict[str, dict[str, str]]:
    """The stills of those widgets that have a `.figure()`, by model id."""
    return {one.model_id: still(one) for one in widgets if callable(getattr(one, "figure", None))}


def still(widget: Any) -> dict[str, str]:
    """A widget's figure as PNG in base64, and its `text` if it has one."""
    buffer = io.BytesIO()
    widget.figure().savefig(buffer, format="png", dpi=110)
    text = getattr(widget, "text", "")
    png = base64.b64encode(buffer.getvalue()).decode("ascii")
    return {"png": png, "text": text if isinstance(text, str) else ""}
