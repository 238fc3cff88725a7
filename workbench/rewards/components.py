"""What a reward component is: a pure function `(trajectory, task) -> float | None`.

Stage: rewards. Components read what was recorded when the episode ended and never run code. None
means "cannot be judged", which is not zero. A setting such as the suite is fixed by a function that
returns the component: `all_pass("hidden")`. Left out: the components themselves, by theme in
`outcomes`, `presets`, `conduct`, `changes` and `quality`; weights and sums (`design`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from workbench.records import Task, Trajectory

Component = Callable[[Trajectory, Task], float | None]
"""Any such callable is a component, also one that is defined in a notebook."""


class Configured:
    """A component that remembers how it was made: readable, comparable and picklable.

    `configured` puts it around what a function returns; calling it calls the component.
    """

    def __init__(self, maker: Callable[..., Component], args: tuple, kwargs: dict[str, Any]):
        self.maker, self.args, self.kwargs = maker, args, kwargs
        self._component = maker.__wrapped__(*args, **kwargs)
        self.collectors = collectors_of(self._component)
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


def needs(*collectors: str) -> Callable[[Component], Component]:
    """Decorator for a component that reads what these collectors on request see: whoever scores
    new attempts runs them first (`RewardDesign.collectors`).

    >>> @needs("lint")
    ... def tidy(trajectory, task):
    ...     return float(not trajectory.evidence.lint)
    >>> collectors_of(tidy)
    ('lint',)
    """

    def declare(component: Component) -> Component:
        component.collectors = collectors
        return component

    return declare


def collectors_of(component: Component) -> tuple[str, ...]:
    """What the component said with `needs`; () = it reads what is always there."""
    return getattr(component, "collectors", ())


def is_maker(function: object) -> bool:
    """True for a function that `configured` decorates: it makes components and is none itself."""
    return getattr(function, "makes_components", False)


def _make(maker: Callable[..., Component], args: tuple, kwargs: dict[str, Any]) -> Component:
    return maker(*args, **kwargs)


def evidence(trajectory: Trajectory, field: str, collector: str, component: str) -> Any:
    """What a collector saw; ValueError naming the collector if it did not run."""
    found = getattr(trajectory.evidence, field)
    if found is None:
        raise ValueError(
            f"task {trajectory.task_id}: `{component}` needs the collector {collector!r}, which "
            "did not run for this trajectory; collect it before rewarding"
        )
    return found


def python_only(task: Task, component: str) -> None:
    """Raises ValueError for a task in another language, of which `component` cannot read files."""
    if task.language != "python":
        raise ValueError(
            f"task {task.task_id}: `{component}` reads Python, and this task is in "
            f"{task.language}; leave it out of the design for such tasks"
        )
