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
_ANSWER_ROOM = wire.MAX_ANSWER_BYTES + (1 << 16)


class Server:
    """Answers requests one after another behind `walls`, one of the classes in `confine`.

    `program` is the module that a run executes a request with: `candidate`, or one that has the
    same functions trial, warm_up, unpack and run.

    The fork for the next request is made and confined while no request waits; it is used once.
    What passes through here stays in two buffers that are wiped: the next fork is a copy of this
    process, and must not find the program or the answers of the one before.
    """

    def __init__(self, control, walls, program=candidate):
        self._control = control
        self._walls = walls
        self._program = program
        self._body = bytearray(1 << 16)
        self._answers = bytearray(_ANSWER_ROOM)
        self._spare = None

    def serve(self):
        """Answer until the trainer closes its end."""
        gc.collect()
        gc.freeze()  # a collection must not touch, and so copy, what the forks share
        gc.disable()
        while True:
            self._spare = self._spare or self._fork()
            header = wire.receive(lambda view: os.readv(self._control, [view]), wire.REQUEST.size)
            if header is None:
                return
            number, size, *limits = wire.REQUEST.unpack(header)
            if size > len(self._body):
                self._body = bytearray(size)
            body = memoryview(self._body)[:size]
            if not wire.receive_into(lambda view: os.readv(self._control, [view]), body):
                return
            *ending, answers = self.run(body, *limits)
            write_all(self._control, wire.RESPONSE.pack(number, len(answers), *ending))
            write_all(self._control, answers)
            body[:], answers[:] = bytes(size), bytes(len(answers))

    def try_out(self):
        """Run the program's trial. Raises OSError if it does not give what it must."""
        request, wanted = self._program.trial()
        *_, answers = self.run(json.dumps(request).encode(), 5.0, 20.0, 256)
        answers = bytes(answers)
        if answers != wanted:
            raise OSError(f"a first run gave {answers[:300]!r}")

    def run(self, body, cpu_s, wall_s, memory_mb):
        """(how it ended, exit status, CPU seconds, wall seconds, what it said) of one run.

        What it said is a writable view, for the caller to wipe.
        """
        started = time.monotonic()
        run, self._spare = self._spare or self._fork(), None
        if isinstance(run, OSError):
            return _fault(run)
        before_s = cpu_seconds(run.pid)
        run.send(wire.REQUEST.pack(0, len(body), cpu_s, wall_s, memory_mb), body)
        ended, status, usage = self._watch(run, before_s + cpu_s, started + wall_s)
        self._walls.sweep(run.pid)
        run.drain()
        os.close(run.answers)
        self._walls.clean()
        status = os.waitstatus_to_exitcode(status)
        said = memoryview(self._answers)[: run.said]
        if said[:1] != wire.READY:
            return _fault(bytes(said[1:]).decode("utf-8", "replace") or f"exit status {status}")
        if run.said_too_much:
            ended = wire.TOO_LARGE
        used_s = max(0.0, usage.ru_utime + usage.ru_stime - before_s)
        return ended, status, used_s, time.monotonic() - started, said[1:]

    def _fork(self):
        """A confined fork that waits for its request, or the OSError that prevented it."""
        requests_in_run, requests = os.pipe()
        answers, answers_in_run = os.pipe()
        try:
            pid = self._walls.fork()
        except OSError as error:
            for descriptor in (requests_in_run, requests, answers, answers_in_run):
                os.close(descriptor)
            return error
        if pid == 0:
            os.close(requests)
            be_the_run(self._walls, requests_in_run, answers_in_run, self._program)
        os.close(requests_in_run)
        os.close(answers_in_run)
        os.set_blocking(answers, False)
        return _Run(pid, requests, answers, self._answers)

    def _watch(self, run, cpu_end_s, deadline):
        """Wait for the run's first process to end, or end it: (how, wait status, usage)."""
        # Not woken by answers: the pipe holds 64 KiB, and waking for each would cost more than
        # the answers do. End of file on it proves nothing, a grandchild may hold it open.
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        exit_handle = os.pidfd_open(run.pid) if hasattr(os, "pidfd_open") else None
        if exit_handle is not None:
            poll.register(exit_handle, select.POLLIN)
        tick_s = TICK_S if exit_handle is not None else TICK_S / 10
        ended = wire.EXITED
        while True:
            events = poll.poll(tick_s * 1000)
            run.drain()
            done, status, usage = os.wait4(run.pid, os.WNOHANG)
            if done:
                break
            if any(descriptor == self._control for descriptor, _ in events):
                os.kill(run.pid, signal.SIGKILL)  # no request may come now: the trainer is gone
                os.waitpid(run.pid, 0)
                self._walls.sweep(run.pid)
                os._exit(0)
            if ended == wire.EXITED:
                ended = _over_a_limit(run, cpu_end_s, deadline)
                if ended != wire.EXITED:
                    os.kill(run.pid, signal.SIGKILL)
        if exit_handle is not None:
            os.close(exit_handle)
        return ended, status, usage


class _Run:
    """A fork, seen from the server: its process id, where its request goes, what it has said."""

    def __init__(self, pid, requests, answers, room):
        self.pid, self.requests, self.answers = pid, requests, answers
        self.said = 0
        self._room = memoryview(room)

    @property
    def said_too_much(self):
        return self.said > wire.MAX_ANSWER_BYTES

    def send(self, head, body):
        try:
            write_all(self.requests, head)
            write_all(self.requests, body)
        except OSError:
            pass  # it has died; what it said about that will be read
        os.close(self.requests)

    def drain(self):
        while not self.said_too_much:
            try:
                count = os.readv(self.answers, [self._room[self.said :]])
            except BlockingIOError:
                return
            if count == 0:
                return
            self.said += count


def be_the_run(walls, requests, pipe, program):
    """In the fork: put up the walls, wait for a request, execute it; never returns."""
    try:
        try:
            pipe, requests = walls.enter(pipe, requests)
            if not select.select([requests], (), (), 0)[0]:  # nobody waits yet
                program.warm_up()
            head = wire.receive(lambda view: os.readv(requests, [view]), wire.REQUEST.size)
            if head is None:  # no request will come
                return
            _, size, cpu_s, _, memory_mb = wire.REQUEST.unpack(head)
            body = wire.receive(lambda view: os.readv(requests, [view]), size)
            os.close(requests)
            request = program.unpack(body, walls.box)
            confine.set_limits(cpu_s, memory_mb)
            gc.enable()
            os.write(pipe, wire.READY)
        except BaseException as error:
            os.write(pipe, wire.FAILED + repr(error).encode())
            return
        program.run(request, pipe, walls.box)
    except MemoryError:
        os._exit(wire.OUT_OF_MEMORY)
    finally:
        os._exit(0)


def _over_a_limit(run, cpu_end_s, deadline):
    if run.said_too_much:
        return wire.TOO_LARGE
    if cpu_seconds(run.pid) > cpu_end_s:
        return wire.CPU_LIMIT
    return wire.WALL_LIMIT if time.monotonic() > deadline else wire.EXITED


def _fault(reason):
    said = bytearray(f"could not start a run: {reason}"[:500].encode())
    return wire.FAULT, 0, 0.0, 0.0, memoryview(said)


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
