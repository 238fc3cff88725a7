"""Exercises: a reader's function compared with right answers, or with the package's own function.

Stage: outside the loop. In: the reader's function; out: printed lines that say input, expected and
got, and `solved`. Only `require`, which a grading program calls, raises. Left out: judging how an
answer is written.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from workbench.checks.calling import Answer, NotDone, TookTooLong, call, time_limit
from workbench.checks.comparing import difference, shown
from workbench.checks.memory import judged, not_attempted, said, solved
from workbench.checks.shrinking import shrink

SHRINK_S = 3.0
"""Seconds spent looking for a smaller failing input."""


def run(
    question: str,
    attempt: Callable,
    cases: Sequence[tuple],
    tolerance: float = 1e-9,
    time_limit_s: float = 10.0,
) -> None:
    """Compare a reader's function with the right answers; says what it found, in `solved` too.

    Args:
        question: its name in the notebook.
        attempt: the reader's function; NotImplementedError means "not attempted yet".
        cases: ((arguments...), expected) pairs; an exception class as expected must be raised. A
            third item is a story, printed in place of the arguments.
        tolerance: numbers this close are equal.
        time_limit_s: seconds a call may take (see `calling` for where this works).
    """
    for arguments, expected, *story in cases:
        answer = call(attempt, arguments, time_limit_s)
        if answer.is_stub:
            return not_attempted(question)
        if wrong := _what_is_wrong(answer, expected, tolerance):
            given = story[0] if story else _named(attempt, arguments)
            return judged(question, False, _report(given, expected, answer, wrong))
    judged(question, True, f"right, {len(cases)} of {len(cases)} cases.")


def same_as(
    question: str,
    attempt: Callable,
    ours: Callable,
    inputs: Callable[[np.random.Generator], tuple],
    seed: int = 0,
    *,
    edges: Sequence[tuple] = (),
    num_inputs: int = 50,
    tolerance: float = 1e-6,
    time_limit_s: float = 10.0,
) -> None:
    """Compare a reader's function with the package's, on edge cases and random input.

    Args:
        question, attempt, tolerance, time_limit_s: as for `run`.
        ours: the package's function. Where it raises an exception, `attempt` must raise one of the
            same kind.
        inputs: makes the arguments of one call from a random generator.
        edges: arguments that are tried first.
    A difference is shown on the smallest failing input found.
    """
    rng = np.random.default_rng(seed)
    tried = [*edges, *(inputs(rng) for _ in range(num_inputs))]
    for arguments in tried:
        expected = _expected(ours, arguments)
        answer = call(attempt, arguments, time_limit_s)
        if answer.is_stub:
            return not_attempted(question)
        if _what_is_wrong(answer, expected, tolerance):
            small = _smallest(attempt, ours, arguments, tolerance, answer)
            expected, answer = _expected(ours, small), call(attempt, small, time_limit_s)
            wrong = _what_is_wrong(answer, expected, tolerance) or "not the same answer each time"
            return judged(question, False, _report(_named(attempt, small), expected, answer, wrong))
    words = f" and {len(edges)} edge cases" if edges else ""
    judged(question, True, f"right, the same as the package's on {num_inputs} inputs{words}.")


def require(question: str) -> None:
    """Raise AssertionError with what was last said, unless the newest attempt was right.

    For grading programs; a notebook that is read calls `run` and its kin alone.
    """
    if not solved.get(question, False):
        raise AssertionError(said.get(question, f"{question}: its check was not run."))


def _expected(ours: Callable, arguments: tuple) -> Any:
    """What the package's function returns, or the class of what it raises."""
    answer = call(ours, arguments)
    return answer.value if answer.error is None else type(answer.error)


def _what_is_wrong(answer: Answer, expected: Any, tolerance: float) -> str:
    """What is wrong with an answer, in words; "" if it is right."""
    if isinstance(expected, type) and issubclass(expected, BaseException):
        raised = isinstance(answer.error, expected)
        return "" if raised else f"expected {expected.__name__} to be raised"
    if answer.error is not None:
        return f"it raised {type(answer.error).__name__}"
    return difference(answer.value, expected, tolerance) or answer.changed


def _smallest(
    attempt: Callable, ours: Callable, arguments: tuple, tolerance: float, answer: Answer
) -> tuple:
    best = arguments

    def fails(candidate: tuple) -> bool:
        nonlocal best
        right = call(ours, candidate)
        if right.error is not None:  # outside of what the function is for
            return False
        if wrong := _what_is_wrong(call(attempt, candidate), right.value, tolerance):
            best = candidate
        return bool(wrong)

    if isinstance(answer.error, NotDone):
        return arguments  # every try would take as long
    try:
        with time_limit(SHRINK_S):
            shrink(arguments, fails)
    except TookTooLong:
        pass  # the best so far will do
    return best


def _report(given: str, expected: Any, answer: Answer, wrong: str) -> str:
    got = answer.value if answer.error is None else answer.error
    lines = [f"  expected {shown(expected)}", f"  got      {shown(got)}"]
    if isinstance(expected, type) and issubclass(expected, BaseException):
        lines[0] = f"  expected {expected.__name__} to be raised"
    said_already = (
        f"expected {shown(expected)}, got {shown(got)}",
        f"it raised {type(got).__name__}",
        lines[0].strip(),
    )
    if wrong not in said_already:
        lines.append(textwrap.indent(wrong, "  "))
    if answer.changed and wrong != answer.changed:
        lines.append(f"  also, {answer.changed}")
    return "\n".join([f"for {given}", *lines])


def _named(attempt: Callable, arguments: tuple) -> str:
    """The arguments with their names where several make names useful."""
    limit = 60 if len(arguments) > 1 else 200
    try:
        names = list(inspect.signature(attempt).parameters)
    except (TypeError, ValueError):
        names = []
    if len(arguments) < 2 or len(names) < len(arguments):
        return ", ".join(shown(argument, limit) for argument in arguments)
    return ", ".join(f"{n} = {shown(a, limit)}" for n, a in zip(names, arguments))
