"""What a run's folder holds of its rollouts: iterations, and their groups in one sequence.

Stage: beside the loop. In: iterations as they were written; out: the same, chosen by stage or
iteration, and in a few lines of numbers where a notebook's cell prints them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from workbench.records import Group, RewardBreakdown, Task, in_numbers


@dataclass(frozen=True)
class StoredIteration:
    """One iteration's rollouts with what was made of them."""

    stage: str
    """"rft" or "rl"; of a recording, whose attempts they are."""
    iteration: int
    """Index within its stage, from 0."""
    tasks: tuple[Task, ...]
    """One a group."""
    groups: tuple[Group, ...]
    """As sampled."""
    rewards: tuple[tuple[RewardBreakdown, ...], ...]
    """One row a group, one breakdown a trajectory."""
    advantages: tuple[tuple[float | tuple[float, ...], ...], ...]
    """A row a group, a number a trajectory or, where they differ, a turn; nan = left out."""

    def __repr__(self) -> str:
        return f"StoredIteration({self.stage!r}, {self.iteration}, {in_numbers(self.groups)})"


class StoredIterations(list[StoredIteration]):
    """Every iteration of a run in order; prints as a line a stage."""

    def __repr__(self) -> str:
        return _by_stage(self, f"{len(self)} stored iterations", _numbered)


class StoredGroups(list[Group]):
    """Groups of a run in order; called with a stage or an iteration, those alone. Prints as a line
    a stage."""

    def __init__(self, iterations: Iterable[StoredIteration]):
        self._iterations = tuple(iterations)
        super().__init__(group for stored in self._iterations for group in stored.groups)

    def __call__(self, *, iteration: int | None = None, stage: str | None = None) -> StoredGroups:
        """The groups of one iteration, of one stage, or of both together.

        Raises ValueError if nothing of that name was stored; it says what was.
        """
        chosen = self._iterations
        if stage is not None:
            chosen = _chosen(chosen, "stage", stage)
        if iteration is not None:
            chosen = _chosen(chosen, "iteration", iteration)
        return StoredGroups(chosen)

    @property
    def places(self) -> tuple[tuple[str, int], ...]:
        """(stage, iteration) of each group."""
        return tuple((one.stage, one.iteration) for one in self._iterations for _ in one.groups)

    def __repr__(self) -> str:
        return _by_stage(self._iterations, in_numbers(self), _groups_in_numbers)


def _chosen(
    iterations: Sequence[StoredIteration], what: str, wanted: str | int
) -> tuple[StoredIteration, ...]:
    """Those whose stage or index is the one that is wanted; ValueError if there is none."""
    if found := tuple(one for one in iterations if getattr(one, what) == wanted):
        return found
    there = list(dict.fromkeys(getattr(one, what) for one in iterations))
    if not there:
        raise ValueError(f"{what}: expected a run with rollouts, got one in which none was stored")
    shown = there if what == "stage" or len(there) < 5 else f"{min(there)} to {max(there)}"
    raise ValueError(f"{what}: expected one that was stored, {shown}, got {wanted!r}")


def _by_stage(
    iterations: Sequence[StoredIteration],
    title: str,
    words: Callable[[Sequence[StoredIteration]], str],
) -> str:
    """The title and, where there are several stages, a line each."""
    stages = list(dict.fromkeys(one.stage for one in iterations))
    width = max(map(len, stages), default=0)
    of = {stage: [one for one in iterations if one.stage == stage] for stage in stages}
    if len(stages) == 1:
        return f"{title} (stage {stages[0]!r})"
    return "\n".join([title, *(f"  {stage:<{width}}  {words(of[stage])}" for stage in stages)])


def _groups_in_numbers(iterations: Sequence[StoredIteration]) -> str:
    return in_numbers([group for one in iterations for group in one.groups])


def _numbered(iterations: Sequence[StoredIteration]) -> str:
    first, last = iterations[0].iteration, iterations[-1].iteration
    which = f"iteration {first}" if first == last else f"iterations {first} to {last}"
    return f"{which}: {_groups_in_numbers(iterations)}"
