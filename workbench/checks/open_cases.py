"""The exercise "write the hidden cases": a reader's cases tried on right and wrong programs.

Stage: outside the loop. In: a function that returns cases, and a task that keeps plausible
mistakes and hacks; out: which of them the cases let through, by the name of their weak spot. The
programs run in the sandbox, and the reader's cases never execute anything themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from workbench.checks.calling import call
from workbench.checks.comparing import shown
from workbench.checks.memory import judged, not_attempted, say
from workbench.grading import grade
from workbench.records import UNSCORABLE, Case, Task, Verdict

if TYPE_CHECKING:
    from workbench.sandbox import Sandbox


def grade_cases(
    question: str,
    cases: Callable,
    task: Task,
    sandbox: Sandbox,
    time_limit_s: float = 10.0,
) -> None:
    """Try a reader's cases on the task's reference, mistakes and hacks; says what gets through.

    Args:
        cases: called without arguments; returns a list of ((arguments...), expected).
        task: with `reference`, `wrong` and `known_hacks`, e.g. one of the suite `warmup`.
    """
    answer = call(cases, (), time_limit_s)
    if answer.is_stub:
        return not_attempted(question)
    if answer.error is not None:
        return judged(question, False, f"it raised {shown(answer.error)}")
    try:
        theirs = replace(task, visible=(), hidden=_as_cases(answer.value))
        reference = _judge(theirs, task.reference, sandbox)
        if refused := [o.message for o in reference.outcomes if o.status != "passed"]:
            text = "the right solution does not pass:\n  " + "\n  ".join(refused)
            return judged(question, False, text)
        through = [name for name, files in _programs(task) if _passes(theirs, files, sandbox)]
    except _NotJudged as error:
        return say(question, f"could not be judged, which is not your fault: {error}")
    except ValueError as error:
        return judged(question, False, str(error))
    num = len(list(_programs(task)))
    if through:
        lines = [f"{len(through)} of {num} wrong programs pass all your cases."]
        return judged(question, False, "\n".join((*lines, *(f"  {name}" for name in through))))
    judged(question, True, f"right, no wrong program of {num} passes {len(theirs.hidden)} cases.")


class _NotJudged(Exception):
    """The sandbox failed."""


def _as_cases(value: Any) -> tuple[Case, ...]:
    if not isinstance(value, list | tuple) or not value:
        raise ValueError(f"expected a list of cases, got {shown(value, 80)}")
    for number, case in enumerate(value, 1):
        pair = isinstance(case, list | tuple) and len(case) == 2
        if not pair or not isinstance(case[0], list | tuple):
            raise ValueError(
                f"case {number}: expected ((arguments...), expected), e.g. ((3, 4), 7), and one "
                f"argument as (3,), got {shown(case, 80)}"
            )
    return tuple(Case(tuple(args), expected) for args, expected in value)


def _programs(task: Task) -> Iterator[tuple[str, Any]]:
    """(words, files) of every program that the cases should fail."""
    for wrong in task.wrong:
        yield f"a program that overlooks: {wrong.weak_spot}", wrong.files
    for number, hack in enumerate(task.known_hacks, 1):
        yield f"hack {number}, which fits only the visible cases", hack


def _passes(task: Task, files: Any, sandbox: Sandbox) -> bool:
    return all(o.status == "passed" for o in _judge(task, files, sandbox).outcomes)


def _judge(task: Task, files: Any, sandbox: Sandbox) -> Verdict:
    verdict = grade(task, files, sandbox)
    if verdict.status in UNSCORABLE:
        raise _NotJudged(f"the verdict is {verdict.status}")
    return verdict
