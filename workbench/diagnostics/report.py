"""What an examination found: symptoms in a table, as text and as HTML.

Stage: beside the loop. Checks put symptoms in; a person reads them. Left out: any judgement, which
is the checks'.
"""

from __future__ import annotations

import html
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Severity = Literal["error", "warning"]
"""error: nothing is learned, or the wrong thing. warning: slower or riskier than need be."""

WIDTH = 96
"""Columns of the plain text."""


@dataclass(frozen=True)
class Symptom:
    """One thing that is wrong."""

    check: str
    """Name of the check, as in docs/doctor.md."""
    severity: Severity
    """How bad it is."""
    seen: str
    """What was seen, with its numbers."""
    why: str
    """Why it matters."""
    change: str
    """What to change."""


@dataclass(frozen=True)
class Report:
    """Everything that was looked at, and what was wrong."""

    subject: str
    """What was examined."""
    symptoms: tuple[Symptom, ...]
    """Errors first."""
    passed: tuple[str, ...]
    """Names of the checks that found nothing."""
    unknown: Mapping[str, str] = field(default_factory=dict)
    """Name of each check that could not be made -> why not."""
    facts: Mapping[str, str] = field(default_factory=dict)
    """Of a machine: what there is."""

    @property
    def healthy(self) -> bool:
        """Whether nothing was found."""
        return not self.symptoms

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the checks that found something."""
        return tuple(symptom.check for symptom in self.symptoms)

    def __repr__(self) -> str:
        lines = [f"{self.subject}: {self._summary()}"]
        lines += [f"  {name:<12} {text}" for name, text in self.facts.items()]
        for symptom in self.symptoms:
            lines += ["", f"{symptom.severity.upper()}  {symptom.check}"]
            for label in ("seen", "why", "change"):
                text = getattr(symptom, label)
                lines += textwrap.wrap(
                    text, WIDTH, initial_indent=f"  {label:<7} ", subsequent_indent=" " * 10
                )
        if self.unknown:
            lines += ["", "not checked:"]
            for text in self._not_checked():
                lines += textwrap.wrap(text, WIDTH, initial_indent="  ", subsequent_indent="    ")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        cell = "<td style='text-align:left;vertical-align:top'>"
        rows = "".join(
            f"<tr>{cell}{s.severity}</td>{cell}{s.check}</td>"
            + "".join(f"{cell}{html.escape(text)}</td>" for text in (s.seen, s.why, s.change))
            + "</tr>"
            for s in self.symptoms
        )
        head = "".join(f"<th>{h}</th>" for h in ("", "check", "seen", "why", "what to change"))
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
        facts = "<br>".join(f"{html.escape(k)}: {html.escape(v)}" for k, v in self.facts.items())
        skipped = "".join(f"<br>{html.escape(text)}" for text in self._not_checked())
        skipped = f"<details><summary>not checked: {len(self.unknown)}</summary>{skipped}</details>"
        return (
            f"<p><b>{html.escape(self.subject)}</b>: {self._summary()}</p>"
            + (f"<p>{facts}</p>" if facts else "")
            + (table if self.symptoms else "")
            + (skipped if self.unknown else "")
        )

    def _not_checked(self) -> list[str]:
        """A line a reason, with the names of all checks that it kept from being made."""
        names: dict[str, list[str]] = {}
        for name, reason in self.unknown.items():
            names.setdefault(reason, []).append(name)
        return [f"{', '.join(group)}: {reason}" for reason, group in names.items()]

    def _summary(self) -> str:
        num_errors = sum(symptom.severity == "error" for symptom in self.symptoms)
        num_warnings = len(self.symptoms) - num_errors
        counts = [(num_errors, "error"), (num_warnings, "warning")]
        said = [f"{n} {word}{'s' * (n > 1)}" for n, word in counts if n]
        num_checks = len(self.passed) + len(self.symptoms)
        return f"{', '.join(said) or 'nothing found'} in {num_checks} checks"
