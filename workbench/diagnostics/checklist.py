"""What a check is, and how a list of them becomes a report.

Stage: beside the loop. A check is one small function: a case goes in, a sentence about what was
seen comes out, or None. Its severity, why it matters and what to change stand beside it, and
docs/doctor.md is held to them. Left out: the checks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from workbench.diagnostics.report import Report, Severity, Symptom


class CannotTell(Exception):
    """Raised by a check that lacks what it needs; the text says what."""


@dataclass(frozen=True)
class Check:
    """One question that is put to a case."""

    name: str
    """In small letters, as docs/doctor.md lists it."""
    severity: Severity
    """Of what it finds."""
    on: tuple[str, ...]
    """Kinds of case it can look at: "trainer", "run"."""
    finds: str
    """What it finds, one sentence."""
    why: str
    """Why that matters."""
    change: str
    """What to change."""
    look: Callable[[Any], str | None]
    """case -> what was seen, with its numbers; None if all is well. Raises CannotTell."""


def check(
    name: str, severity: Severity, on: str, *, why: str, change: str
) -> Callable[[Callable[[Any], str | None]], Check]:
    """Make the function below into a `Check`; the first line of its docstring is what it finds."""

    def made(look: Callable[[Any], str | None]) -> Check:
        finds = (look.__doc__ or "").strip().splitlines()[0]
        return Check(name, severity, tuple(on.split()), finds, why, change, look)

    return made


def examine(
    subject: str, kind: str, case: Any, checks: Iterable[Check], facts: Mapping[str, str] = {}
) -> Report:
    """The report of every check that can look at this kind of case.

    A check that breaks (another version of a library, a model unlike others) is reported as not
    made and hides none of the others.
    """
    symptoms, passed, unknown = [], [], {}
    for one in checks:
        if kind not in one.on:
            continue
        try:
            seen = one.look(case)
        except CannotTell as reason:
            unknown[one.name] = str(reason)
        except Exception as error:  # a diagnosis must not be what ends a training run
            unknown[one.name] = f"the check itself failed: {type(error).__name__}: {error}"
        else:
            if seen is None:
                passed.append(one.name)
            else:
                symptoms.append(Symptom(one.name, one.severity, seen, one.why, one.change))
    symptoms.sort(key=lambda symptom: symptom.severity)  # "error" before "warning"
    return Report(subject, tuple(symptoms), tuple(passed), unknown, facts)
