"""What a task is: its words and files, the cases or tests that decide, the limits.

Stage: before the loop. Written by the generators and readers of `workbench.tasks`; read by all.
Left out: how a suite is stored, and how its tasks are split.
"""

from __future__ import annotations

import hashlib
import json
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from workbench.records.attempts import counted


@dataclass(frozen=True)
class Limits:
    """What one execution may use."""

    cpu_s: float = 1.0
    """CPU seconds for one execution: of a function all its cases, of a program each of them."""
    wall_s: float = 20.0
    """Wall-clock deadline in seconds: generous, so that a busy machine does not flip a verdict."""
    memory_mb: int = 512
    """Address space in MiB."""
    output_kb: int = 64
    """How many KiB of standard output, and of standard error, are kept; the rest is read and
    dropped, so that a program that prints much is neither blocked nor ended."""


@dataclass(frozen=True)
class Case:
    """One call of the task's entry point and the value it must return."""

    args: tuple[Any, ...]
    """Positional arguments: plain Python data."""
    expected: Any
    """The value a right solution returns; compared in the parent process."""
    comparison: Literal["same", "equal", "close"] = "same"
    """"same": type and value at every level; "equal": Python's ==; "close": numbers, also inside
    lists and tuples, within `tolerance`. What programs print is compared as text, white space at
    the ends of lines and of the whole left out; if "close", word by word, numbers as above."""
    tolerance: float = 0.0
    """For "close": how far off a number may be, absolutely or relative to the expected one."""


@dataclass(frozen=True)
class WrongSolution:
    """A plausible mistake, kept to see whether the cases catch it."""

    files: Mapping[str, str]
    """Path -> text, laid over the task's files."""
    weak_spot: str
    """What it overlooks, in a few words, e.g. "empty list"."""
    fails: tuple[str, ...]
    """Names of the outcomes that catch it, e.g. "hidden:3"; all others pass."""


@dataclass(frozen=True)
class Task:
    """One problem: what the policy is told, what it may change, and what decides."""

    task_id: str
    """Unique within its suite."""
    statement: str
    """The issue text: the first observation."""
    entry_point: str
    """Name of the function the cases call. "" = a program: each case's one argument is what it
    reads from standard input, its expected value the text it must write to standard output, or
    {"stdout": text, "exit_code": number} with one of the two or both; no exit code means 0. A
    repository has "" as well; its tests decide (`required`)."""
    entry_file: str
    """File that must define the entry point, e.g. "lib.py"; a repository: any of its files."""
    files: Mapping[str, str]
    """Workspace at the start: path -> text. Empty where the policy writes the only file."""
    visible: tuple[Case, ...]
    """Cases the policy may run; `tests_file` states them as asserts where there is a workspace."""
    hidden: tuple[Case, ...]
    """Cases that decide; never shown."""
    reference: Mapping[str, str]
    """Files of a right solution: path -> text."""
    beginning: str = ""
    """Text of the entry file that a single-turn answer continues; "" = the answer is all of it."""
    tests_file: str | None = None
    """Path in `files` of the visible tests, or None."""
    known_hacks: tuple[Mapping[str, str], ...] = ()
    """File sets that pass the visible tests without solving the task."""
    wrong: tuple[WrongSolution, ...] = ()
    """Plausible mistakes, one for each weak spot."""
    test_code: str = ""
    """Assert-style hidden tests that `hidden` cannot state; "" where the cases say everything."""
    exploit_code: str = ""
    """Assert-style attacks on a function, in the form of `test_code`: suite "exploit", which never
    counts as "hidden". An assert that holds is an attack that failed."""
    hidden_tests: Mapping[str, str] = field(default_factory=dict)
    """Of a repository: test files copied in after the episode, over whatever the agent left."""
    fail_to_pass: tuple[str, ...] = ()
    """Of a repository: ids of pytest tests that fail before the change and must pass after it."""
    pass_to_pass: tuple[str, ...] = ()
    """Of a repository: ids of pytest tests that pass before the change and must still pass."""
    language: str = "python"
    """What the files are written in, a name of `sandbox.LANGUAGES`; a function's and a
    repository's is Python."""
    tags: tuple[str, ...] = ()
    """Searchable labels such as "mutator:compare_swap" or "composition:sum/double/even"."""
    limits: Limits = Limits()
    """What one execution of this task may use."""
    suite: str = ""
    """Suite the task belongs to."""
    split: str = ""
    """"train", "dev" or "test"."""
    licence: str = "Apache-2.0"
    """Licence of the task's text."""
    source: str = "generated"
    """Where the task comes from."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the row it was loaded from that have no place above, as plain JSON."""

    @property
    def required(self) -> tuple[str, ...]:
        """Ids of the pytest tests that decide; empty unless the task is a repository."""
        return self.fail_to_pass + self.pass_to_pass

    @property
    def is_repository(self) -> bool:
        """True if pytest tests decide (mode "shared"), not cases."""
        return bool(self.required)

    def __repr__(self) -> str:  # the whole of it fills many screens and holds the solution
        asked = textwrap.shorten(self.statement, 60, placeholder=" ...")
        decide = {"hidden case": len(self.hidden), "required test": len(self.required)}
        words = [counted(len(self.files), "file")]
        words += [counted(number, what) for what, number in decide.items() if number]
        words += ["test code"] * bool(self.test_code)
        return f"Task({self.task_id!r}, {asked!r}, {', '.join(words)})"


def files_hash(files: Mapping[str, str]) -> str:
    """Sixteen hex digits that change when any path or text in `files` changes."""
    canonical = json.dumps(sorted(files.items()), ensure_ascii=False)
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()[:16]
