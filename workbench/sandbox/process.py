"""The sandbox servers as processes on this machine, and the sockets they are spoken to through.

Stage: sandbox. Used by one thread at a time. Left out: what is said over a socket (`worker`).
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
from pathlib import Path

from workbench.sandbox import removal
from workbench.sandbox.worker import ENVIRONMENT, ServerGone

END_S = 5.0
"""A server that has not ended this long after its socket was closed is killed."""
FOLDER_PREFIX = "workbench-sandbox-"
"""Work folders are named PREFIX, the trainer's process id, "-" and a random part."""
PACKAGES = ("numpy",)
"""Packages of this environment that programs may import; not loaded before one does."""


class ServerProcess:
    """One server process; `stream` is the trainer's end of its socket."""

    def __init__(self, setup, strongest, inner=None):
        """Start it, with walls no stronger than tier `strongest`. Raises ServerGone.

        setup: what its runs may read, import and start (see `server`).
        inner: the socket to a server for solutions, if this is to be one for tests.
        """
        self._setup, self._strongest = setup, strongest
        side = "solutions" if inner is None else "tests"
        self._inner = self.tests = None
        if inner is None:
            self._inner, inner = socket.socketpair()
        self.stream, theirs = socket.socketpair()
        name = f"{FOLDER_PREFIX}{os.getpid()}-{secrets.token_hex(4)}"
        self.folder = os.path.join(tempfile.gettempdir(), name)
        script = Path(__file__).with_name("server.py")
        # -P -s -S and this environment do what -I would, and keep PYTHONHASHSEED: a program that
        # lists a set must give the same answer from every server.
        command = [getattr(sys, "_base_executable", sys.executable), "-P", "-s", "-S", str(script)]
        numbers = (theirs.fileno(), os.getpid(), strongest, inner.fileno())
        try:
            self._process = subprocess.Popen(
                [*command, *map(str, numbers), self.folder, side, json.dumps(setup)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=ENVIRONMENT,
                cwd="/",
                pass_fds=[theirs.fileno(), inner.fileno()],
                start_new_session=True,  # the keyboard's Ctrl-C is not for the servers
            )
        except OSError as error:
            self.stream.close()
            raise ServerGone(f"could not start {command[0]}: {error}") from None
        finally:
            theirs.close()
            inner.close()
        self.pid = self._process.pid

    def start_tests(self):
        """Start a server like this one, but for tests, joined to it; its stream."""
        self.tests = ServerProcess(self._setup, self._strongest, self._inner)
        return self.tests.stream

    def end(self):
        """End it and whatever it runs, and the one for tests; nothing is left behind. Other
        threads may do so too."""
        try:
            self.stream.shutdown(socket.SHUT_RDWR)  # the server ends its run, then itself
        except OSError:
            pass  # it has ended already
        if self.tests is not None:
            self.tests.end()
        if self._inner is not None:
            self._inner.close()
        try:
            self._process.wait(timeout=END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self.stream.close()
        removal.remove_folder(self.folder)


@functools.cache
def python_setup():
    """The setup of servers that run Python: PACKAGES, each with the libraries it brings."""
    packages = {}
    for name in PACKAGES:
        spec = importlib.util.find_spec(name)  # finds it, does not import it
        if spec is not None and spec.origin is not None:
            packages[name] = os.path.dirname(os.path.realpath(spec.origin))
    beside = (f"{folder}.libs" for folder in packages.values())
    reads = [*packages.values(), *filter(os.path.isdir, beside)]
    return {"reads": reads, "packages": packages, "programs": False, "harness": "modes"}
