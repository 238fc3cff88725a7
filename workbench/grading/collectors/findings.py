"""Remarks about source text, and which of them are the attempt's own doing.

Stage: grading, after it. What a scanner says about single texts goes in, findings about workspaces
come out. A finding is new if the task's files do not have it already: the same rule about the same
line of code, white space aside, counted as often as it occurs. So inherited faults are charged to
nobody, a line that moved is not new, and deleting code earns nothing. Left out: remarks that need
several files at once.
"""

from __future__ import annotations

import importlib.util
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple

from workbench.records import Finding, Task

MAX_FILE_BYTES = 256 << 10
"""A longer file counts as unreadable."""
MAX_KEPT = 100
"""Findings kept of one workspace: new ones before old ones, then the gravest."""
UNREADABLE = "unreadable"
"""The rule of a finding about a file that its scanner could not read."""
Severity = Literal["", "low", "medium", "high"]
_GRAVITY = {"high": 0, "medium": 1, "low": 2, "": 3}


class Remark(NamedTuple):
    """What a scanner says about a line of one text."""

    rule: str
    line: int
    severity: Severity
    message: str


Scanner = Callable[[Sequence[str]], list[tuple[Remark, ...]]]
"""A function from texts to what is said about each."""


def findings_of(
    tool: str,
    scan: Scanner,
    attempts: Sequence[tuple[Task, Mapping[str, str]]],
    reads: Callable[[Task, str], bool],
    unreadable: Severity = "",
) -> list[tuple[Finding, ...]]:
    """The findings about each attempt's files, by path and line; equal texts are scanned once.

    Args:
        reads: whether a task's file at a path is looked at.
        unreadable: severity of what the scanner cannot read.
    """
    workspaces = [
        ({p: t for p, t in files.items() if reads(task, p)}, _given(task, reads))
        for task, files in attempts
    ]
    texts = dict.fromkeys(text for pair in workspaces for files in pair for text in files.values())
    too_long = Remark(UNREADABLE, 1, unreadable, f"longer than {MAX_FILE_BYTES} bytes")
    short = [t for t in texts if len(t.encode("utf-8", "surrogatepass")) <= MAX_FILE_BYTES]
    said = dict.fromkeys(texts, (too_long,)) | dict(zip(short, scan(short), strict=True))
    return [_findings(tool, final, given, said) for final, given in workspaces]


def _given(task: Task, reads: Callable[[Task, str], bool]) -> Mapping[str, str]:
    """What the attempt began with; the beginning of a function is given a body."""
    if task.beginning and task.entry_file not in task.files:
        return {task.entry_file: f"{task.beginning.rstrip()}\n    pass\n"}
    return {path: text for path, text in task.files.items() if reads(task, path)}


def _findings(tool, final, given, said) -> tuple[Finding, ...]:
    before: Counter = Counter()
    for text in given.values():
        before.update(_fingerprints(text, said[text]))
    found = []
    for path, text in sorted(final.items()):
        remarks = sorted(said[text], key=lambda remark: remark.line)
        for remark, fingerprint in zip(remarks, _fingerprints(text, remarks)):
            before[fingerprint] -= 1
            new = before[fingerprint] < 0
            found.append(
                Finding(tool, remark.rule, path, remark.line, remark.message, remark.severity, new)
            )
    kept = sorted(found, key=lambda f: (not f.new, _GRAVITY[f.severity]))[:MAX_KEPT]
    return tuple(sorted(kept, key=lambda f: (f.path, f.line, f.rule)))


def _fingerprints(text: str, remarks: Sequence[Remark]) -> list[tuple[str, str]]:
    lines = re.split("\r\n|\r|\n", text)  # as Python counts them; splitlines knows more kinds
    return [(remark.rule, _code(lines, remark)) for remark in remarks]


def _code(lines: Sequence[str], remark: Remark) -> str:
    """The line that a remark is about, every run of white space as one blank."""
    if remark.rule == UNREADABLE or not 1 <= remark.line <= len(lines):
        return ""
    return " ".join(lines[remark.line - 1].split())


def need(package: str) -> None:
    """Raises RuntimeError if a scanner's package is not installed."""
    if importlib.util.find_spec(package) is None:
        raise RuntimeError(
            f"this collector needs the package {package!r}, which is not installed here: "
            f"pip install {package}"
        )
