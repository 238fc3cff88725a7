"""Warm servers, a thread for each, and what they answered before.

Stage: sandbox (the trainer's process). Requests go in, the servers' responses come out; safe to
call from any thread. Left out: what a request means and what its response says.
"""

from __future__ import annotations

import hashlib
import json
import os
import queue
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Mapping
from concurrent.futures import Future, InvalidStateError
from dataclasses import replace

from workbench.records import Limits
from workbench.sandbox import wire
from workbench.sandbox.checking import check_limits
from workbench.sandbox.responses import Response
from workbench.sandbox.results import SandboxStats
from workbench.sandbox.split_results import Plans
from workbench.sandbox.worker import Keeper, ServerGone, SplitBody, Worker

MAX_REMEMBERED, MAX_REMEMBERED_BYTES = 20_000, 256 << 20
"""Responses kept for reuse, and what they said and printed; the oldest is dropped first."""


class Pool:
    """Servers of one kind that share a queue; equal requests get the first one's response."""

    def __init__(self, start: Callable, workers: int, reuse: bool, strongest: int):
        """start(tier) starts one server: see `worker.Worker`. Raises RuntimeError if none can be
        started."""
        self.workers = workers
        self._reuse = reuse
        self._owner = os.getpid()
        self._lock = threading.Lock()
        self._stats = SandboxStats()
        self._known: OrderedDict[bytes, Future] = OrderedDict()
        self._sizes: dict[bytes, int] = {}
        self._kept_bytes = 0
        self._plans = Plans()
        self._jobs: queue.SimpleQueue = queue.SimpleQueue()
        hello = self._open(start, strongest)
        self.tier: int = hello["tier"]
        self.layers: tuple[str, ...] = tuple(hello["layers"])
        self.declined: tuple[tuple[int, str], ...] = tuple(map(tuple, hello["declined"]))

    def _open(self, start: Callable, strongest: int) -> dict:
        started = []
        try:
            for _ in range(self.workers):  # all at once; then wait for each
                started.append(Worker(start, strongest))
            for worker in started:
                worker.wait_ready()
        except BaseException as error:  # Ctrl-C too: no server is left behind
            for worker in started:
                worker.close()
            if isinstance(error, ServerGone):
                raise RuntimeError(f"no sandbox could be started here: {error}") from None
            raise
        self._keepers = [Keeper(self._jobs, worker) for worker in started]
        self._close = weakref.finalize(self, _close, self._keepers, self._jobs, self._owner)
        return started[0].hello

    @property
    def is_open(self) -> bool:
        """False once it was closed."""
        return self._close.alive

    @property
    def stats(self) -> SandboxStats:
        """What has been executed so far (a snapshot)."""
        with self._lock:
            return self._stats

    def close(self) -> None:
        """End every server and what it runs. A call that is under way raises RuntimeError."""
        self._close()

    def execute(
        self,
        request: dict,
        files: Mapping[str, str],
        limits: Limits,
        tests: dict | None = None,
        always_reuse: bool = False,
    ) -> tuple[Response, bool]:
        """The response to one request, and whether it had been given before.

        tests: in mode "split", the request to the server for tests.
        always_reuse: also where the pool as a whole keeps nothing.
        """
        check_limits(limits)
        body = json.dumps(request | {"files": dict(files)}, sort_keys=True).encode()
        what = body + repr(limits).encode()
        if tests is not None:
            what += json.dumps(tests, sort_keys=True).encode()
            plan = {"plan": self._plans[tests["test_code"]]}
            body = SplitBody(body, json.dumps(tests | plan).encode())
        key = hashlib.sha256(what).digest()
        future, reused = self._find_or_submit(key, body, limits, self._reuse or always_reuse)
        response = future.result()
        if tests is not None:
            self._plans.learn(tests["test_code"], response)
        if reused:
            with self._lock:
                self._stats = replace(self._stats, reused=self._stats.reused + 1)
        return response, reused

    def _find_or_submit(self, key, body, limits, reuse) -> tuple[Future, bool]:
        if os.getpid() != self._owner:
            raise RuntimeError(
                f"this sandbox belongs to process {self._owner}, this is {os.getpid()}: "
                "open one sandbox in each process"
            )
        with self._lock:
            if not self._close.alive:
                raise RuntimeError("this sandbox is closed; open another with open_sandbox()")
            if reuse and key in self._known:
                self._known.move_to_end(key)
                return self._known[key], True
            future: Future = Future()
            if reuse:
                self._known[key] = future
                self._forget_oldest()
            future.add_done_callback(lambda done: self._count(key, done))
            self._jobs.put((body, limits, future))
        if not self._close.alive:  # closed in between: nobody may be left to take the job
            _refuse(future)
        return future, False

    def _count(self, key, future) -> None:
        response = None if future.exception() else future.result()
        parts = () if response is None else response.parts
        fault = response is None or any(part.ended == wire.FAULT for part in parts)
        deadline = not fault and any(part.ended == wire.WALL_LIMIT for part in parts)
        with self._lock:
            if fault or deadline:  # says something about the machine, not about the program
                self._known.pop(key, None)
            if response is None:  # the sandbox was closed
                return
            if key in self._known:
                self._sizes[key] = response.size
                self._kept_bytes += response.size
                self._forget_oldest()
            old = self._stats
            self._stats = replace(
                old,
                executions=old.executions + 1,
                cpu_s=old.cpu_s + sum(part.cpu_s for part in parts),
                wall_s=old.wall_s + response.wall_s,
                faults=old.faults + fault,
                deadlines=old.deadlines + deadline,
                restarts=old.restarts + response.restarts,
            )

    def _forget_oldest(self) -> None:
        """Called with the lock held."""
        while len(self._known) > MAX_REMEMBERED or self._kept_bytes > MAX_REMEMBERED_BYTES:
            key, _ = self._known.popitem(last=False)
            self._kept_bytes -= self._sizes.pop(key, 0)


def _close(keepers, jobs, owner) -> None:
    if os.getpid() != owner:  # a copy of the trainer, made by fork, has no say here
        return
    for keeper in keepers:
        keeper.announce_close()
    for _ in keepers:
        jobs.put(None)
    for keeper in keepers:
        keeper.close()
    while not jobs.empty():
        job = jobs.get()
        if job is not None:
            _refuse(job[2])


def _refuse(future: Future) -> None:
    try:
        future.set_exception(RuntimeError("the sandbox was closed"))
    except InvalidStateError:  # somebody else said so first
        pass
