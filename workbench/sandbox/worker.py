"""The trainer's end of one sandbox server: start it, ask it, end it.

Stage: sandbox. Used by one thread at a time. Left out: queues and reuse, which `local` adds.
"""

from __future__ import annotations

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

from workbench.sandbox import removal, wire
from workbench.sandbox.results import Response, killed_from_outside

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


class ServerGone(Exception):
    """The server died, hung or could not be started: our fault, never the candidate's."""


class Worker:
    """One server process; `hello` says what it found."""

    def __init__(self, strongest, packages=()):
        """Start a server; `wait_ready` must follow. Nothing is imported from the environment but
        `packages` ("name=folder", ...), which make it a server for pytest suites."""
        self._socket, theirs = socket.socketpair()
        name = f"workbench-sandbox-{os.getpid()}-{secrets.token_hex(4)}"
        self._folder = os.path.join(tempfile.gettempdir(), name)
        script = Path(__file__).with_name("server.py")
        # -P -s -S and this environment do what -I would, and keep PYTHONHASHSEED: a program that
        # lists a set must give the same answer from every server.
        command = [getattr(sys, "_base_executable", sys.executable), "-P", "-s", "-S", str(script)]
        arguments = [str(theirs.fileno()), str(os.getpid()), str(strongest), self._folder]
        try:
            self._process = subprocess.Popen(
                [*command, *arguments, *packages],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=ENVIRONMENT,
                cwd="/",
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # the keyboard's Ctrl-C is not for the servers
            )
        except OSError as error:
            self._socket.close()
            raise ServerGone(f"could not start {command[0]}: {error}") from None
        finally:
            theirs.close()
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
        """The Response to one request. Raises ServerGone; the worker is then of no more use."""
        self._number += 1
        head = wire.REQUEST.pack(
            self._number, len(body), limits.cpu_s, limits.wall_s, limits.memory_mb
        )
        self._socket.settimeout(limits.wall_s + GRACE_S)
        try:
            self._socket.sendall(head + body)
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
        try:
            self._socket.shutdown(socket.SHUT_RDWR)  # the server ends its run, then itself
        except OSError:
            pass  # it has ended already
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


class Keeper:
    """A thread that takes jobs from a queue to one server, and replaces a server that dies.

    A job is (body, limits, future); the future gets the Response. The thread belongs to the
    sandbox, so that an interrupt in the notebook's thread never cuts a conversation in two.
    """

    def __init__(self, jobs, worker, packages=()):
        self._jobs = jobs
        self._worker = worker
        self._strongest = worker.hello["tier"]
        self._packages = packages
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
                    self._worker = Worker(self._strongest, self._packages)
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
