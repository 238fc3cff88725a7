"""What two servers said about one run in mode "split", as a TestsResult.

Stage: sandbox. The bytes of the tests' run and how the solution's run ended go in. Who is to blame
decides the status: what the solution did is its own failure, also if the tests' process fell over
its answers; what the tests do before they have heard a single answer is a fault of the task, and
the result "unscorable". Left out: any judgement of what the tests said.
"""

from __future__ import annotations

import json

from workbench.sandbox import wire
from workbench.sandbox.results import (
    Malformed,
    TestsResult,
    how_it_ended,
    said_about_loading,
    strings,
)

MAX_TESTS = 100_000
"""Test code that announces more is not believed."""
_ENDED_BEFORE = "the run ended before this test"


def split_result(response, limits):
    """The TestsResult for the Response of both servers; an outcome for every test, at least one."""
    for part in response.parts:
        if part.ended == wire.FAULT:
            return _nothing("sandbox_error", part.payload.decode("utf-8", "replace"))
    try:
        said = _Said(response.tests.payload)
    except Malformed as error:
        return _nothing("unscorable", f"the tests wrote to their result pipe: {error}")
    status, message = said_about_loading(response)
    if status:
        return _every("missing", said, status, message, response.cpu_s)
    if said.refused:
        return _every("skipped", said, *said.refused, response.cpu_s)
    if said.complete and said.num_tests == 0:
        text = "the test code asserts nothing that can be counted"
        return _every("skipped", said, "unscorable", text, response.cpu_s)
    status, message = _how_both_ended(response, said, limits)
    outcomes = _outcomes(said, status, message)
    if status == "ok":
        for _, outcome, text in outcomes:
            if outcome == "skipped":
                status, message = "unscorable", text
                break
    return TestsResult(status, outcomes, message, response.cpu_s)


class _Said:
    """What the tests' run wrote, line by line."""

    def __init__(self, payload):
        self.num_tests, self.outcomes, self.started = 0, {}, None
        self.heard = self.complete = False
        self.refused, self.stopped = (), None
        for line in payload.split(b"\n")[:-1]:  # what follows the last newline is not finished
            if self.complete or self.refused or self.stopped is not None:
                raise Malformed("more lines after the last one")
            self._read(line[:1], line[1:])

    def _read(self, kind, body):
        if kind == wire.TEST:
            number, status, message = strings(body, 3)
            if status not in ("passed", "wrong", "error", "memory", "skipped"):
                raise Malformed(f"status {status!r:.40}")
            if not number.isdecimal() or not 1 <= int(number) <= self.num_tests:
                raise Malformed(f"test {number:.20}")
            self.outcomes[int(number)] = status, message
        elif kind == wire.START:
            self.started = _number(body)
        elif kind == wire.PLAN:
            self.num_tests = _number(body)
        elif kind == wire.STOPPED:
            (self.stopped,) = strings(body, 1)
        elif kind == wire.NOT_LOADED:
            self.refused = strings(body, 2)
        elif kind == wire.HEARD and not body:
            self.heard = True
        elif kind == wire.END and not body:
            self.complete = True
        else:
            raise Malformed(f"a line starting with {kind!r}")


def _number(body):
    try:
        number = json.loads(body)
    except (ValueError, RecursionError):
        raise Malformed("a line that is not a number") from None
    if type(number) is not int or not 0 <= number <= MAX_TESTS:
        raise Malformed(f"number {number!r:.20}")
    return number


def _how_both_ended(response, said, limits):
    if said.complete:
        return "ok", ""
    if said.stopped:  # the solution's run broke the rules of the conversation
        return "crash", said.stopped
    if said.stopped == "" or response.tests.ended == wire.LEFT_ALONE:
        return how_it_ended(response, limits)
    status, message = how_it_ended(response.tests, limits)
    if said.heard:
        return status, f"the tests, with the solution's answers: {message}"
    return "unscorable", f"the tests, before the first answer: {message}"


def _outcomes(said, status, message):
    broke = status if status in ("timeout", "memory") else "error"
    broke = "skipped" if status == "unscorable" else broke
    ended_in = said.started if said.started not in said.outcomes else None
    if ended_in is None:  # between two tests
        numbers = range(1, said.num_tests + 1)
        ended_in = next((number for number in numbers if number not in said.outcomes), None)
    outcomes = []
    for number in range(1, max(1, said.num_tests) + 1):
        outcome = said.outcomes.get(number, ("missing", message or _ENDED_BEFORE))
        if number == ended_in and status != "ok":
            outcome = broke, message
        outcomes.append((f"test:{number}", *outcome))
    return tuple(outcomes)


def _every(outcome, said, status, message, cpu_s):
    numbers = range(1, max(1, said.num_tests) + 1)
    return TestsResult(
        status, tuple((f"test:{n}", outcome, message) for n in numbers), message, cpu_s
    )


def _nothing(status, message):
    return TestsResult(status, (("test:1", "missing", message),), message)
