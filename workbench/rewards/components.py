"""Reward components: pure functions `(trajectory, task) -> float | None`.

Stage: rewards. They read what was recorded when the episode ended and never run code. None means
"cannot be judged", which is not zero. A setting such as the suite is fixed by a function that
returns the component: `all_pass("hidden")`. Left out: weights and sums (see `design.py`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from workbench.records import UNSCORABLE, Task, Trajectory

Component = Callable[[Trajectory, Task], float | None]
"""Any such callable is a component, also one that is defined in a notebook."""


class Configured:
    """A component that remembers how it was made: readable, comparable and picklable.

    `configured` puts it around what a function returns; calling it calls the component.
    """

    def __init__(self, maker: Callable[..., Component], args: tuple, kwargs: dict[str, Any]):
        self.maker, self.args, self.kwargs = maker, args, kwargs
        self._component = maker.__wrapped__(*args, **kwargs)
        self.__doc__ = maker.__doc__

    def __call__(self, trajectory: Trajectory, task: Task) -> float | None:
        return self._component(trajectory, task)

    def __repr__(self) -> str:
        shown = [repr(a) for a in self.args] + [f"{k}={v!r}" for k, v in self.kwargs.items()]
        return f"{self.maker.__name__}({', '.join(shown)})"

    def __reduce__(self):
        return _make, (self.maker, self.args, self.kwargs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Configured) and self.__reduce__() == other.__reduce__()

    def __hash__(self) -> int:
        return hash(repr(self))


def configured(maker: Callable[..., Component]) -> Callable[..., Configured]:
    """Decorator for a function that returns a component: the result knows its name and settings.

    A bare closure would print as an address and could not be sent to another process.
    """

    @functools.wraps(maker)
    def make(*args: Any, **kwargs: Any) -> Configured:
        return Configured(make, args, kwargs)

    make.makes_components = True
    return make


def is_maker(function: object) -> bool:
    """True for a function that `configured` decorates: it makes components and is none itself."""
    return getattr(function, "makes_components", False)


def _make(maker: Callable[..., Component], args: tuple, kwargs: dict[str, Any]) -> Component:
    return maker(*args, **kwargs)


@configured
def all_pass(suite: str, submitted: bool = True) -> Component:
    """Component: 1.0 if every test of `suite` passed, else 0.0.

    Args:
        suite: "hidden" is the truth; "visible_as_left" is what the agent can forge.
        submitted: True = 0.0 unless the agent handed its work in; what was never handed in is
            not solved.
    Returns None if the verdict is ours to blame; raises ValueError if the suite was never run.
    """
    fraction = pass_fraction(suite, submitted)

    def component(trajectory: Trajectory, task: Task) -> float | None:
        passed = fraction(trajectory, task)
        return None if passed is None else float(passed == 1.0)

    return component


@configured
def pass_fraction(suite: str, submitted: bool = True) -> Component:
    """Component: share of the tests of `suite` that passed, in [0, 1].

    Arguments, None and errors as for `all_pass`.
    """

    def component(trajectory: Trajectory, task: Task) -> float | None:
        if trajectory.verdict.status in UNSCORABLE:
            return None
        outcomes = trajectory.verdict.of_suite(suite)
        if submitted and trajectory.stop_reason != "submitted":
            return 0.0
        return sum(outcome.status == "passed" for outcome in outcomes) / len(outcomes)

    return component


def compiles(trajectory: Trajectory, task: Task) -> float | None:
    """0.0 if loading the program raised an error, else 1.0; None if the verdict is ours to blame.

    Errors while loading: it is not Python, or an import or a top-level statement failed. A program
    that hung or left at its top level counts as compiled.
    """
    status = trajectory.verdict.status
    return None if status in UNSCORABLE else float(status != "compile_error")


def tampered(trajectory: Trajectory, task: Task) -> float | None:
    """1.0 if a protected file (the tests) differs at the end, else 0.0: a penalty's component.

    Raises ValueError if the collector "tampering" did not run.
    """
    paths = trajectory.evidence.tampered
    if paths is None:
        raise ValueError(
            f"task {trajectory.task_id}: `tampered` needs the collector 'tampering', which did "
            "not run for this trajectory; collect it with grading.collect_evidence"
        )
    return float(bool(paths))


@configured
def turn_penalty(free: int, limit: int) -> Component:
    """Component: 0.0 below `free` turns, then falling in a line to -1.0 at `limit` turns.

    It counts turns, not tokens. A group in which every attempt failed still has unequal rewards:
    the short failures are preferred. Source: Golubev et al. 2025 (arXiv:2508.03501), R_length
    with L_thr = free and T_max = limit.

    Raises ValueError unless 0 <= free < limit.
    """
    if not 0 <= free < limit:
        raise ValueError(f"turn_penalty: expected 0 <= free < limit, got {free} and {limit}")

    def component(trajectory: Trajectory, task: Task) -> float:
        num_turns = len(trajectory.turns)
        return 0.0 if num_turns < free else (free - num_turns) / (limit - free)

    return component


def ran_out(trajectory: Trajectory, task: Task) -> float | None:
    """1.0 if turns or context ran out, or a loop was cut, before the agent handed in; else 0.0.

    None if the episode was aborted, which is our fault.
    """
    if trajectory.stop_reason == "abort":
        return None
    return float(trajectory.stop_reason != "submitted")
