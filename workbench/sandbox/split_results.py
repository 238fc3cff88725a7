"""What two servers said about one run in mode "split", as a TestsResult.

Stage: sandbox. The bytes of the tests' run and how the solution's run ended go in. Who is to blame
decides the status: what the solution did is its own failure, also if the tests' process fell over
its answers; what the tests do before they have heard a single answer is a fault of the task, and
the result "unscorable". Left out: any judgement of what the tests said.
"""

from __future__ import annotations

import json
from collections import OrderedDict

from workbench.sandbox import wire
from workbench.sandbox.responses import Malformed, how_it_ended, strings
from workbench.sandbox.results import TestsResult, said_about_loading

MAX_PLANS = 300
"""Plans kept for the next solution to the same tests; the oldest is dropped first."""
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
    if said.refused:
        return _every("skipped", said, *said.refused, response.cpu_s)
    if said.complete and said.num_tests == 0:
        text = "the test code asserts nothing that can be counted"
        return _every("skipped", said, "unscorable", text, response.cpu_s)
    status, message = said_about_loading(response)
    if status:
        return _every("missing", said, status, message, response.cpu_s)
    status, message = _how_both_ended(response, said, limits)
    outcomes = _outcomes(said, status, message)
    if status == "ok":
        for _, outcome, text in outcomes:
            if outcome == "skipped":
                status, message = "unscorable", text
                break
    return TestsResult(status, outcomes, message, response.cpu_s)


class Plans:
    """What a run made of its tests' text, kept so that the next one need not: a run that has its
    plan is done in half the time. To this process a plan is text without a meaning."""

    def __init__(self):
        self._known = OrderedDict()

    def __getitem__(self, test_code):
        """The plan for these tests, or ""."""
        return self._known.get(test_code, "")

    def learn(self, test_code, response):
        """Keep the plan in a Response, if there is one. It was written before the tests ran."""
        payload = b"" if response.tests is None else response.tests.payload
        first, end, _ = payload.partition(b"\n")
        try:
            plan = _read_plan(first[1:])[1] if end and first[:1] == wire.PLAN else ""
        except Malformed:
            return
        if plan:
            self._known[test_code] = plan
            if len(self._known) > MAX_PLANS:
                self._known.popitem(last=False)


class _Said:
    """What the tests' run wrote, line by line."""

    def __init__(self, payload):
        self.num_tests, self.plan, self.outcomes, self.started = 0, None, {}, None
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
            self.started = _number(_json(body))
        elif kind == wire.PLAN and self.plan is None:
            self.num_tests, self.plan = _read_plan(body)
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


def _read_plan(body):
    found = _json(body)
    if type(found) is not list or len(found) != 2 or type(found[1]) is not str:
        raise Malformed("a line that is not a plan")
    return _number(found[0]), found[1]


def _json(body):
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise Malformed("a line that is not JSON") from None


def _number(found):
    if type(found) is not int or not 0 <= found <= wire.MAX_TESTS:
        raise Malformed(f"number {found!r:.20}")
    return found


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
