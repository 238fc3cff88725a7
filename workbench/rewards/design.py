"""A reward design: named components with weights and rules, and the breakdown they give.

Stage: rewards. Trajectories in, `RewardBreakdown` out, in microseconds and without running
anything, so that any design can be tried on stored attempts. `score` is the plain way, a
trajectory at a time; `rescoring` does the same for many at once, and tests hold the two together.
Left out: advantages (see `credit`), and how a design is stored (`storing`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.records import Group, RewardBreakdown, RewardPart, StoredRun, Task, Trajectory
from workbench.records.arguments import expect
from workbench.rewards.components import Component, collectors_of
from workbench.rewards.rules import Gate, WeightedComponent, check_rules, checked, number

if TYPE_CHECKING:
    import pandas


class RewardDesign:
    """What a trajectory is paid: the weighted sum of named components. Immutable.

    Rules are added by methods that return a new design: `gate` (counts only where another
    component is good enough), `blockers` (the total is 0 where one fails), `normalised`.

    >>> from workbench.rewards import all_pass, tampered
    >>> design = RewardDesign(tests=(all_pass("hidden"), 1.0), tampering=(tampered, -1.0))
    >>> design.gate("tampering", needs="tests").with_weights(tampering=-0.5)
    RewardDesign(
        tests=(all_pass('hidden'), 1.0),
        tampering=(tampered, -0.5),
    ).gate('tampering', needs='tests')
    """

    def __init__(
        self, /, *, optional: Sequence[str] = (), **components: tuple[Component, float]
    ) -> None:
        """A design of `name=(component, weight)` entries.

        Args:
            optional: names of components whose None leaves them out of the sum (and is counted)
                where that of any other leaves the trajectory without a total.
        Raises:
            ValueError: if there is no component, a name is taken, an entry is not such a pair, a
                weight is not a finite number, or `optional` names none of them.
        """
        if not components:
            raise ValueError("expected at least one name=(component, weight), got none")
        if isinstance(optional, str):
            raise ValueError(f'optional: expected a tuple of names, ("{optional}",), got a text')
        self.components = tuple(checked(name, pair) for name, pair in components.items())
        self.is_normalised = False
        for name in optional:
            self.components = self._replaced(name, "optional", optional=True)

    def with_weights(self, **weights: float) -> RewardDesign:
        """The same design with other weights for some of its components.

        Raises ValueError for a name that is no component or a weight that is not finite.
        """
        new = self
        for name, weight in weights.items():
            weight = checked(name, (self._named(name, "with_weights").component, weight)).weight
            new = new._with(new._replaced(name, "with_weights", weight=weight))
        return new

    def gate(self, name: str, *, needs: str, at_least: float = 1.0) -> RewardDesign:
        """A new design in which `name` counts only where `needs` returned `at_least` or more.

        Elsewhere it counts as 0, also where it could not judge. Several gates on one component
        must all be open. A style bonus behind a gate on the tests pays nobody for clean code
        that does not work.

        Raises ValueError if a name is unknown, or `needs` is optional or has a gate itself.
        """
        gate = Gate(self._named(needs, "gate").name, number(needs, at_least, "at_least"))
        gates = (*self._named(name, "gate").gates, gate)
        return self._with(self._replaced(name, "gate", gates=gates))

    def blockers(self, *names: str, at_least: float = 1.0) -> RewardDesign:
        """A new design whose total is 0 wherever one of `names` returned less than `at_least`.

        A failed blocker settles it: the total is 0 also where another component is None.

        Raises ValueError if a name is unknown, optional or behind a gate.
        """
        components = self.components
        for name in names:
            below = number(name, at_least, "at_least")
            components = self._with(components)._replaced(name, "blockers", blocks_below=below)
        return self._with(components)

    def normalised(self) -> RewardDesign:
        """A new design whose sum is divided by the sum of the weights that were judged.

        With components in [0, 1] the total is in [0, 1], as a rubric's score is; an optional
        component that could not judge takes its weight out of both sums.

        Raises ValueError if a weight is negative or all are 0.
        """
        return self._with(self.components, is_normalised=True)

    @property
    def collectors(self) -> tuple[str, ...]:
        """The collectors on request that its components read, each once, sorted."""
        return tuple(sorted({name for c in self.components for name in collectors_of(c.component)}))

    def component(self, name: str) -> WeightedComponent:
        """The line of the design called `name`. Raises ValueError if there is none."""
        for component in self.components:
            if component.name == name:
                return component
        names = [c.name for c in self.components]
        raise ValueError(f"expected a component of this design, one of {names}, got {name!r}")

    def raw(self, trajectory: Trajectory, task: Task) -> list[float | None]:
        """What each component returns, in order, before weights and rules.

        Of an aborted episode all are None and none is called: it was cut off by a fault of ours,
        so nothing in it is the policy's to answer for, and no rule makes a total of None alone.

        Raises ValueError if the trajectory is none or of another task, or a component returns
        anything but a finite number or None.
        """
        what_to_do = "groups are scored by score_groups([group], [task])"
        expect("trajectory", trajectory, Trajectory, "a Trajectory", what_to_do)
        if trajectory.task_id != task.task_id:
            raise ValueError(
                f"expected the task {trajectory.task_id!r} of this trajectory, got "
                f"{task.task_id!r}; pass the task that was rolled out"
            )
        if trajectory.stop_reason == "abort":
            return [None] * len(self.components)
        return [number(c.name, c.component(trajectory, task)) for c in self.components]

    def score(self, trajectory: Trajectory, task: Task) -> RewardBreakdown:
        """The reward of one trajectory and where it came from. Errors as for `raw`."""
        return self.breakdown(self.raw(trajectory, task))

    def breakdown(self, raw: Sequence[float | None]) -> RewardBreakdown:
        """The reward that follows from what the components returned, in order; none is called.

        The total is None if a component is None that is neither optional nor behind a closed
        gate: the trajectory cannot be judged.
        """
        values = dict(zip((c.name for c in self.components), raw))
        parts = tuple(_part(c, values) for c in self.components)
        judged = [part for part in parts if not part.omitted]
        blocked = tuple(
            c.name
            for c in self.components
            if c.blocks_below is not None and _below(values[c.name], c.blocks_below)
        )
        divisor = math.fsum(part.weight for part in judged) if self.is_normalised else 1.0
        if blocked:
            return RewardBreakdown(parts, 0.0, blocked, divisor)
        if not judged or not divisor or any(part.weighted is None for part in judged):
            return RewardBreakdown(parts, None, (), divisor)
        total = math.fsum(part.weighted for part in judged) / divisor
        return RewardBreakdown(parts, total, (), divisor)

    def score_groups(
        self, groups: Iterable[Group], tasks: Iterable[Task]
    ) -> list[list[RewardBreakdown]]:
        """Breakdowns of all trajectories, one list a group; tasks are found by their id."""
        by_id = {task.task_id: task for task in tasks}
        return [
            [self.score(t, task_of(group, by_id)) for t in group.trajectories] for group in groups
        ]

    def score_many(
        self, groups: Iterable[Group] | StoredRun, tasks: Iterable[Task] | None = None
    ) -> pandas.DataFrame:
        """A table: a row a trajectory, a column a component (unweighted), and the reward.

        Columns: `rules.COLUMNS` and the component names; NaN where a component could not judge.
        "stage" and "iteration" are there for a stored run and for its groups (`run.groups`,
        `run.groups(stage="rl")`), of others they are not known.

        Args:
            groups: groups, or a stored run (`load_run`), which has its tasks with it.
            tasks: the tasks of the groups; not needed for a stored run.
        """
        from workbench.rewards.rescoring import Scores  # it imports this module

        return Scores.of(groups, tasks, self).table()

    def to_json(self) -> dict[str, Any]:
        """Plain JSON that `from_json` reads: see `storing.design_to_json`."""
        from workbench.rewards.storing import design_to_json

        return design_to_json(self)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> RewardDesign:
        """The design that `to_json` described: see `storing.design_from_json`."""
        from workbench.rewards.storing import design_from_json

        return design_from_json(stored)

    def to_python(self) -> str:
        """Source text that makes this design anew, as `design`: see `storing.design_to_python`."""
        from workbench.rewards.storing import design_to_python

        return design_to_python(self)

    def __repr__(self) -> str:
        lines = [f"    {c.name}=({_shown(c.component)}, {c.weight})," for c in self.components]
        if optional := tuple(c.name for c in self.components if c.optional):
            lines.append(f"    optional={optional!r},")
        calls = [c.calls() for c in self.components] + [".normalised()" * self.is_normalised]
        return "\n".join(("RewardDesign(", *lines, ")")) + "".join(calls)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RewardDesign):
            return NotImplemented
        return vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((self.components, self.is_normalised))

    def _named(self, name: str, what: str) -> WeightedComponent:
        """`component(name)`; an error begins with what was asked for."""
        try:
            return self.component(name)
        except ValueError as error:
            raise ValueError(f"{what}: {error}") from None

    def _replaced(self, name: str, what: str, **changes: Any) -> tuple[WeightedComponent, ...]:
        """The components with `changes` to the one called `name`."""
        wanted = self._named(name, what)
        return tuple(replace(c, **changes) if c is wanted else c for c in self.components)

    def _with(self, components: tuple[WeightedComponent, ...], **changes: Any) -> RewardDesign:
        new = object.__new__(RewardDesign)
        vars(new).update(vars(self) | changes | {"components": components})
        check_rules(new.components, new.is_normalised)
        return new


def expect_design(name: str, value: object) -> None:
    """Raises ValueError unless `value`, given as the argument `name`, is a reward design."""
    if not isinstance(value, RewardDesign):
        raise ValueError(
            f"{name}: expected a RewardDesign, got {value!r:.80}; for example "
            'RewardDesign(tests=(all_pass("hidden"), 1.0))'
        )


def totals(breakdowns: Sequence[Sequence[RewardBreakdown]]) -> np.ndarray:
    """(B, G) float array of rewards for `credit`; NaN = left out of its group's baseline.

    Groups of unequal size are filled up with NaN; a scheme wants such a row cut to its group's
    attempts, `row[: len(group.trajectories)]`.
    """
    size = max((len(row) for row in breakdowns), default=0)
    rewards = np.full((len(breakdowns), size), np.nan)
    for b, row in enumerate(breakdowns):
        rewards[b, : len(row)] = [math.nan if r.total is None else r.total for r in row]
    return rewards


def task_of(group: Group, by_id: Mapping[str, Task]) -> Task:
    """The group's task. Raises ValueError if it is not among those given."""
    if group.task_id not in by_id:
        raise ValueError(
            f"no task {group.task_id!r} among the {len(by_id)} given; pass the tasks that were "
            "rolled out"
        )
    return by_id[group.task_id]


def _part(c: WeightedComponent, values: Mapping[str, float | None]) -> RewardPart:
    raw = values[c.name]
    gated = any(not _reaches(values[gate.needs], gate.at_least) for gate in c.gates)
    return RewardPart(c.name, raw, c.weight, gated, c.optional and raw is None and not gated)


def _reaches(value: float | None, at_least: float) -> bool:
    return value is not None and value >= at_least


def _below(value: float | None, limit: float) -> bool:
    return value is not None and value < limit


def _shown(component: Component) -> str:
    return getattr(component, "__name__", None) or repr(component)
