"""The trainer's end of the sandbox servers: start them, ask them, end them.

Stage: sandbox. A worker has one server for solutions and, from its first `SplitBody` on, a second
one that is only ever given tests. Used by one thread at a time. Left out: queues and reuse, which
`local` adds.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import threading
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from workbench.sandbox import removal, wire
from workbench.sandbox.responses import Response, killed_from_outside

START_S = 60.0
"""A server that has not said hello after this long is given up."""
GRACE_S = 15.0
"""A server that has not answered this long after a run's wall-clock deadline is given up."""
END_S = 5.0
"""A server that has not ended this long after its socket was closed is killed."""
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
PACKAGES = ("numpy",)
"""Packages of this environment that programs may import; not loaded before one does."""
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
    """One server process; `hello` says what it found."""

    def __init__(self, strongest, inner=None, setup=None):
        """Start a server; `wait_ready` must follow.

        inner: the socket to a server for solutions, if this is to be one for tests.
        setup: what its runs may read, import and start (see `server`); None = Python and those
            of PACKAGES that this environment has, nothing else of the environment.
        """
        self.setup = setup or _python_setup()
        side = "solutions" if inner is None else "tests"
        self._inner = self._tests = None
        if inner is None:
            self._inner, inner = socket.socketpair()
        self._strongest = strongest
        self._socket, theirs = socket.socketpair()
        name = f"workbench-sandbox-{os.getpid()}-{secrets.token_hex(4)}"
        self._folder = os.path.join(tempfile.gettempdir(), name)
        script = Path(__file__).with_name("server.py")
        # -P -s -S and this environment do what -I would, and keep PYTHONHASHSEED: a program that
        # lists a set must give the same answer from every server.
        command = [getattr(sys, "_base_executable", sys.executable), "-P", "-s", "-S", str(script)]
        arguments = [str(theirs.fileno()), str(os.getpid()), str(strongest), self._folder]
        arguments += [side, str(inner.fileno()), json.dumps(self.setup)]
        try:
            self._process = subprocess.Popen(
                command + arguments,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=ENVIRONMENT,
                cwd="/",
                pass_fds=[theirs.fileno(), inner.fileno()],
                start_new_session=True,  # the keyboard's Ctrl-C is not for the servers
            )
        except OSError as error:
            self._socket.close()
            raise ServerGone(f"could not start {command[0]}: {error}") from None
        finally:
            theirs.close()
            inner.close()
        self._number = 0
        self.hello = None

    def wait_ready(self):
        """Wait for the server's hello: a dict of tier, layers and what was declined."""
        if self.hello is None:
            self._socket.settimeout(START_S)
            try:
                (size,) = wire.HELLO.unpack(self._receive(wire.HELLO.size))
                self.hello = json.loads(bytes(self._receive(size)))
            except OSError as error:
                raise ServerGone(f"the sandbox server did not start: {error}") from None

    def ask(self, body, limits):
        """The Response to one request, bytes or a SplitBody. Raises ServerGone; the worker is then
        of no more use."""
        self._number += 1
        if not isinstance(body, SplitBody):
            self._send(self._number, body, limits)
            return self._answer(self._number, limits)
        tests = self._server_for_tests()
        longer = replace(limits, wall_s=limits.wall_s + TESTS_LONGER_S)
        self._send(self._number, body.solution, limits, paired=True)
        tests._send(self._number, body.tests, longer, paired=True)
        response = self._answer(self._number, longer)
        return replace(response, tests=tests._answer(self._number, longer))

    def _server_for_tests(self):
        if self._tests is None:
            self._tests = Worker(self._strongest, self._inner, self.setup)
        self._tests.wait_ready()
        if self._tests.hello["tier"] != self.hello["tier"]:
            raise ServerGone(
                f"the server for tests has tier {self._tests.hello['tier']}, the one for "
                f"solutions {self.hello['tier']}"
            )
        return self._tests

    def _send(self, number, body, limits, paired=False):
        head = wire.REQUEST.pack(
            number, len(body), limits.cpu_s, limits.wall_s, limits.memory_mb, limits.output_kb,
            paired,
        )  # fmt: skip
        self._socket.settimeout(limits.wall_s + GRACE_S)
        try:
            self._socket.sendall(head + body)
        except OSError as error:
            raise ServerGone(f"the sandbox server failed: {error}") from None

    def _answer(self, expected, limits):
        self._socket.settimeout(limits.wall_s + GRACE_S)
        try:
            number, *rest = wire.RESPONSE.unpack(self._receive(wire.RESPONSE.size))
            payload, stdout, stderr = (bytes(self._receive(size)) for size in rest[:3])
        except OSError as error:
            raise ServerGone(f"the sandbox server failed: {error}") from None
        if number != expected:
            raise ServerGone(f"the sandbox server answered request {number}, not {expected}")
        cut, ended, exit_status, cpu_s, wall_s = rest[3:]
        return Response(
            ended, exit_status, payload, cpu_s, wall_s,
            stdout=stdout, stderr=stderr, stdout_cut=bool(cut & 1), stderr_cut=bool(cut & 2),
        )  # fmt: skip

    def close(self):
        """End the server and whatever it runs, and the one for its tests; nothing stays behind."""
        try:
            self._socket.shutdown(socket.SHUT_RDWR)  # the server ends its run, then itself
        except OSError:
            pass  # it has ended already
        if self._tests is not None:
            self._tests.close()
        if self._inner is not None:
            self._inner.close()
        try:
            self._process.wait(timeout=END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._socket.close()
        removal.remove_folder(self._folder)

    def _receive(self, size):
        data = wire.receive(self._socket.recv_into, size)
        if data is None:
            raise ConnectionError("it closed the connection")
        return data


@functools.cache
def _python_setup():
    """The setup of servers that run Python: PACKAGES, each with the libraries it brings."""
    packages = {}
    for name in PACKAGES:
        spec = importlib.util.find_spec(name)  # finds it, does not import it
        if spec is not None and spec.origin is not None:
            packages[name] = os.path.dirname(os.path.realpath(spec.origin))
    beside = (f"{folder}.libs" for folder in packages.values())
    reads = [*packages.values(), *filter(os.path.isdir, beside)]
    return {"reads": reads, "packages": packages, "programs": False, "harness": "modes"}


class Keeper:
    """A thread that takes jobs from a queue to one server, and replaces a server that dies.

    A job is (body, limits, future); the body is bytes or a SplitBody, the future gets the Response.
    The thread belongs to the sandbox, so that an interrupt in the notebook's thread never cuts a
    conversation in two.
    """

    def __init__(self, jobs, worker):
        self._jobs = jobs
        self._worker = worker
        self._strongest = worker.hello["tier"]
        self._setup = worker.setup
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
                    self._worker = Worker(self._strongest, setup=self._setup)
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
