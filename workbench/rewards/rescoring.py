"""Re-scoring: every component once, then any weights and rules in a moment.

Stage: rewards. Groups (or a stored run) and a design go in. Calling the components is the slow
part, so it is done once and kept as a matrix; `Scores.rewards` is arithmetic on that matrix and
follows a slider. It gives the numbers of `RewardDesign.score`, bit for bit: sums are rounded once
(`math.fsum`), so that what is tied there is tied here. Left out: comparing two designs
(`comparing`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from workbench.credit import decoupled_advantages, group_advantages, leave_one_out
from workbench.records import Group, RewardBreakdown, StoredRun, Task, groups_and_tasks
from workbench.rewards.design import RewardDesign, expect_design, task_of
from workbench.rewards.outcomes import all_pass
from workbench.rewards.rules import PLACE, WeightedComponent

if TYPE_CHECKING:
    import pandas

Scale = Literal["std", "none", "leave_one_out", "gdpo"]
"""How rewards become advantages; see `Scores.advantages`."""


@dataclass(frozen=True, eq=False, repr=False)
class Scores:
    """What each component of a design returned for each of N trajectories.

    >>> scores = Scores.of(run, None, design)                                # doctest: +SKIP
    >>> scores.rewards({"tampering": -0.5})                                  # doctest: +SKIP
    """

    design: RewardDesign
    """Names the columns, and is what `rewards` uses unless told otherwise."""
    groups: tuple[Group, ...]
    """The B groups that were scored."""
    raw: np.ndarray
    """(N, C) what the components returned, before weights and rules; NaN = None."""
    group: np.ndarray
    """(N,) int: which group a row is of."""
    trajectory: np.ndarray
    """(N,) int: which trajectory of its group."""
    places: tuple[tuple[str, int], ...] = ()
    """(stage, iteration) of each group; empty if the groups are not those of a stored run."""

    def __repr__(self) -> str:
        names = ", ".join(_names(self.design.components))
        return f"Scores of {len(self.raw)} attempts in {len(self.groups)} groups: {names}"

    @classmethod
    def of(
        cls,
        groups: Iterable[Group] | StoredRun,
        tasks: Iterable[Task] | None,
        design: RewardDesign,
    ) -> Scores:
        """Calls every component once for every trajectory.

        Args:
            groups: groups, or a stored run (`load_run`), which has its tasks with it.
            tasks: the tasks of the groups; None for a stored run.
        Raises:
            ValueError: if `design` is none, tasks are missing, or a component fails as in
                `RewardDesign.raw`.
        """
        expect_design("design", design)
        places = getattr(getattr(groups, "groups", groups), "places", ())
        groups, by_id = groups_and_tasks(groups, tasks)
        rows = [design.raw(t, task_of(g, by_id)) for g in groups for t in g.trajectories]
        sizes = [len(g.trajectories) for g in groups]
        index = np.repeat(np.arange(len(groups)), sizes)
        place = np.concatenate([np.arange(0), *(np.arange(size) for size in sizes)])
        raw = np.array(rows, dtype=float).reshape(len(rows), len(design.components))
        return cls(design, groups, raw, index, place, places)

    def rewards(self, weights: Mapping[str, float] | None = None) -> np.ndarray:
        """(N,) rewards; NaN = could not be judged. No component is called.

        Args:
            weights: other weights for some components, by name; for other rules see `under`.
        Raises:
            ValueError: as `RewardDesign.with_weights`.
        """
        design = self.design.with_weights(**weights) if weights else self.design
        counted = self._counted(design)
        column = np.array([c.weight for c in design.components])
        omitted = np.isnan(counted) & [c.optional for c in design.components]
        total = _exact_sums(np.where(omitted, 0.0, counted) * column)
        judged = ~omitted.all(axis=1)
        if design.is_normalised:
            divisor = _exact_sums(np.where(omitted, 0.0, column))
            judged &= divisor != 0.0
            total /= np.where(divisor, divisor, 1.0)
        return np.where(self._blocked(design), 0.0, np.where(judged, total, np.nan))

    def under(self, design: RewardDesign) -> Scores:
        """The scores of another design that is made of the same components, or of some of them.

        Weights, gates, blockers and what is optional may differ; nothing is called again.

        Raises ValueError if the design has a component that is not among these.
        """
        known = {(c.name, c.component): i for i, c in enumerate(self.design.components)}
        wanted = [(c.name, c.component) for c in design.components]
        if missing := [name for name, component in wanted if (name, component) not in known]:
            raise ValueError(
                f"components {missing} were not computed here (there are "
                f"{[c.name for c in self.design.components]}); call Scores.of with this design"
            )
        columns = [known[key] for key in wanted]
        return replace(self, design=design, raw=self.raw[:, columns])

    def with_weights(self, **weights: float) -> Scores:
        """The scores of the same design with other weights."""
        return replace(self, design=self.design.with_weights(**weights))

    def advantages(self, scale: Scale = "std", ddof: int = 1) -> np.ndarray:
        """(N,) advantages in the groups; NaN where the reward is.

        Args:
            scale: "std" and "none" as in `credit.group_advantages`; "leave_one_out" as in
                `credit.leave_one_out`; "gdpo" normalises each component by itself
                (`credit.decoupled_advantages`), of what counts: 0 behind a closed gate and
                everywhere where a blocker failed.
            ddof: for "std" and "gdpo": 1 = sample, 0 = population.
        Raises:
            ValueError: if `scale` is unknown or no group has two trajectories.
        """
        rewards = self.grid(self.rewards())
        if scale == "leave_one_out":
            return self.flat(leave_one_out(rewards))
        if scale in ("std", "none"):
            return self.flat(group_advantages(rewards, scale=scale, ddof=ddof))
        if scale != "gdpo":
            raise ValueError(
                f'scale: expected "std", "none", "leave_one_out" or "gdpo", got {scale!r}'
            )
        counted = self._counted(self.design)
        counted[self._blocked(self.design)] = 0.0
        counted = np.where(np.isnan(rewards)[:, :, None], np.nan, self.grid(counted))
        weights = [c.weight for c in self.design.components]
        return self.flat(decoupled_advantages(counted, weights, ddof=ddof))

    def breakdown(self, row: int) -> RewardBreakdown:
        """What `RewardDesign.score` gives for one row, of what was computed; nothing is called."""
        values = self.raw[row].tolist()
        return self.design.breakdown([None if math.isnan(v) else v for v in values])

    def truth(self, suite: str = "hidden") -> np.ndarray:
        """(N,) 1.0 where every test of `suite` passed, else 0.0; NaN where that is not known."""
        solved = all_pass(suite)  # reads the verdict and no task
        found = [solved(t, None) for g in self.groups for t in g.trajectories]
        return np.array(found, dtype=float)

    def grid(self, values: np.ndarray) -> np.ndarray:
        """(N, ...) values as (B, G, ...), short groups filled up with NaN: what `credit` takes."""
        size = max((len(g.trajectories) for g in self.groups), default=0)
        grid = np.full((len(self.groups), size, *values.shape[1:]), np.nan)
        grid[self.group, self.trajectory] = values
        return grid

    def flat(self, grid: np.ndarray) -> np.ndarray:
        """(B, G, ...) values back as (N, ...): the inverse of `grid`."""
        return grid[self.group, self.trajectory]

    def omitted(self) -> dict[str, int]:
        """How many trajectories each optional component could not judge."""
        missing = np.isnan(self._counted(self.design)).sum(axis=0)
        return {c.name: int(n) for c, n in zip(self.design.components, missing) if c.optional}

    def table(self) -> pandas.DataFrame:
        """A row a trajectory: where it stands, each component (unweighted), and the reward."""
        import pandas  # half a second that only tables need

        trajectories = [t for g in self.groups for t in g.trajectories]
        columns = {
            what: [self.places[g][i] for g in self.group]
            for i, what in enumerate(PLACE)
            if self.places
        }
        columns |= {
            "group": self.group,
            "trajectory": self.trajectory,
            "task_id": [t.task_id for t in trajectories],
            "stop_reason": [t.stop_reason for t in trajectories],
            "num_turns": [len(t.turns) for t in trajectories],
        }
        columns |= {c.name: self.raw[:, i] for i, c in enumerate(self.design.components)}
        columns["reward"] = self.rewards()
        return pandas.DataFrame(columns)

    def _counted(self, design: RewardDesign) -> np.ndarray:
        """(N, C) what counts of each component: 0 where one of its gates is closed."""
        counted = self.raw.copy()
        for i, component in enumerate(design.components):
            for gate in component.gates:
                open_gate = self._column(design, gate.needs) >= gate.at_least  # NaN is not
                counted[~open_gate, i] = 0.0
        return counted

    def _blocked(self, design: RewardDesign) -> np.ndarray:
        """(N,) bool: a blocker failed."""
        blocked = np.zeros(len(self.raw), dtype=bool)
        for c in design.components:
            if c.blocks_below is not None:
                blocked |= self._column(design, c.name) < c.blocks_below
        return blocked

    def _column(self, design: RewardDesign, name: str) -> np.ndarray:
        return self.raw[:, _names(design.components).index(name)]


def _names(components: Iterable[WeightedComponent]) -> list[str]:
    return [c.name for c in components]


def _exact_sums(values: np.ndarray) -> np.ndarray:
    """(N, C) to (N,): each row's sum, rounded once; NaN where the row has one."""
    return np.array([math.fsum(row) for row in values.tolist()])
