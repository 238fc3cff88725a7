"""The trainer's end of one sandbox server: start it, ask it, end it, replace one that died.

Stage: sandbox. Used by one thread at a time. Left out: where a server runs (`process` on this
machine, `docker.container` in a container), queues and reuse, which `local` adds.
"""

from __future__ import annotations

import json
import threading
from dataclasses import replace

from workbench.sandbox import wire
from workbench.sandbox.results import Response, killed_from_outside

START_S = 60.0
"""A server that has not said hello after this long is given up."""
GRACE_S = 15.0
"""A server that has not answered this long after a run's wall-clock deadline is given up."""
ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "PYTHONUTF8": "1",
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "1",  # else each thread sets 64 MiB of the run's address space aside
}
"""All the environment a server and its runs have, besides HOME and TMPDIR."""


class ServerGone(Exception):
    """The server died, hung or could not be started: our fault, never the candidate's."""


class Worker:
    """One server, wherever it runs; `hello` says what it found."""

    def __init__(self, start, strongest):
        """Start a server with start(strongest); `wait_ready` must follow.

        start: gives an object with `stream`, which is read and written like a socket, and `end()`,
            which leaves nothing behind and may be called more than once. Raises ServerGone.
        """
        self._start = start
        self.server = start(strongest)
        self._number = 0
        self.hello = None

    def another(self):
        """A new worker like this one, which must have said hello; no stronger than this one."""
        return Worker(self._start, self.hello["tier"])

    def wait_ready(self):
        """Wait for the server's hello: a dict of tier, layers and what was declined."""
        if self.hello is None:
            self.server.stream.settimeout(START_S)
            try:
                (size,) = wire.HELLO.unpack(self._receive(wire.HELLO.size))
                self.hello = json.loads(bytes(self._receive(size)))
            except OSError as error:
                raise ServerGone(f"the sandbox server did not start: {error}") from None

    def ask(self, body, limits):
        """The Response to one request. Raises ServerGone; the worker is then of no more use."""
        self._number += 1
        head = wire.REQUEST.pack(
            self._number, len(body), limits.cpu_s, limits.wall_s, limits.memory_mb
        )
        self.server.stream.settimeout(limits.wall_s + GRACE_S)
        try:
            self.server.stream.sendall(head + body)
            number, size, *numbers = wire.RESPONSE.unpack(self._receive(wire.RESPONSE.size))
            payload = bytes(self._receive(size))
        except OSError as error:
            raise ServerGone(f"the sandbox server failed: {error}") from None
        if number != self._number:
            raise ServerGone(f"the sandbox server answered request {number}, not {self._number}")
        ended, exit_status, cpu_s, wall_s = numbers
        return Response(ended, exit_status, payload, cpu_s, wall_s)

    def close(self):
        """End the server and whatever it runs; nothing is left behind."""
        self.server.end()

    def _receive(self, size):
        data = wire.receive(self.server.stream.recv_into, size)
        if data is None:
            raise ConnectionError("it closed the connection")
        return data


class Keeper:
    """A thread that takes jobs from a queue to one server, and replaces a server that dies.

    A job is (body, limits, future); the future gets the Response. The thread belongs to the
    sandbox, so that an interrupt in the notebook's thread never cuts a conversation in two.
    """

    def __init__(self, jobs, worker):
        self._jobs = jobs
        self._worker = worker
        self._first = worker
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="sandbox keeper", daemon=True)
        self._thread.start()

    def announce_close(self):
        """Take no more jobs. Every keeper of a queue is told before the first one is closed:
        whichever threads take the wake-up calls, there is one for each."""
        self._closing = True
        self._jobs.put(None)

    def close(self):
        """End the server and the thread; `announce_close` came first."""
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
        return Response(wire.FAULT, 0, reason.encode(), 0.0, 0.0, restarts)

    def _drop_worker(self):
        worker = self._worker
        try:
            if worker is not None:
                worker.close()
        finally:
            self._worker = None  # whatever happened, the next job gets a server that lives
