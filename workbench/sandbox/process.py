"""A sandbox server as a process on this machine, and the socket it is spoken to through.

Stage: sandbox. Used by one thread at a time. Left out: what is said over the socket (`worker`).
"""

from __future__ import annotations

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


class ServerProcess:
    """One server process; `stream` is the trainer's end of its socket."""

    def __init__(self, strongest):
        """Start it, with walls no stronger than tier `strongest`; nothing is imported from the
        environment. Raises ServerGone."""
        self.stream, theirs = socket.socketpair()
        name = f"{FOLDER_PREFIX}{os.getpid()}-{secrets.token_hex(4)}"
        self.folder = os.path.join(tempfile.gettempdir(), name)
        script = Path(__file__).with_name("server.py")
        # -P -s -S and this environment do what -I would, and keep PYTHONHASHSEED: a program that
        # lists a set must give the same answer from every server.
        command = [getattr(sys, "_base_executable", sys.executable), "-P", "-s", "-S", str(script)]
        arguments = [str(theirs.fileno()), str(os.getpid()), str(strongest), self.folder]
        try:
            self._process = subprocess.Popen(
                command + arguments,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=ENVIRONMENT,
                cwd="/",
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # the keyboard's Ctrl-C is not for the servers
            )
        except OSError as error:
            self.stream.close()
            raise ServerGone(f"could not start {command[0]}: {error}") from None
        finally:
            theirs.close()
        self.pid = self._process.pid

    def end(self):
        """End it and whatever it runs; nothing is left behind. Other threads may do so too."""
        try:
            self.stream.shutdown(socket.SHUT_RDWR)  # the server ends its run, then itself
        except OSError:
            pass  # it has ended already
        try:
            self._process.wait(timeout=END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self.stream.close()
        removal.remove_folder(self.folder)
