"""The sandbox server's loop: one request, one confined fork, one response.

Stage: sandbox (server side). Requests come in through a stream (`wire`), walls from `confine`;
the answers of a run go back as the bytes it wrote, which this process never parses. A run is
ended at its CPU limit, at its wall-clock deadline, when it says too much, or when the trainer or
the other run of its pair (`pairing`) is gone. What it prints is kept, up to a limit (`streams`).
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import time

from workbench.sandbox import confine, kernel, wire
from workbench.sandbox.streams import Rooms, Run, make_room, widen, wipe

TICK_S = 0.02
"""How often a running program's clocks and answers are looked at."""


class Server:
    """Answers requests one after another behind `walls`, one of the classes in `confine`.

    control: the descriptors requests come from and responses go to; one socket may be both.
    The fork for the next request is made and confined while no request waits; it is used once.
    What passes through here stays in buffers that are wiped: the next fork is a copy of this
    process, and must not find the program, the answers or the output of the one before.
    """

    def __init__(self, control, walls, side):
        """side: what this server's runs execute and how they are paired (see `pairing`)."""
        self._control, self._replies = control
        self._walls = walls
        self._side = side
        self._body = make_room(1 << 16)
        self._rooms = Rooms()
        self._spare = None
        self._look_at = 0.0

    def serve(self):
        """Answer until the trainer closes its end."""
        self._side.harness.warm_up()  # what Python makes when first asked, forks then find made
        gc.collect()
        kernel.trim_memory()
        gc.freeze()  # a collection must not touch, and so copy, what the forks share
        gc.disable()
        while True:
            self._spare = self._spare or self._fork()
            header = wire.receive(lambda view: os.readv(self._control, [view]), wire.REQUEST.size)
            if header is None:
                return
            number, size, *limits, paired = wire.REQUEST.unpack(header)
            if size > len(self._body):
                self._body = make_room(size)
            body = memoryview(self._body)[:size]
            if not wire.receive_into(lambda view: os.readv(self._control, [view]), body):
                return
            ending, said, run = self.run(body, *limits, number if paired else None)
            head = wire.RESPONSE.pack(number, *map(len, said), *ending)
            for data in (head, *said):
                wire.write_all(self._replies, data)
            wipe(body, size)
            if run is not None:
                self._rooms.wipe(run)

    def try_out(self):
        """Run a harmless request. Raises OSError if it does not give what it must."""
        request, lines = self._side.harness.TRIAL
        _, (answers, *_), _ = self.run(json.dumps(request).encode(), 5.0, 20.0, 256, 1)
        answers = bytes(answers)
        if answers.split(b"\n") != [*lines, b""]:
            raise OSError(f"a first run gave {answers[:300]!r}")

    def run(self, body, cpu_s, wall_s, memory_mb, output_kb, pair=None):
        """One run: ((what was cut, how it ended, exit status, CPU seconds, wall seconds), (its
        answers, output, errors), the Run whose rooms the caller has to wipe, or None).

        pair: the number under which it meets a run of the other server, if it does.
        """
        started = time.monotonic()
        try:
            run = self._next_run(pair)
        except OSError as error:
            self._side.decline(pair)
            return _fault(error)
        try:
            other = self._side.join(run, pair, started + wall_s)
        except OSError as error:
            self._discard(run)
            return _fault(error)
        before_s = self._walls.cpu_seconds(run.pid)
        head = wire.REQUEST.pack(0, len(body), cpu_s, wall_s, memory_mb, output_kb, False)
        run.send(head, body, self._rooms.for_output(output_kb << 10))
        ended, status, usage = self._watch(run, before_s + cpu_s, started + wall_s, other)
        self._tidy(run)
        if other is not None:
            os.close(other)
        status = os.waitstatus_to_exitcode(status)
        said, stdout, stderr = (stream.kept for stream in run.streams)
        if said[:1] != wire.READY and ended not in (wire.LEFT_ALONE, wire.CPU_LIMIT):
            reason = bytes(said[1:]).decode("utf-8", "replace") or f"exit status {status}"
            return _fault(reason, run)
        if run.answers.is_full:
            ended = wire.TOO_LARGE
        cut = run.streams[1].is_full | run.streams[2].is_full << 1
        used_s = max(0.0, usage.ru_utime + usage.ru_stime - before_s)
        ending = cut, ended, status, used_s, time.monotonic() - started
        return ending, (said[1:], stdout, stderr), run

    def _next_run(self, pair):
        """The spare fork, or a new one if it cannot be paired. Raises OSError."""
        run, self._spare = self._spare, None
        if isinstance(run, OSError):
            raise run
        if run is not None and pair is not None and not self._side.can_join(run):
            self._discard(run)
            run = None
        run = run or self._fork()
        if isinstance(run, OSError):
            raise run
        return run

    def _fork(self):
        """A confined fork that waits for its request, or the OSError that prevented it."""
        requests_in_run, requests = self._side.channel()
        readers, (answers, *printed) = zip(*(os.pipe() for _ in range(3)))
        if self._walls.starts_programs:
            widen(printed)
        ends = self._side.ends()
        in_run = (answers, requests_in_run, *ends.in_run)
        try:
            pid = self._walls.fork()
        except OSError as error:
            for descriptor in (*in_run, *printed, requests, *readers):
                os.close(descriptor)
            ends.close()
            return error
        if pid == 0:
            os.close(requests)
            os.dup2(printed[0], 1)
            os.dup2(printed[1], 2)
            be_the_run(self._walls, self._side, *in_run)
        for descriptor in (*in_run, *printed):
            os.close(descriptor)
        return Run(pid, requests, readers, ends)

    def _discard(self, run):
        """End a run that was given no request."""
        os.kill(run.pid, signal.SIGKILL)
        os.waitpid(run.pid, 0)
        os.close(run.requests)
        self._tidy(run)

    def _tidy(self, run):
        """After the run's first process ended: end and remove what is left of it."""
        self._walls.sweep(run.pid)
        run.drain()
        run.close()
        self._walls.clean()

    def _watch(self, run, cpu_end_s, deadline, other):
        """Wait for the run's first process to end, or end it: (how, wait status, usage).

        other: a pipe that hangs up when the other run of its pair has ended, or None.
        """
        # Not woken by what the run says, unless it fills a pipe and has to wait: waking for each
        # answer would cost more than the answer does. End of file on a pipe proves nothing, a
        # grandchild may hold it open.
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        exit_handle = os.pidfd_open(run.pid) if hasattr(os, "pidfd_open") else None
        if exit_handle is not None:
            poll.register(exit_handle, select.POLLIN)
        if other is not None:
            poll.register(other, 0)
        tick_s = TICK_S if exit_handle is not None else TICK_S / 10
        ended, late = wire.EXITED, wire.WALL_LIMIT
        while True:
            events = poll.poll(tick_s * 1000)
            run.drain(poll)
            done, status, usage = os.wait4(run.pid, os.WNOHANG)
            if done:
                break
            if any(descriptor == self._control for descriptor, _ in events):
                os.kill(run.pid, signal.SIGKILL)  # no request may come now: the trainer is gone
                os.waitpid(run.pid, 0)
                self._walls.sweep(run.pid)
                os._exit(0)
            if any(descriptor == other for descriptor, _ in events):
                poll.unregister(other)
                other, deadline = None, time.monotonic() + self._side.grace_s
                late = wire.LEFT_ALONE
            if ended == wire.EXITED:
                ended = self._over_a_limit(run, cpu_end_s, deadline, late)
                if ended != wire.EXITED:
                    os.kill(run.pid, signal.SIGKILL)
        if exit_handle is not None:
            os.close(exit_handle)
        if ended == wire.LEFT_ALONE and os.waitstatus_to_exitcode(status) != -signal.SIGKILL:
            ended = wire.EXITED  # by itself: its pipes hang up a little before it can be waited for
        return ended, status, usage

    def _over_a_limit(self, run, cpu_end_s, deadline, late):
        if run.answers.is_full:
            return wire.TOO_LARGE
        if self._walls.cpu_seconds(run.pid) > cpu_end_s:
            return wire.CPU_LIMIT
        now = time.monotonic()
        if now >= self._look_at:  # a run that prints much is seen here more often than that
            self._look_at = now + TICK_S
            if self._walls.is_overfull():
                return wire.DISK_LIMIT
        return late if now >= deadline else wire.EXITED


def be_the_run(walls, side, pipe, requests, *ends):
    """In the fork: put up the walls, wait for a request, execute it; never returns."""
    try:
        try:
            pipe, requests, *ends = walls.enter(pipe, requests, *ends)
            if not select.select([requests], (), (), 0)[0]:  # nobody waits yet
                side.harness.warm_up()
            ends = side.receive(requests, ends)
            walls.seal()
            head = wire.receive(lambda view: os.readv(requests, [view]), wire.REQUEST.size)
            if head is None:  # no request will come
                return
            _, size, cpu_s, _, memory_mb, *_ = wire.REQUEST.unpack(head)
            body = wire.receive(lambda view: os.readv(requests, [view]), size)
            os.close(requests)
            request = side.harness.unpack(body, walls.box)
            confine.set_limits(cpu_s, memory_mb, request.get("reserve_mb"))
            if request.get("alone"):
                walls.forbid_processes()
            gc.enable()
            os.write(pipe, wire.READY)
        except BaseException as error:
            os.write(pipe, wire.FAILED + repr(error).encode())
            return
        os._exit(side.harness.run(request, pipe, walls.box, ends) or 0)
    except MemoryError:
        os._exit(wire.OUT_OF_MEMORY)
    finally:
        os._exit(0)


def _fault(reason, run=None):
    said = f"could not start a run: {reason}"[:500].encode()
    return (0, wire.FAULT, 0, 0.0, 0.0), (said, b"", b""), run
