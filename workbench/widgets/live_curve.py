"""LiveCurve: a run's learning curve that redraws itself while the run goes on.

Stage: reading. In: a run (running in its thread, or loaded from disk); out: a widget with the
picture, a line of text and a Stop button. The picture is drawn by `plots.learning_curve`; a
thread looks once a second whether there is something new. Left out: zooming, several runs.
"""

from __future__ import annotations

import asyncio
import io
import threading
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import ipywidgets
import traitlets
from matplotlib.figure import Figure

from workbench.plots import learning_curve, summary_line


class Watchable(Protocol):
    """What LiveCurve needs of a run; a finished one may lack `done` and `stop`."""

    @property
    def metrics(self) -> Sequence[Mapping[str, Any]]:
        """Rows so far, oldest first."""

    @property
    def done(self) -> bool:
        """Whether no more rows will come."""

    def stop(self) -> None:
        """Ask the run to end soon."""


class LiveCurve(ipywidgets.VBox):
    """A widget that shows `run` learning and can stop it.

    >>> run = train(policy, tasks, sandbox)      # doctest: +SKIP
    >>> LiveCurve(run)                           # doctest: +SKIP
    """

    num_rows = traitlets.Int(0).tag(sync=False)
    """Rows of metrics in the picture; setting it redraws."""
    state = traitlets.Enum(["running", "stopping", "stopped", "finished", "failed"], "running")
    """What the run is doing."""
    text = traitlets.Unicode("")
    """The newest figures in words, the same as the line under the picture."""

    def __init__(self, run: Watchable, *, every_s: float = 1.0) -> None:
        """Show `run`, looking for new rows every `every_s` seconds until it is done."""
        self.run = run
        self._lock = threading.Lock()
        self._picture = ipywidgets.Image(format="png", layout={"max_width": "100%"})
        self._line = ipywidgets.Label()
        self._button = ipywidgets.Button(
            description="Stop", icon="stop", tooltip="stop now; the iteration under way is undone"
        )
        self._button.on_click(lambda _: self.stop())
        super().__init__([self._picture, ipywidgets.HBox([self._button, self._line])])
        self.observe(lambda _: self._redraw(), ["num_rows", "state"])
        self._redraw()
        self.refresh()
        if self.state == "running":
            threading.Thread(target=self._watch, args=(every_s,), daemon=True).start()

    def stop(self) -> None:
        """Ask the run to stop; the button does the same."""
        if self.state == "running":
            self.state = "stopping"
            self.run.stop()

    async def wait(self) -> str:
        """`await curve.wait()` returns "finished" or "stopped" when the run has ended.

        A kernel hears the Stop button while a cell awaits; in a cell that blocks, as `run.wait()`
        does, it would hear it afterwards. Interrupting the kernel stops the run too. Raises the
        run's own error if it failed.
        """
        try:
            while not self.run.done:
                await asyncio.sleep(0.2)
        except (KeyboardInterrupt, asyncio.CancelledError):
            self.stop()
            raise
        self.refresh()
        if self.state == "failed":
            self.run.wait()
        return self.state

    def refresh(self) -> None:
        """Take in what is new; the thread calls this, and a test may."""
        done = getattr(self.run, "done", True)  # before counting rows: the last one must be seen
        self.num_rows = len(self.run.metrics)
        if done and self.state in ("running", "stopping"):
            ended = "stopped" if self.state == "stopping" else "finished"
            self.state = getattr(self.run, "state", ended)

    def figure(self) -> Figure:
        """The curve as it is now, as a still figure."""
        return learning_curve(self.run)

    def _redraw(self) -> None:
        with self._lock:  # the thread and a click may both get here
            buffer = io.BytesIO()
            self.figure().savefig(buffer, format="png")
            self._picture.value = buffer.getvalue()
            self.text = f"{self.state}: {summary_line(self.run)}"
            self._line.value = self.text
            self._button.disabled = self.state != "running"

    def _watch(self, every_s: float) -> None:
        while self.state in ("running", "stopping"):
            threading.Event().wait(every_s)
            self.refresh()
