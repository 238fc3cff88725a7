"""The sandbox servers of a worker in a container, and the streams they are spoken to through.

Stage: sandbox. The server for solutions is the container's first process, and its standard streams
are the connection: when the trainer ends, however it ends, the engine closes the server's input,
the server ends its run and itself, and with it goes the container, which the engine then removes.
The server for tests is a further process there. Left out: a copy of the trainer, made by fork, that
outlives it keeps the connection open until it ends.
"""

from __future__ import annotations

import contextlib
import json
import secrets
import socket
import struct
import threading
import warnings
from typing import Any

from workbench.sandbox import wire
from workbench.sandbox.docker import engine
from workbench.sandbox.worker import ENVIRONMENT, START_S, ServerGone

MEMORY_MB = 2048
"""Memory for the runs of each side, without swap; a run's own limit must not be above it."""
PROCESSES = 64 + 8
"""Processes and threads for each side: a run's, which its own limit counts too, and the server's.
One side's run cannot use up what the other side needs."""
CPUS = 1
"""Processors' worth of time a container may use."""
FOLDERS = {"solutions": "/box", "tests": "/tests"}
"""Where each side's work folder is mounted."""
MEETING = "/meeting"
"""Where the sides' servers meet; root's alone."""
WORK_MB, WORK_FILES = 16, 1000
"""Size of a work folder, which is in memory and counts as such."""
SERVER_NEEDS = ["SETUID", "SETGID", "KILL", "CHOWN", "DAC_OVERRIDE", "FOWNER"]
"""Capabilities of the server: give a run its own user and folder, end it, empty that folder. A run
has none."""
LAYERS = (
    "container: no network, read-only root",
    f"tmpfs work folder of {WORK_MB} MiB",
    f"{2 * MEMORY_MB} MiB, {2 * PROCESSES} processes, {CPUS} CPU",
)
GO = b"\n"
"""Sent first: a server keeps silent before, as what it says while a connection is made is lost."""
_FRAME = struct.Struct("!BxxxI")
"""What the engine puts before each piece of output: which stream, how many bytes."""
_STDERR = 2


class ContainerServer:
    """A server for solutions; `stream` is its standard input and output, used like a socket."""

    def __init__(self, tag, setup, strongest):
        """Start it in a container of the image `tag`. Raises ServerGone.

        setup: as for `process.ServerProcess`; it must be in the image.
        strongest: ignored, inside a container there is one kind of walls.
        """
        from docker.errors import DockerException

        self._ending = threading.Lock()
        self._client = self.stream = self._tests = None
        self._setup = json.dumps(setup)
        self.name = f"workbench-sandbox-{engine.owner().rpartition('/')[2]}-{secrets.token_hex(4)}"
        try:
            self._client = engine.connect()
            config = self._client.inspect_image(tag)["Config"]
            self._program = config["Entrypoint"]
            settings = _settings(
                self._client, self.name, config["Volumes"] or (), setup["programs"]
            )
            settings["command"] = self._arguments("solutions")  # the image says which program
            for text in self._client.create_container(tag, **settings)["Warnings"] or ():
                warnings.warn(f"the Docker engine says: {text}", stacklevel=2)  # a limit it lacks
            parts = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
            self.stream = Stream(self._client.attach_socket(self.name, params=parts))
            self._client.start(self.name)  # after attaching, so that no word of it is missed
            self.stream.sendall(GO)
        except BaseException as error:  # Ctrl-C too: no container is left behind
            self.end()
            if isinstance(error, DockerException | OSError | RuntimeError):
                raise ServerGone(f"could not start a container: {error}") from None
            raise

    def start_tests(self):
        """Start a server for tests in the same container; its stream. Raises ServerGone."""
        from docker.errors import DockerException

        with self._ending:
            if self._client is None:
                raise ServerGone("the container was removed")
            try:
                command = [*self._program, *self._arguments("tests")]
                made = self._client.exec_create(self.name, command, stdin=True, user="0:0")
                self._tests = Stream(self._client.exec_start(made["Id"], socket=True))
                self._tests.sendall(GO)
            except (DockerException, OSError) as error:
                raise ServerGone(f"could not start a server for tests: {error}") from None
            return self._tests

    def end(self):
        """End both servers and remove the container, if the engine still lives; other threads may
        do so too."""
        from docker.errors import APIError, DockerException

        if self.stream is not None:
            self.stream.shutdown()  # the server ends its run, then itself: another thread may wait
        with self._ending:
            if self._client is None:
                return
            try:
                self._client.remove_container(self.name, force=True, v=True)
            except APIError as error:
                if error.status_code == 409:  # the engine is at it
                    with contextlib.suppress(DockerException, OSError):
                        self._client.wait(self.name, timeout=START_S, condition="removed")
            except (DockerException, OSError):
                pass  # no engine, no container
            for stream in filter(None, (self.stream, self._tests)):
                stream.close()
            self._client.close()
            self._client = None

    def _arguments(self, side):
        return [side, FOLDERS[side], MEETING, self._setup, *ENVIRONMENT]


class Stream:
    """The standard streams of a process in a container, read and written like a socket."""

    def __init__(self, attached: Any):
        self._attached = attached  # closes the connection when it is collected
        self._socket = getattr(attached, "_sock", attached)  # a TLS connection comes as it is
        self._left = 0  # bytes of the frame that is being read
        self._errors = b""

    def settimeout(self, seconds: float) -> None:
        """How long to wait for the next bytes."""
        self._socket.settimeout(seconds)

    def sendall(self, data: bytes) -> None:
        """Write to the server's standard input."""
        self._socket.sendall(data)

    def recv_into(self, view: memoryview) -> int:
        """Read some of its standard output; 0 at the end.

        Raises ConnectionError with what it wrote to standard error, if it ended after that.
        """
        while not self._left:
            header = wire.receive(self._socket.recv_into, _FRAME.size)
            if header is None:
                if self._errors:
                    raise ConnectionError(self._errors.decode("utf-8", "replace").strip())
                return 0
            which, size = _FRAME.unpack(header)
            if which != _STDERR:
                self._left = size
                continue
            text = wire.receive(self._socket.recv_into, size)
            self._errors = (self._errors + (text or b""))[-1000:]
        count = self._socket.recv_into(view[: self._left])
        self._left -= count
        return count

    def shutdown(self) -> None:
        """End the connection; a thread that waits for bytes is told so."""
        with contextlib.suppress(OSError):  # it has ended already
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Let go of the connection."""
        self._attached.close()


def _settings(client, name, volumes, programs):
    """What create_container is told; `volumes` the image declares become empty folders.

    programs: whether runs may start what a compiler made in their work folder.
    """
    tmpfs = dict.fromkeys(volumes, "ro,size=4k")
    for folder in FOLDERS.values():
        tmpfs[folder] = f"size={WORK_MB}m,nr_inodes={WORK_FILES},mode=711,nosuid,nodev,"
        tmpfs[folder] += "exec" if programs else "noexec"
    tmpfs[MEETING] = "size=4k,nr_inodes=10,mode=700,nosuid,nodev,noexec"
    memory = f"{2 * (MEMORY_MB + 4 * WORK_MB)}m"  # and some for the servers
    host_config = client.create_host_config(
        auto_remove=True,
        network_mode="none",
        read_only=True,
        tmpfs=tmpfs,
        ipc_mode="none",
        pids_limit=2 * PROCESSES,
        mem_limit=memory,
        memswap_limit=memory,
        nano_cpus=CPUS * 10**9,
        cap_drop=["ALL"],
        cap_add=SERVER_NEEDS,
        security_opt=["no-new-privileges"],
        log_config={"Type": "none"},  # else the engine would write every answer to its disk
    )
    return {
        "name": name,
        "environment": ENVIRONMENT,
        "user": "0:0",
        "working_dir": "/",
        "hostname": "sandbox",
        "stdin_open": True,  # and closed when the one client that is attached goes
        "labels": {engine.LABEL: engine.owner()},
        "healthcheck": {"test": ["NONE"]},
        "stop_signal": "SIGKILL",  # an engine that is stopped need not wait for us
        "host_config": host_config,
    }
