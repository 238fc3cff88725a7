"""What a sandbox says about one execution: frozen records, and how a server's bytes become them.

Stage: sandbox. Bytes that a hostile program may have written go in; plain data comes out. Left
out: any judgement, which is grading's work.
"""

from __future__ import annotations

import dataclasses
import signal
from dataclasses import dataclass
from typing import Any, Literal

from workbench import encoding
from workbench.records import TestStatus, VerdictStatus
from workbench.sandbox import wire
from workbench.sandbox.responses import Malformed, how_it_ended, strings, text_of


@dataclass(frozen=True)
class CaseResult:
    """What one call gave."""

    status: Literal["value", "error", "timeout", "memory", "missing"]
    """"missing": the run ended before this case."""
    value: Any = None
    """The returned value rebuilt from plain data, if status is "value"."""
    error: str = ""
    """One line for people, if it is not, e.g. "NameError lib.py:3: name 'ys' is not defined"."""


@dataclass(frozen=True, kw_only=True)
class Printed:
    """What a run wrote to standard output and standard error, as far as it was kept.

    As with any Python program whose output is no terminal, what `print` still holds back when a
    run is ended (at a limit, by os._exit) is lost; standard error is written line by line.
    """

    stdout: str = ""
    """Decoded as UTF-8; bytes that are no text are shown as U+FFFD."""
    stderr: str = ""
    """The same for standard error."""
    stdout_cut: bool = False
    """True if there was more than `Limits.output_kb`: the rest was dropped."""
    stderr_cut: bool = False
    """The same for standard error."""


@dataclass(frozen=True)
class CallResult(Printed):
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
class TestsResult(Printed):
    """What tests said: next to the program (`run_tests`; it could have forged them), or in a
    process of their own (`run_split`)."""

    __test__ = False  # pytest: this is a record, not a test class

    status: VerdictStatus
    """How the execution ended."""
    outcomes: tuple[tuple[str, TestStatus, str], ...]
    """(name, status, message) of every test that was started; in mode "split" of every test."""
    message: str = ""
    """Why it did not end well."""
    cpu_s: float = 0.0
    """CPU seconds used."""
    reused: bool = False
    """True if an identical execution had been run before and this is its result."""


@dataclass(frozen=True)
class ProgramResult(Printed):
    """What a program did with one text on standard input."""

    status: VerdictStatus
    """"ok": it ended by itself, with whatever exit code. "unscorable": it cannot be run here."""
    exit_code: int | None = None
    """Its exit code, or minus the signal that ended it; None if it did not start or was ended at a
    limit. 0 means success by custom; an exception that nothing caught gives 1 in Python."""
    message: str = ""
    """Why it did not end well; for a compile error the first lines the compiler wrote."""
    cpu_s: float = 0.0
    """CPU seconds used, without compiling."""
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
        pairs = zip(dataclasses.astuple(self), dataclasses.astuple(other))
        return SandboxStats(*(mine + theirs for mine, theirs in pairs))


def call_result(response, num_inputs, limits):
    """The CallResult for a server's response to `num_inputs` inputs."""
    if response.ended == wire.FAULT:
        return CallResult("sandbox_error", _missing(num_inputs), text_of(response.payload))
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
        return TestsResult("sandbox_error", (), text_of(response.payload))
    try:
        outcomes, status, message, complete = _read(response.payload, _read_test)
    except Malformed as error:
        return TestsResult("crash", (), str(error), response.cpu_s)
    if not complete and not status:
        status, message = how_it_ended(response, limits)
        broke = status if status in ("timeout", "memory") else "error"
        outcomes.append((f"test:{len(outcomes) + 1}", broke, message))
    return TestsResult(status or "ok", tuple(outcomes), message, response.cpu_s)


def program_result(response, limits):
    """The ProgramResult for a server's response."""
    if response.ended == wire.FAULT:
        return ProgramResult("sandbox_error", message=text_of(response.payload))
    status, message = _early_end(response.payload)
    cpu_s, exit_code = response.cpu_s, response.exit_status
    killed = exit_code in (-signal.SIGXCPU, -signal.SIGKILL) and cpu_s >= limits.cpu_s
    if response.ended != wire.EXITED or killed:
        status, message = how_it_ended(response, limits)
        return ProgramResult(status, None, message, cpu_s)
    if not status and exit_code < 0:
        status, message = "crash", f"the program was ended by signal {-exit_code}"
    return ProgramResult(status or "ok", exit_code, message, cpu_s)


def _early_end(payload):
    """(status, message) of a program that the run said did not compile, start or fit; else ""s.

    A program may say so of itself, too, and then has done itself harm.
    """
    kind, body = payload[:1], payload[1:].removesuffix(b"\n")
    if kind not in (wire.NOT_LOADED, wire.LEFT):
        return "", ""
    try:
        status, message = strings(body, 2)
    except Malformed:
        return "", ""
    return (status if status in ("compile_error", "memory") else "crash"), message


def said_about_loading(response):
    """(status, message) of a solution that did not load, or ("", "")."""
    try:
        cases, status, message, complete = _read(response.payload, _read_case)
    except Malformed as error:
        return "crash", str(error)
    return ("crash", "the result pipe was written to") if cases or complete else (status, message)


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


def _missing(count):
    return (CaseResult("missing", error="the run ended before this case"),) * count
