"""The trainer's end of the sandbox servers: start them, ask them, end them.

Stage: sandbox. A worker has one server for solutions and, from its first `SplitBody` on, a second
one that is only ever given tests. Used by one thread at a time. Left out: where servers run
(`process` on this machine, `docker.container` in a container), queues and reuse, which `pool` adds.
"""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from typing import NamedTuple

from workbench.sandbox import wire
from workbench.sandbox.responses import Response, killed_from_outside

START_S = 60.0
"""A server that has not said hello after this long is given up."""
GRACE_S = 15.0
"""A server that has not answered this long after a run's wall-clock deadline is given up."""
ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "PYTHONUTF8": "1",
    "PYTHONHASHSEED": "0",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "1",  # else each thread sets 64 MiB of the run's address space aside
}
"""All the environment a server and its runs have, besides HOME and TMPDIR."""
TESTS_LONGER_S = 2.0
"""Tests may go on for this long after their solution's deadline, to say that it did not answer."""


class SplitBody(NamedTuple):
    """What is sent in mode "split"."""

    solution: bytes
    """To the server for solutions."""
    tests: bytes
    """To the server for tests."""


class ServerGone(Exception):
    """The server died, hung or could not be started: our fault, never the candidate's."""


class Worker:
    """A server for solutions and one for tests, wherever they run; `hello` says what was found."""

    def __init__(self, start, strongest):
        """Start a server with start(strongest); `wait_ready` must follow.

        start: gives an object with `stream`, which is read and written like a socket; with
            `start_tests()`, which starts a server for tests beside it and gives its stream; and
            with `end()`, which ends both, leaves nothing behind and may be called more than once.
            What cannot be started is ServerGone.
        """
        self._start = start
        self.server = start(strongest)
        self._solutions, self._tests = Line(self.server.stream), None
        self._number = 0
        self.hello = None

    def another(self):
        """A new worker like this one, which must have said hello; no stronger than this one."""
        return Worker(self._start, self.hello["tier"])

    def wait_ready(self):
        """Wait for the server's hello: a dict of tier, layers and what was declined."""
        if self.hello is None:
            self.hello = self._solutions.receive_hello()

    def ask(self, body, limits):
        """The Response to one request, bytes or a SplitBody. Raises ServerGone; the worker is then
        of no more use."""
        self._number += 1
        if not isinstance(body, SplitBody):
            self._solutions.send(self._number, body, limits)
            return self._solutions.receive(self._number, limits)
        tests = self._line_to_tests()
        longer = replace(limits, wall_s=limits.wall_s + TESTS_LONGER_S)
        self._solutions.send(self._number, body.solution, limits, paired=True)
        tests.send(self._number, body.tests, longer, paired=True)
        response = self._solutions.receive(self._number, longer)
        return replace(response, tests=tests.receive(self._number, longer))

    def _line_to_tests(self):
        if self._tests is None:
            line = Line(self.server.start_tests())
            tier = line.receive_hello()["tier"]
            if tier != self.hello["tier"]:
                raise ServerGone(
                    f"the server for tests has tier {tier}, the one for solutions "
                    f"{self.hello['tier']}"
                )
            self._tests = line
        return self._tests

    def close(self):
        """End the servers and whatever they run; nothing is left behind."""
        self.server.end()


class Line:
    """What is said over the stream of one server. Every method raises ServerGone if it fails."""

    def __init__(self, stream):
        self._stream = stream

    def receive_hello(self):
        """What the server says when it is ready: a dict."""
        self._stream.settimeout(START_S)
        try:
            (size,) = wire.HELLO.unpack(self._read(wire.HELLO.size))
            hello = json.loads(bytes(self._read(size)))
        except OSError as error:
            raise ServerGone(f"the sandbox server did not start: {_why(error)}") from None
        if hello["tier"] is None:
            reasons = "; ".join(f"tier {tier}: {reason}" for tier, reason in hello["declined"])
            raise ServerGone(f"no run can be started on this machine: {reasons}")
        return hello

    def send(self, number, body, limits, paired=False):
        """Send a request; paired: it meets the one of that number at the other server."""
        head = wire.REQUEST.pack(
            number, len(body), limits.cpu_s, limits.wall_s, limits.memory_mb, limits.output_kb,
            paired,
        )  # fmt: skip
        self._stream.settimeout(limits.wall_s + GRACE_S)
        try:
            self._stream.sendall(head + body)
        except OSError as error:
            raise ServerGone(f"the sandbox server failed: {_why(error)}") from None

    def receive(self, expected, limits):
        """The Response to the request of that number."""
        self._stream.settimeout(limits.wall_s + GRACE_S)
        try:
            number, *rest = wire.RESPONSE.unpack(self._read(wire.RESPONSE.size))
            payload, stdout, stderr = (bytes(self._read(size)) for size in rest[:3])
        except OSError as error:
            raise ServerGone(f"the sandbox server failed: {_why(error)}") from None
        if number != expected:
            raise ServerGone(f"the sandbox server answered request {number}, not {expected}")
        cut, ended, exit_status, cpu_s, wall_s = rest[3:]
        return Response(
            ended, exit_status, payload, cpu_s, wall_s,
            stdout=stdout, stderr=stderr, stdout_cut=bool(cut & 1), stderr_cut=bool(cut & 2),
        )  # fmt: skip

    def _read(self, size):
        data = wire.receive(self._stream.recv_into, size)
        if data is None:
            raise ConnectionError("it closed the connection")
        return data


def _why(error):
    """What to say of a connection that broke off: how depends on what was on its way."""
    lost = isinstance(error, ConnectionResetError | BrokenPipeError)
    return "it closed the connection" if lost else str(error)


class Keeper:
    """A thread that takes jobs from a queue to one server, and replaces a server that dies.

    A job is (body, limits, future); the body is bytes or a SplitBody, the future gets the Response.
    The thread belongs to the sandbox, so that an interrupt in the notebook's thread never cuts a
    conversation in two.
    """

    def __init__(self, jobs, worker):
        self._jobs = jobs
        self._worker = worker
        self._first = worker
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="sandbox keeper", daemon=True)
        self._thread.start()

    def announce_close(self):
        """Take no more jobs. Every keeper of a queue is told before the first wake-up call (None in
        the queue): whichever thread takes a call ends, and there is one for each."""
        self._closing = True

    def close(self):
        """End the server and the thread; `announce_close` and the wake-up calls came first."""
        while self._thread.is_alive():
            worker = self._worker  # the thread may be replacing it
            if worker is not None:
                worker.close()
            self._thread.join(0.1)

    def _run(self):
        while not self._closing:
            job = self._jobs.get()
            if job is None:
                continue  # only a call to look at _closing
            body, limits, future = job
            try:
                future.set_result(self._ask(body, limits))
            except BaseException as error:
                future.set_exception(error)
        self._drop_worker()

    def _ask(self, body, limits):
        reason, restarts = "", 0
        for _ in range(2):  # a server may be ended from outside; twice is no accident
            try:
                if self._closing:
                    raise RuntimeError("the sandbox was closed")
                if self._worker is None:
                    self._worker = self._first.another()
                    restarts += 1
                self._worker.wait_ready()
                response = self._worker.ask(body, limits)
                if killed_from_outside(response, limits):  # once may be the machine's shortage
                    response = self._worker.ask(body, limits)
                return replace(response, restarts=restarts)
            except ServerGone as error:
                reason = str(error)
                self._drop_worker()
        if self._closing:
            raise RuntimeError("the sandbox was closed")
        reason = f"{reason}; a new server failed, too: was it ended, or is the memory used up?"
        return Response(wire.FAULT, 0, reason.encode(), 0.0, 0.0, restarts)

    def _drop_worker(self):
        worker = self._worker
        try:
            if worker is not None:
                worker.close()
        finally:
            self._worker = None  # whatever happened, the next job gets a server that lives
