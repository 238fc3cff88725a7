"""What a sandbox says about one execution: frozen records, and how a server's bytes become them.

Stage: sandbox. Bytes that a hostile program may have written go in; plain data comes out. Left
out: any judgement, which is grading's work.
"""

from __future__ import annotations

import json
import operator
import signal
from dataclasses import astuple, dataclass
from typing import Any, Literal

from workbench import encoding
from workbench.records import TestStatus, VerdictStatus
from workbench.sandbox import wire


@dataclass(frozen=True)
class CaseResult:
    """What one call gave."""

    status: Literal["value", "error", "timeout", "memory", "missing"]
    """"missing": the run ended before this case."""
    value: Any = None
    """The returned value rebuilt from plain data, if status is "value"."""
    error: str = ""
    """One line for people, if it is not, e.g. "NameError lib.py:3: name 'ys' is not defined"."""


@dataclass(frozen=True)
class CallResult:
    """What a program answered to a list of inputs."""

    status: VerdictStatus
    """How the execution ended; "ok" says nothing about whether the answers are right."""
    results: tuple[CaseResult, ...]
    """One per input, in order, always as many as there were inputs."""
    message: str = ""
    """Why it did not end well."""
    cpu_s: float = 0.0
    """CPU seconds used."""
    reused: bool = False
    """True if an identical execution had been run before and this is its result."""


@dataclass(frozen=True)
class TestsResult:
    """What tests said that ran next to the program (mode "shared": it could have forged them)."""

    __test__ = False  # pytest: this is a record, not a test class

    status: VerdictStatus
    """How the execution ended."""
    outcomes: tuple[tuple[str, TestStatus, str], ...]
    """(name, status, message) of every test that was started."""
    message: str = ""
    """Why it did not end well."""
    cpu_s: float = 0.0
    """CPU seconds used."""
    reused: bool = False
    """True if an identical execution had been run before and this is its result."""


@dataclass(frozen=True)
class SandboxStats:
    """What a sandbox has done so far."""

    executions: int = 0
    """Programs run, reused results not counted."""
    reused: int = 0
    """Results given without running anything."""
    cpu_s: float = 0.0
    """CPU seconds of all executions."""
    wall_s: float = 0.0
    """Wall-clock seconds of all executions, added up over the workers."""
    faults: int = 0
    """Executions that ended in "sandbox_error"."""
    deadlines: int = 0
    """Executions ended at the wall-clock deadline, not at the CPU limit: a busy machine's sign."""
    restarts: int = 0
    """Servers that had to be started again."""

    def __add__(self, other: SandboxStats) -> SandboxStats:
        """Both together."""
        return SandboxStats(*map(operator.add, astuple(self), astuple(other)))


@dataclass(frozen=True)
class Response:
    """What a server sent back."""

    ended: int
    """One of wire.EXITED, CPU_LIMIT, WALL_LIMIT, TOO_LARGE, FAULT."""
    exit_status: int
    """Exit status of the run, or minus the signal that ended it."""
    payload: bytes
    """Its answer lines, or what went wrong with the server."""
    cpu_s: float
    """CPU seconds used."""
    wall_s: float
    """Wall-clock seconds."""
    restarts: int = 0
    """How often the server had to be started again for this."""


class Malformed(Exception):
    """The run wrote something on the result pipe that our side of it would not have written."""


def call_result(response, num_inputs, limits):
    """The CallResult for a server's response to `num_inputs` inputs."""
    if response.ended == wire.FAULT:
        return CallResult("sandbox_error", _missing(num_inputs), _text(response.payload))
    try:
        cases, status, message, complete = _read(response.payload, _read_case)
        if len(cases) > num_inputs or (complete and not status and len(cases) < num_inputs):
            raise Malformed(f"{len(cases)} answers to {num_inputs} inputs")
    except Malformed as error:
        broken = CaseResult("error", error="the result pipe was written to")
        return CallResult("crash", (broken,) * num_inputs, str(error), response.cpu_s)
    if not complete and not status:
        status, message = how_it_ended(response, limits)
        if len(cases) < num_inputs and status != "sandbox_error":
            broke = status if status in ("timeout", "memory") else "error"
            cases.append(CaseResult(broke, error=message))
    cases = tuple(cases) + _missing(num_inputs - len(cases))
    return CallResult(status or "ok", cases, message, response.cpu_s)


def tests_result(response, limits):
    """The TestsResult for a server's response."""
    if response.ended == wire.FAULT:
        return TestsResult("sandbox_error", (), _text(response.payload))
    try:
        outcomes, status, message, complete = _read(response.payload, _read_test)
    except Malformed as error:
        return TestsResult("crash", (), str(error), response.cpu_s)
    if not complete and not status:
        status, message = how_it_ended(response, limits)
        broke = status if status in ("timeout", "memory") else "error"
        outcomes.append((f"test:{len(outcomes) + 1}", broke, message))
    return TestsResult(status or "ok", tuple(outcomes), message, response.cpu_s)


def _read(payload, read_answer):
    """(answers, status or "", message, whether the run said it had finished)."""
    lines = payload.split(b"\n")
    unfinished = lines.pop()
    answers, status, message, complete = [], "", "", False
    for line in lines:
        if complete or status:
            raise Malformed("more answers after the last one")
        kind, body = line[:1], line[1:]
        if kind == wire.END and not body:
            complete = True
        elif kind in (wire.NOT_LOADED, wire.LEFT):
            status, message = strings(body, 2)
            if kind == wire.LEFT:
                status = "crash"
            elif status not in ("compile_error", "memory"):
                raise Malformed(f"status {status!r:.40}")
            if answers and read_answer is _read_case:
                raise Malformed("answers from a program that was not loaded")
        else:
            answers.append(read_answer(kind, body))
    if unfinished and (complete or status):
        raise Malformed("more answers after the last one")
    return answers, status, message, complete


def _read_case(kind, body):
    try:
        if kind == wire.VALUE:
            return CaseResult("value", encoding.parse_bytes(body))
    except ValueError as error:
        raise Malformed(f"a value that is not plain data: {error}") from None
    if kind != wire.ERROR:
        raise Malformed(f"a line starting with {kind!r}")
    status, text = strings(body, 2)
    if status not in ("error", "memory"):
        raise Malformed(f"status {status!r:.40}")
    return CaseResult(status, error=text)


def _read_test(kind, body):
    if kind != wire.TEST:
        raise Malformed(f"a line starting with {kind!r}")
    name, status, message = strings(body, 3)
    if status not in ("passed", "wrong", "error", "memory"):
        raise Malformed(f"status {status!r:.40}")
    return name[:40], status, message


def strings(body, count):
    """The `count` texts in a line's JSON list. Raises Malformed."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        raise Malformed("a line that is not JSON") from None
    if type(found) is not list or len(found) != count or any(type(x) is not str for x in found):
        raise Malformed(f"a line that is not {count} texts")
    # half a surrogate pair cannot be written, printed or tokenized: shown as its escape instead
    return [text[:400].encode("utf-8", "backslashreplace").decode() for text in found]


def killed_from_outside(response, limits):
    """Whether a run was ended by SIGKILL and by no limit of ours: the out-of-memory killer, say.

    A program below tier 3 can do this to itself, so it says nothing certain about the machine.
    """
    killed = response.ended == wire.EXITED and response.exit_status == -signal.SIGKILL
    return killed and response.cpu_s < limits.cpu_s


def how_it_ended(response, limits):
    """(status, message) of a run that ended before it said that it was done."""
    ended_by_kernel = response.exit_status in (-signal.SIGXCPU, -signal.SIGKILL)
    over_s = ended_by_kernel and response.cpu_s >= limits.cpu_s
    if response.ended == wire.CPU_LIMIT or (response.ended == wire.EXITED and over_s):
        return "timeout", f"used more than {limits.cpu_s:g} s of CPU time"
    if response.ended == wire.WALL_LIMIT:
        return "timeout", f"not done after {limits.wall_s:g} s (wall-clock deadline)"
    if response.ended == wire.TOO_LARGE:
        return "crash", f"sent more than {wire.MAX_ANSWER_BYTES} bytes of answers"
    if response.exit_status == wire.OUT_OF_MEMORY:
        return "memory", f"used more than {limits.memory_mb} MiB of memory"
    if response.exit_status < 0:
        return "crash", f"the program was ended by signal {-response.exit_status}"
    return "crash", f"the program left early with exit status {response.exit_status}"


def _missing(count):
    return (CaseResult("missing", error="the run ended before this case"),) * count


def _text(payload):
    return payload.decode("utf-8", "replace")
