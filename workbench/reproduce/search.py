"""Two ways to repair a bug without a policy: random edits, and trying every known mutation.

Stage: beside the loop. In: bugfix tasks and a sandbox; out: what each attempt did. Both know more
than the policy is told: the right file, and that bugs are one mutated line. Left out: orders of
trying that learn from earlier tasks.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from workbench.grading import grade, grade_many
from workbench.records import UNSCORABLE, Task, Verdict
from workbench.sandbox import Sandbox
from workbench.tasks.mutators import mutations


def random_edits(tasks: Sequence[Task], sandbox: Sandbox, tries: int, seed: int) -> np.ndarray:
    """(tasks, tries) of 1.0 where a random edit passes every hidden case, NaN = not judged."""
    rng = random.Random(f"random edits/{seed}")
    pairs = [(task, random_edit(task, rng)) for task in tasks for _ in range(tries)]
    verdicts = grade_many(pairs, sandbox)
    return np.array([_passed(v, "hidden") for v in verdicts]).reshape(len(tasks), tries)


def random_edit(task: Task, rng: random.Random) -> str:
    """The text of the broken file with one mutation of one line; the line is drawn among those
    that a mutator can change, comments and headers too, then one of its mutations."""
    lines = task.files[task.entry_file].splitlines()
    choices = {n: found for n, line in enumerate(lines) if (found := list(mutations(line)))}
    number = rng.choice(sorted(choices))
    return _with_line(lines, number, rng.choice(choices[number]).line)


@dataclass(frozen=True)
class Found:
    """How the search went on one task."""

    executions: int
    """Candidates that were run on the visible cases, the submitted one included."""
    submitted: bool
    """Whether a candidate passed them."""
    solved: bool | None
    """Whether that one passes the hidden cases too; None = it could not be judged."""
    reachable: bool
    """Whether the reference is among the candidates at all."""


def try_every_mutation(tasks: Sequence[Task], sandbox: Sandbox) -> list[Found]:
    """For each task, the candidates in order until one passes the visible cases."""
    with ThreadPoolExecutor(sandbox.workers, "search") as pool:
        return list(pool.map(lambda task: _search(task, sandbox), tasks))


def candidates(task: Task) -> Iterator[str]:
    """The broken file with each single mutation of each body line of the target function, every
    text once, in the order of lines and of the list of mutators.

    Mutators are not closed under inversion: what a "lost_sorted" took away none of them puts
    back, so some references are never tried.
    """
    lines = task.files[task.entry_file].splitlines()
    seen = {task.files[task.entry_file]}
    for number in body_lines(lines, task.entry_point):
        for mutation in mutations(lines[number]):
            text = _with_line(lines, number, mutation.line)
            if text not in seen:
                seen.add(text)
                yield text


def body_lines(lines: Sequence[str], name: str) -> list[int]:
    """Indices of the code lines of a function's body: its header, comments and blanks are no
    place for a bug."""
    start = next(n for n, line in enumerate(lines) if line.startswith(f"def {name}("))
    body = []
    for number in range(start + 1, len(lines)):
        if lines[number].startswith("def "):
            break
        if lines[number].strip() and not lines[number].lstrip().startswith("#"):
            body.append(number)
    return body


def _search(task: Task, sandbox: Sandbox) -> Found:
    executions = 0
    reachable = task.reference[task.entry_file] in set(candidates(task))
    for executions, text in enumerate(candidates(task), 1):
        verdict = grade(task, text, sandbox)  # visible and hidden cases in one execution
        if _passed(verdict, "visible_pristine") == 1.0:  # all the search is allowed to see
            hidden = _passed(verdict, "hidden")
            return Found(executions, True, None if np.isnan(hidden) else hidden == 1.0, reachable)
    return Found(executions, False, False, reachable)


def _passed(verdict: Verdict, suite: str) -> float:
    """1.0 if every case of the suite passed, else 0.0; NaN if the verdict is our fault."""
    if verdict.status in UNSCORABLE:
        return float("nan")
    return float(all(outcome.status == "passed" for outcome in verdict.of_suite(suite)))


def _with_line(lines: Sequence[str], number: int, text: str) -> str:
    return "\n".join((*lines[:number], text, *lines[number + 1 :])) + "\n"
