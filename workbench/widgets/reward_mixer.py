"""RewardMixer: move a weight and see at once whom the reward would teach what.

Stage: reading. In: stored attempts and one or two designs; out: a widget that re-scores them at
every change. Components are called once, at the start; a slider then costs arithmetic
(`rewards.rescoring`) and HTML (`comparison_html`). Left out: training; what a design leads to is
measured elsewhere, and none of these numbers predicts it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import ipywidgets
import numpy as np
import traitlets
from matplotlib.figure import Figure

from workbench import plots
from workbench.plots.ranking import colours_of, rank_group
from workbench.records import Group, StoredRun, Task
from workbench.rewards import DesignComparison, DesignReport, RewardDesign, Scores, compare_designs
from workbench.rewards.comparing import Attempt, two_labels
from workbench.rewards.design import expect_design
from workbench.widgets.attempt_list import AttemptList
from workbench.widgets.comparison_html import comparison_html, rankings_html
from workbench.widgets.design_controls import DesignControls
from workbench.widgets.design_export import DesignExport
from workbench.widgets.markup import STYLE, boxed, line, page, text
from workbench.widgets.mixer_menus import SCALES, MixerMenus
from workbench.widgets.trajectory_viewer import TrajectoryViewer

LISTINGS = ("paid but wrong", "paid but wrong by the other", "pushed in opposite directions")
"""What the list can show."""
LABELS = ("this design", "the other")
"""What the two designs are called unless told otherwise."""


class RewardMixer(ipywidgets.VBox):
    """A widget that re-scores stored attempts while a design changes.

    >>> RewardMixer(run, naive, against=honest)                 # doctest: +SKIP
    """

    group = traitlets.Int(0)
    """Which group's ranking is shown."""
    selected = traitlets.Tuple(traitlets.Int(), traitlets.Int(), default_value=(0, 0))
    """(group, trajectory): the attempt that is marked and opened below."""
    scale = traitlets.Enum([scale for _, scale in SCALES], "std")
    """How rewards become advantages, as in `Scores.advantages`."""
    listing = traitlets.Enum(LISTINGS, LISTINGS[0])
    """Which attempts are listed."""
    export = traitlets.Enum(("", "python", "json"), "")
    """In which form the design is written out; the text is `mixer.writer.text`."""
    text = traitlets.Unicode("")
    """What the picture says, in a sentence."""

    def __init__(
        self,
        groups: StoredRun | Iterable[Group],
        design: RewardDesign,
        against: RewardDesign | None = None,
        tasks: Iterable[Task] | None = None,
        stage: str | None = None,
        *,
        fixed: bool = True,
        labels: Sequence[str] = LABELS,
    ) -> None:
        """Score the attempts under both designs and show them.

        Args:
            groups: a stored run (`load_run`), or groups.
            design: the one to change.
            against: the one to compare with; None = `design` as it is at the start.
            tasks: the tasks of the groups; not needed for a stored run.
            stage: of a stored run, the stage whose groups are taken; None = all.
            fixed: False = the other design has controls of its own, too.
            labels: what the two are called.
        Raises:
            ValueError: if there are no groups, a design is none, there is not a label for each of
                the two, the run has no such stage, or as `Scores.of`.
        """
        against = design if against is None else against
        expect_design("design", design)
        expect_design("against", against)
        self.labels = two_labels(labels)
        if tasks is None and hasattr(groups, "tasks"):
            tasks = groups.tasks
            groups = groups.groups if stage is None else groups.groups(stage=stage)
        elif stage is not None:
            raise ValueError(
                f"stage: expected a stored run (load_run) where it is given, got groups and "
                f"{stage!r}; of a run, its stages are chosen by run.groups(stage=...)"
            )
        groups, tasks = tuple(groups), None if tasks is None else tuple(tasks)
        if not groups:
            raise ValueError(f"groups: expected at least one, got none (stage {stage!r})")
        self._scores = Scores.of(groups, tasks, design), Scores.of(groups, tasks, against)
        self._truth = self._scores[0].truth()
        places = zip(self._scores[0].group.tolist(), self._scores[0].trajectory.tolist())
        self._row = {place: row for row, place in enumerate(places)}
        names = [[c.name for c in one.components] for one in (design, against)]
        self._looks = colours_of(*names)
        self.groups = groups
        self.mine = DesignControls(design, self.labels[0])
        self.other = DesignControls(against, self.labels[1])
        self.menus = MixerMenus(self._names())
        self.viewer = TrajectoryViewer(groups[0], tasks)
        self.list = AttemptList(LISTINGS, self._words)
        self.writer = DesignExport(design)
        super().__init__(self._laid_out(fixed))
        self._recompute()
        self._listen()
        self.selected = self._first()

    @property
    def design(self) -> RewardDesign:
        """The design as the controls have it now."""
        return self.mine.design

    @property
    def against(self) -> RewardDesign:
        """The other design."""
        return self.other.design

    @property
    def weights(self) -> dict[str, float]:
        """Component -> weight; may be set, also for some of them (more: `mixer.mine`)."""
        return self.mine.weights

    @weights.setter
    def weights(self, weights: dict[str, float]) -> None:
        self.mine.weights = weights

    @property
    def comparison(self) -> DesignComparison:
        """The numbers that are shown."""
        return self._comparison

    @property
    def _reports(self) -> tuple[DesignReport, DesignReport]:
        return self._comparison.a, self._comparison.b

    @property
    def listed(self) -> tuple[Attempt, ...]:
        """All attempts of the chosen listing, also those that the list has no room for."""
        lists = (report.paid_but_wrong for report in self._reports)
        return (*lists, self._comparison.flips)[LISTINGS.index(self.listing)]

    def figure(self) -> Figure:
        """The same as a still figure, for pages without a kernel."""
        return plots.reward_mixer(*self._now, self._comparison, self.group)

    def html(self) -> str:
        """The same as HTML, for pages without a kernel."""
        return page(self._rankings.value, self._numbers.value)

    def _repr_mimebundle_(self, **options) -> dict:
        """The widget, and its HTML for pages where widgets do not run (nbconvert, untrusted)."""
        return super()._repr_mimebundle_(**options) | {"text/html": self.html()}

    def _laid_out(self, fixed: bool) -> list[ipywidgets.Widget]:
        self._rankings, self._numbers = ipywidgets.HTML(), ipywidgets.HTML()
        self._line = ipywidgets.HTML()
        controls = [self.mine] if fixed else [self.mine, self.other]
        for one in controls:
            one.layout.flex, one.layout.min_width = "1 1 440px", "0"
        return [
            ipywidgets.HTML(STYLE, layout={"display": "none"}),
            ipywidgets.HBox(controls, layout={"flex_flow": "row wrap", "align_items": "stretch"}),
            self.menus,
            self._line,
            self._rankings,
            self._numbers,
            self.list,
            self.viewer,
            self.writer,
        ]

    def _names(self) -> list[str]:
        """A name for each group: its place, how many of its attempts are right, its task."""
        num_right = np.nansum(self._scores[0].grid(self._truth), axis=1)
        return [
            line(f"{g}: {int(right)} of {len(group.trajectories)} right; {group.task_id}", 70)
            for g, (group, right) in enumerate(zip(self.groups, num_right))
        ]

    def _listen(self) -> None:
        for controls in (self.mine, self.other):
            controls.observe(lambda _: self._recompute(), "design")
        traitlets.link((self, "group"), (self.menus, "group"))
        traitlets.link((self, "scale"), (self.menus, "scale"))
        traitlets.link((self, "listing"), (self.list, "listing"))
        traitlets.link((self, "export"), (self.writer, "form"))
        self.observe(lambda _: self._recompute(), "scale")
        self.observe(lambda _: self._list(), "listing")
        self.observe(lambda _: self._follow_group(), "group")
        self.observe(lambda _: self._follow_selection(), "selected")
        self.viewer.observe(lambda _: self._follow_viewer(), "index")
        self.list.observe(lambda _: self._follow_list(), "chosen")

    @traitlets.validate("group")
    def _check_group(self, proposal: dict) -> int:
        if not 0 <= proposal["value"] < len(self.groups):
            raise traitlets.TraitError(
                f"group: expected 0 to {len(self.groups) - 1}, got {proposal['value']}"
            )
        return proposal["value"]

    @traitlets.validate("selected")
    def _check_selected(self, proposal: dict) -> Attempt:
        if proposal["value"] not in self._row:
            raise traitlets.TraitError(
                "selected: expected (group, trajectory) of one of the "
                f"{len(self._row)} attempts, got {proposal['value']}"
            )
        return proposal["value"]

    def _recompute(self) -> None:
        designs = (self.mine.design, self.other.design)
        self._now = tuple(scores.under(d) for scores, d in zip(self._scores, designs))
        self._comparison = compare_designs(
            *self._now, self._truth, scale=self.scale, labels=self.labels
        )
        self._draw()

    def _first(self) -> Attempt:
        """The first group from which the design learns something, else the first of all."""
        alive = self._now[0].group[np.nan_to_num(self._comparison.a.advantages) != 0.0]
        return (int(alive[0]), 0) if len(alive) else (0, 0)

    def _follow_group(self) -> None:
        if self.group != self.selected[0]:
            self.selected = (self.group, 0)

    def _follow_viewer(self) -> None:
        self.selected = (self.selected[0], self.viewer.index)

    def _follow_list(self) -> None:
        if self.list.chosen is not None:
            self.selected = self.list.chosen

    def _follow_selection(self) -> None:
        self.group = self.selected[0]
        self._draw_group()
        self._list()

    def _draw(self) -> None:
        self._draw_group()
        self._numbers.value = boxed(comparison_html(self._comparison))
        a, b = self._reports
        self.text = (
            f"{len(a.paid_but_wrong):,} of {len(self._truth):,} attempts are paid but wrong "
            f"({self.labels[1]}: {len(b.paid_but_wrong):,}); {a.dead_share:.0%} of the groups "
            f"teach nothing ({b.dead_share:.0%})."
        )
        self._line.value = f'<div class="wb" aria-live="polite"><b>{text(self.text)}</b></div>'
        self._list()
        self.writer.show(self.design)

    def _draw_group(self) -> None:
        """The ranking of the selected group under both designs, and the attempt that is open."""
        group, trajectory = self.selected
        ranked = [
            rank_group(scores, report, self._truth, group)
            for scores, report in zip(self._now, self._reports)
        ]
        designs = [scores.design for scores in self._now]
        titles = [f"{label}: group {group}" for label in self.labels]
        self._rankings.value = boxed(
            rankings_html(ranked, designs, titles, looks=self._looks, here=trajectory)
        )
        paid = {one.trajectory: one.breakdown for one in ranked[0]}
        trajectories = self.groups[group].trajectories
        self.viewer.show(trajectories, trajectory, [paid[t] for t in range(len(trajectories))])

    def _list(self) -> None:
        self.list.show(self.listed, self.selected)

    def _words(self, attempt: Attempt) -> str:
        """One line about an attempt for the list."""
        group, trajectory = attempt
        one = self.groups[group].trajectories[trajectory]
        paid = [report.rewards[self._row[attempt]] for report in self._reports]
        rewards = ["none" if np.isnan(reward) else f"{reward:.2f}" for reward in paid]
        edited = ", tests edited" if one.evidence.tampered else ""
        return (
            f"group {group} #{trajectory}: paid {rewards[0]} ({self.labels[1]}: {rewards[1]})"
            f"{edited}; {one.task_id}"
        )
