"""TrajectoryViewer: one attempt at a time, with everything that was recorded of it.

Stage: reading. In: trajectories, their tasks, a design; out: a widget with the turns, the change,
the verdict test by test, the evidence and the reward. The HTML comes from `episode_html`. Left
out: tokens, and credit a turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import ipywidgets
import traitlets
from matplotlib.figure import Figure

from workbench.plots import episode
from workbench.records import Group, RewardBreakdown, Task, Trajectory
from workbench.rewards import RewardDesign
from workbench.widgets.episode_html import episode_html, reward_html
from workbench.widgets.markup import STYLE, boxed, line, page


class TrajectoryViewer(ipywidgets.VBox):
    """A widget that shows trajectories, one at a time.

    >>> TrajectoryViewer(run.groups[3], run.tasks, design)      # doctest: +SKIP
    """

    index = traitlets.Int(0)
    """Which trajectory is shown, from 0; setting it redraws."""
    text = traitlets.Unicode("")
    """The line above the attempt, in words."""

    def __init__(
        self,
        trajectories: Group | Trajectory | Sequence[Trajectory],
        tasks: Iterable[Task] | None = None,
        design: RewardDesign | None = None,
    ) -> None:
        """Show the first of `trajectories`.

        Args:
            trajectories: a group, several trajectories (of any tasks), or one.
            tasks: the tasks they were rolled out on; None = their statements are not shown.
            design: what they are paid by; None = no reward is shown. It needs `tasks`.
        Raises:
            ValueError: if there is no trajectory, or `design` lacks a task.
        """
        self._tasks = {task.task_id: task for task in tasks or ()}
        self._bar = self._controls()
        self._reward = ipywidgets.HTML()
        self._episode = ipywidgets.HTML()
        self._drawn: Trajectory | None = None
        self._take(_listed(trajectories), None)
        if design is not None:
            self._breakdowns = tuple(map(self._scored_by(design), self.trajectories))
        style = ipywidgets.HTML(STYLE, layout={"display": "none"})
        super().__init__([style, self._bar, self._reward, self._episode])
        self.observe(lambda _: self._draw(), "index")
        self._draw()

    def show(
        self,
        trajectories: Group | Trajectory | Sequence[Trajectory],
        index: int = 0,
        breakdowns: Sequence[RewardBreakdown] | None = None,
    ) -> None:
        """Show other trajectories, paid as `breakdowns` say (one each; None = no reward)."""
        trajectories = _listed(trajectories)
        if breakdowns is not None and len(breakdowns) != len(trajectories):
            raise ValueError(
                f"breakdowns: expected one for each of {len(trajectories)} trajectories, got "
                f"{len(breakdowns)}"
            )
        self._take(trajectories, breakdowns)
        if self.index == self._valid(index):
            self._draw()
        else:
            self.index = index

    @property
    def trajectory(self) -> Trajectory:
        """The one that is shown."""
        return self.trajectories[self.index]

    def html(self) -> str:
        """The attempt that is shown, as HTML for a page without a kernel."""
        return page(f"<div>{self._line.value}</div>", self._reward_html(), self._episode_html())

    def _repr_mimebundle_(self, **options) -> dict:
        """The widget, and its HTML for pages where widgets do not run (nbconvert, untrusted)."""
        return super()._repr_mimebundle_(**options) | {"text/html": self.html()}

    def figure(self) -> Figure:
        """The attempt that is shown, as a still figure."""
        task = self._tasks.get(self.trajectory.task_id)
        return episode(self.trajectory, label=self.text, statement=task.statement if task else "")

    def _controls(self) -> ipywidgets.HBox:
        self._before = ipywidgets.Button(
            icon="chevron-left", description="previous", tooltip="the attempt before this one"
        )
        self._after = ipywidgets.Button(
            icon="chevron-right", description="next", tooltip="the attempt after this one"
        )
        for button, by in ((self._before, -1), (self._after, 1)):
            button.layout.width = "110px"
            button.on_click(lambda _, by=by: self._move(by))
        self._number = ipywidgets.BoundedIntText(
            description="attempt", tooltip="index of the attempt, from 0", min=0,
            layout={"width": "150px"}, style={"description_width": "60px"},
        )  # fmt: skip
        self._number.observe(lambda change: self.set_trait("index", change["new"]), "value")
        self._line = ipywidgets.Label()
        parts = [self._before, self._after, self._number, self._line]
        return ipywidgets.HBox(parts, layout={"flex_flow": "row wrap"})

    @traitlets.validate("index")
    def _check_index(self, proposal: dict) -> int:
        return self._valid(proposal["value"])

    def _valid(self, index: int) -> int:
        if not 0 <= index < len(self.trajectories):
            raise traitlets.TraitError(
                f"index: expected 0 to {len(self.trajectories) - 1}, got {index}"
            )
        return index

    def _take(
        self, trajectories: tuple[Trajectory, ...], breakdowns: Sequence[RewardBreakdown] | None
    ) -> None:
        self.trajectories = trajectories
        self._breakdowns = None if breakdowns is None else tuple(breakdowns)

    def _scored_by(self, design: RewardDesign):
        def scored(trajectory: Trajectory) -> RewardBreakdown:
            if trajectory.task_id not in self._tasks:
                raise ValueError(
                    f"tasks: expected the task {trajectory.task_id!r}, which the design needs, "
                    f"got {len(self._tasks)} others; pass the tasks that were rolled out"
                )
            return design.score(trajectory, self._tasks[trajectory.task_id])

        return scored

    def _move(self, by: int) -> None:
        if 0 <= self.index + by < len(self.trajectories):
            self.index += by

    def _draw(self) -> None:
        last = len(self.trajectories) - 1
        self.text = f"{line(self.trajectory.task_id)}: attempt {self.index} of 0 to {last}"
        self._line.value = f"of 0 to {last}"
        self._number.max = last
        self._number.value = self.index
        self._before.disabled, self._after.disabled = self.index == 0, self.index == last
        self._reward.value = self._reward_html()
        if self.trajectory is not self._drawn:  # a slider changes only what it is paid
            self._drawn = self.trajectory
            self._episode.value = self._episode_html()

    def _reward_html(self) -> str:
        if self._breakdowns is None:
            return ""
        return boxed(reward_html(self._breakdowns[self.index]))

    def _episode_html(self) -> str:
        task = self._tasks.get(self.trajectory.task_id)
        return boxed(episode_html(self.trajectory, task))


def _listed(trajectories: Group | Trajectory | Sequence[Trajectory]) -> tuple[Trajectory, ...]:
    if isinstance(trajectories, Group):
        trajectories = trajectories.trajectories
    elif isinstance(trajectories, Trajectory):
        trajectories = (trajectories,)
    trajectories = tuple(trajectories)
    if not trajectories or not all(isinstance(t, Trajectory) for t in trajectories):
        raise ValueError(
            "trajectories: expected a group, a trajectory or several, got "
            f"{trajectories!r:.80}; of a run, choose one of run.groups"
        )
    return trajectories
