"""What all adapters of rewards share: find the task, grade the completion, score the trajectory.

Stage: adapters. Completions go in, trajectories with their reward breakdowns come out, as many at
a time as the sandbox has workers. Several functions of one design that are asked about the same
completions share one judgement: the code runs once. Left out: what each library wants returned.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from workbench.adapters.attempt import Attempt, replay
from workbench.adapters.opening import Opening
from workbench.grading.collectors import check_collectors, collect_for
from workbench.records import RewardBreakdown, Task, Trajectory
from workbench.rewards import RewardDesign
from workbench.sandbox import Sandbox


@dataclass(frozen=True)
class Judged:
    """One completion, graded and scored."""

    trajectory: Trajectory
    """What was done, and what grading found."""
    reward: RewardBreakdown
    """What it is paid; the total is None if it cannot be judged."""


@dataclass
class _Shared:
    """A judgement that several functions ask for."""

    future: Future
    """Its result, once it is there."""
    to_come: int
    """How many functions have not asked yet."""


class Judge:
    """A design, its tasks by id, and where their code runs. Safe to call from any thread."""

    def __init__(
        self,
        design: RewardDesign,
        tasks: Iterable[Task],
        sandbox: Sandbox | Callable[[], Sandbox],
        *,
        sharers: int = 1,
        remembered: int = 4,
    ) -> None:
        """A judge with nothing judged yet.

        Args:
            sandbox: an open one, or a function that opens one when first needed, in the process
                that scores; only with the second can this be sent to another process.
            sharers: how many functions ask for each judgement, once each.
            remembered: judgements kept, at most, until the last of them has asked.
        Raises:
            ValueError: if the design reads what cannot be collected of a task.
        """
        self.design = design
        self.tasks = {task.task_id: task for task in tasks}
        check_collectors(design.collectors, sandbox, self.tasks.values())
        self._opening, self._sharers, self._remembered = Opening(sandbox), sharers, remembered
        self._prepare()

    def task(self, task_id: str) -> Task:
        """The task of that id. Raises ValueError if it was not given."""
        if task_id not in self.tasks:
            raise ValueError(
                f"no task {task_id!r} among the {len(self.tasks)} given; give the tasks the "
                "dataset was made from"
            )
        return self.tasks[task_id]

    def replay(self, task_id: str, completion: Any, ids: Sequence[int] = ()) -> Attempt:
        """The attempt that a completion records (see `attempt.replay`), not yet graded."""
        return replay(self.task(task_id), completion, self.sandbox, ids)

    def judge(self, attempts: Iterable[Callable[[], Attempt]]) -> list[Judged]:
        """Play and grade many attempts in parallel, collect what the design reads, and score them;
        in the given order."""
        with ThreadPoolExecutor(self.sandbox.workers, "judging") as pool:
            graded = list(pool.map(_graded, attempts))
            tasks = [task for _, task in graded]
            collectors = self.design.collectors
            known = collect_for([t for t, _ in graded], tasks, collectors, self.sandbox)
            return list(map(Judged, known, pool.map(self.design.score, known, tasks)))

    def shared(self, key: Hashable, work: Callable[[], list[Judged]]) -> list[Judged]:
        """What `work()` returns. Of the functions that ask with an equal key the first works, the
        others wait for it; the last one makes it forgotten, and so does an error."""
        if self._sharers == 1:
            return work()
        with self._lock:
            shared = self._recent.get(key)
            mine = shared is None
            if mine:
                shared = self._recent[key] = _Shared(Future(), self._sharers)
                while len(self._recent) > self._remembered:
                    del self._recent[next(iter(self._recent))]
            shared.to_come -= 1
            if shared.to_come == 0:
                del self._recent[key]
        if mine:
            try:
                shared.future.set_result(work())
            except BaseException as error:
                with self._lock:
                    self._recent.pop(key, None)
                shared.future.set_exception(error)
        return shared.future.result()

    @property
    def sandbox(self) -> Sandbox:
        """The open sandbox."""
        return self._opening.sandbox

    def _prepare(self) -> None:
        """What is not sent to another process."""
        self._lock = threading.Lock()
        self._recent: dict[Hashable, _Shared] = {}

    def __getstate__(self) -> tuple:
        return self.design, self.tasks, self._opening, self._sharers, self._remembered

    def __setstate__(self, state: tuple) -> None:
        self.design, self.tasks, self._opening, self._sharers, self._remembered = state
        self._prepare()


def _graded(attempt: Callable[[], Attempt]) -> tuple[Trajectory, Task]:
    played = attempt()
    return played.trajectory, played.task


def check_is_a_sum(design: RewardDesign) -> None:
    """Raises ValueError for a design with rules: its total is no weighted sum of its components.

    Libraries that take one function and one weight a component can only add.
    """
    rules = "".join(c.calls() for c in design.components)
    rules += ".normalised()" * design.is_normalised
    if rules:
        raise ValueError(
            f"design: expected a weighted sum of its components, got one with {rules}, which one "
            "function a component cannot carry; leave the rule out, or use TRL's as_reward, which "
            "gives the total"
        )
