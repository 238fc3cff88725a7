"""The sandbox server's loop: one request, one confined fork, one response.

Stage: sandbox (server side). Requests come in through a socket (`wire`), walls from `confine`;
the answers of a run go back as the bytes it wrote, which this process never parses. A run is
ended at its CPU limit, at its wall-clock deadline, when it says too much, or when the trainer is
gone. Left out: captured output.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import time

from workbench.sandbox import candidate, confine, wire

TICK_S = 0.02
"""How often a running program's clocks and answers are looked at."""


class Server:
    """Answers requests one after another behind `walls`, one of the classes in `confine`."""

    def __init__(self, control, walls):
        self._control = control
        self._walls = walls
        self._body = bytearray(1 << 16)
        self._payload = bytearray()

    def serve(self):
        """Answer until the trainer closes its end."""
        gc.collect()
        gc.freeze()
        while True:
            header = wire.receive(self._read_into, wire.REQUEST.size)
            if header is None:
                return
            number, size, *limits = wire.REQUEST.unpack(header)
            if size > len(self._body):
                self._body = bytearray(size)
            if not wire.receive_into(self._read_into, memoryview(self._body)[:size]):
                return
            ended, status, cpu_s, wall_s = self.run(size, *limits)
            size_back = len(self._payload)
            head = wire.RESPONSE.pack(number, size_back, ended, status, cpu_s, wall_s)
            write_all(self._control, head + self._payload)
            # the next run is a copy of this process: leave it nothing of this one to read
            self._body[:size] = bytes(size)
            self._payload[:] = bytes(size_back)

    def try_out(self):
        """Run a program that returns 1. Raises OSError if that does not come back."""
        request = {"mode": "call", "files": {"a.py": "def f():\n    return 1\n"},
                   "entry_file": "a.py", "entry_point": "f", "inputs": [{"tuple": []}]}  # fmt: skip
        body = json.dumps(request).encode()
        self._body[: len(body)] = body
        self.run(len(body), 5.0, 20.0, 256)
        if bytes(self._payload) != wire.VALUE + b"1\n" + wire.END + b"\n":
            raise OSError(f"a first run gave {bytes(self._payload)[:300]!r}")

    def run(self, size, cpu_s, wall_s, memory_mb):
        """Run the first `size` bytes of the body; what it said is left in the payload.

        Returns (how it ended, exit status, CPU seconds, wall seconds).
        """
        started = time.monotonic()
        self._payload = bytearray()
        pipe, pipe_in_run = os.pipe()
        try:
            pid = self._walls.fork()
        except OSError as error:
            os.close(pipe)
            os.close(pipe_in_run)
            return self._fault(error)
        if pid == 0:
            self._be_the_run(size, cpu_s, memory_mb, pipe_in_run)
        os.close(pipe_in_run)
        os.set_blocking(pipe, False)
        ended, status, usage = self._watch(pid, pipe, cpu_s, started + wall_s)
        self._walls.sweep(pid)
        self._drain(pipe)
        os.close(pipe)
        self._walls.clean()
        if len(self._payload) > wire.MAX_ANSWER_BYTES:
            ended = wire.TOO_LARGE
        if self._payload[:1] != wire.READY:
            said = self._payload[1:].decode("utf-8", "replace")
            return self._fault(said or f"exit status {os.waitstatus_to_exitcode(status)}")
        del self._payload[:1]
        used_s = usage.ru_utime + usage.ru_stime
        return ended, os.waitstatus_to_exitcode(status), used_s, time.monotonic() - started

    def _read_into(self, view):
        return os.readv(self._control, [view])

    def _fault(self, reason):
        self._payload = bytearray(f"could not start a run: {reason}"[:500].encode())
        return wire.FAULT, 0, 0.0, 0.0

    def _be_the_run(self, size, cpu_s, memory_mb, pipe):
        """In the child; never returns."""
        try:
            try:
                self._walls.enter(cpu_s, memory_mb, pipe)
                os.write(confine.PIPE, wire.READY)
            except BaseException as error:
                os.write(pipe, wire.FAILED + repr(error).encode())
                return
            candidate.run(memoryview(self._body)[:size], confine.PIPE, self._walls.box)
        except MemoryError:
            os._exit(wire.OUT_OF_MEMORY)
        finally:
            os._exit(0)

    def _watch(self, pid, pipe, cpu_s, deadline):
        """Wait for the run's first process to end, or end it: (how, wait status, usage)."""
        # Not woken by answers: the pipe holds 64 KiB, and waking for each would cost more than
        # the answers do. End of file on it proves nothing, a grandchild may hold it open.
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        exit_handle = os.pidfd_open(pid) if hasattr(os, "pidfd_open") else None
        if exit_handle is not None:
            poll.register(exit_handle, select.POLLIN)
        tick_s = TICK_S if exit_handle is not None else TICK_S / 10
        ended = wire.EXITED
        while True:
            events = poll.poll(tick_s * 1000)
            self._drain(pipe)
            done, status, usage = os.wait4(pid, os.WNOHANG)
            if done:
                break
            if any(descriptor == self._control for descriptor, _ in events):
                self._kill(pid)  # no request may come now: the trainer is gone
                os._exit(0)
            if ended == wire.EXITED:
                ended = self._over_a_limit(pid, cpu_s, deadline)
                if ended != wire.EXITED:
                    self._kill(pid)
        if exit_handle is not None:
            os.close(exit_handle)
        return ended, status, usage

    def _over_a_limit(self, pid, cpu_s, deadline):
        if len(self._payload) > wire.MAX_ANSWER_BYTES:
            return wire.TOO_LARGE
        if cpu_seconds(pid) > cpu_s:
            return wire.CPU_LIMIT
        return wire.WALL_LIMIT if time.monotonic() > deadline else wire.EXITED

    def _drain(self, pipe):
        while len(self._payload) <= wire.MAX_ANSWER_BYTES:
            try:
                data = os.read(pipe, 1 << 16)
            except BlockingIOError:
                return
            if not data:
                return
            self._payload += data

    def _kill(self, pid):
        os.kill(pid, signal.SIGKILL)
        self._walls.sweep(pid)


def cpu_seconds(pid):
    """CPU seconds a process has used so far; 0 where the kernel does not tell."""
    try:
        return time.clock_gettime(~pid << 3 | 2)  # the kernel's name for that process's clock
    except (OSError, OverflowError):
        return 0.0


def write_all(descriptor, data):
    """Write every byte."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
