"""The sandbox on this machine: a few warm servers, a thread for each, reuse of equal results.

Stage: sandbox. Programs and inputs go in, plain data comes out; safe to call from any thread, a
notebook, or a running event loop (it blocks). Left out: Docker and several hosts.
"""

from __future__ import annotations

import hashlib
import json
import os
import queue
import threading
import warnings
import weakref
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, InvalidStateError
from dataclasses import replace
from typing import Any

from workbench import encoding
from workbench.records import Limits
from workbench.sandbox import pytest_suites, wire
from workbench.sandbox.guarantees import Guarantees, check
from workbench.sandbox.inputs import check_files, check_limits, check_path, too_large_message
from workbench.sandbox.results import (
    CallResult,
    CaseResult,
    Response,
    SandboxStats,
    TestsResult,
    call_result,
    tests_result,
)
from workbench.sandbox.worker import Keeper, ServerGone, Worker

MAX_REMEMBERED = 20_000
"""Results kept for reuse; the oldest is dropped first."""


def open_sandbox(kind: str = "auto", workers: int = 2, reuse: bool = True) -> LocalSandbox:
    """A sandbox with `workers` servers, started in parallel; also a context manager.

    Args:
        kind: "auto" or "local": the strongest walls this machine allows. "local:2" and "local:1"
            use no stronger tier than that one.
        workers: programs that run at the same time; 2 suits a laptop.
        reuse: give the stored result when the same program gets the same inputs again.
    Raises:
        ValueError: unknown kind, or fewer than one worker. RuntimeError: not on this system.
    """
    tiers = {"auto": 3, "local": 3, "local:3": 3, "local:2": 2, "local:1": 1}
    if kind not in tiers:
        raise ValueError(f"kind: expected one of {sorted(tiers)}, got {kind!r}")
    if workers < 1:
        raise ValueError(f"workers: expected at least 1, got {workers}")
    if os.name != "posix":
        raise RuntimeError("the local sandbox needs Linux or macOS; on Windows, work in WSL2")
    return LocalSandbox(workers=workers, reuse=reuse, strongest=tiers[kind])


class LocalSandbox:
    """Runs untrusted programs in confined forks of warm servers; see `guarantees()`."""

    def __init__(
        self, *, workers: int = 2, reuse: bool = True, strongest: int = 3, packages: tuple = ()
    ):
        self.workers = workers
        self._packages = packages
        self._suites: LocalSandbox | None = None  # servers with pytest, once they are asked for
        self._reuse = reuse
        self._owner = os.getpid()
        self._lock = threading.Lock()
        self._stats = SandboxStats()
        self._known: OrderedDict[bytes, Future] = OrderedDict()
        self._jobs: queue.SimpleQueue = queue.SimpleQueue()
        hello = self._start(strongest)
        self.tier: int = hello["tier"]
        self.name = f"local:{self.tier}"
        self.layers: tuple[str, ...] = tuple(hello["layers"])
        self.declined: tuple[tuple[int, str], ...] = tuple(map(tuple, hello["declined"]))
        if self.tier == 1:
            warnings.warn(
                "this sandbox (tier 1) limits time and memory only: programs can read and write "
                f"your files and use the network. Stronger: {self.declined or 'not asked for'}",
                stacklevel=3,
            )

    def _start(self, strongest: int) -> dict:
        started = []
        try:
            for _ in range(self.workers):  # all at once; then wait for each
                started.append(Worker(strongest, self._packages))
            for worker in started:
                worker.wait_ready()
        except BaseException as error:  # Ctrl-C too: no server is left behind
            for worker in started:
                worker.close()
            if isinstance(error, ServerGone):
                raise RuntimeError(f"no sandbox could be started here: {error}") from None
            raise
        self._keepers = [Keeper(self._jobs, worker, self._packages) for worker in started]
        self._close = weakref.finalize(self, _close, self._keepers, self._jobs, self._owner)
        return started[0].hello

    def call(
        self,
        files: Mapping[str, str],
        entry_file: str,
        entry_point: str,
        inputs: Sequence[tuple],
        limits: Limits = Limits(),
    ) -> CallResult:
        """What `entry_point` of `entry_file` returns for each tuple of arguments, in one fork.

        Raises ValueError for inputs that are not plain data, paths that leave the workspace, or
        limits that cannot work. A program that fails is a status of the result, never an error.
        """
        request = {
            "mode": "call",
            "entry_file": entry_file,
            "entry_point": entry_point,
            "inputs": [encoding.encode(tuple(args)) for args in inputs],
        }
        check_path(entry_file)
        if too_large := too_large_message(files):
            missing = (CaseResult("missing", error=too_large),) * len(inputs)
            return CallResult("compile_error", missing, too_large)
        response, reused = self._execute(request, files, limits)
        return replace(call_result(response, len(inputs), limits), reused=reused)

    def run_tests(
        self, files: Mapping[str, str], tests_file: str, limits: Limits = Limits()
    ) -> TestsResult:
        """What the asserts of `tests_file` say, run next to the program: forgeable on purpose.

        Every top-level statement that is not an import or a docstring is a test, named "test:1",
        "test:2", ...; it passes if it does not raise. Raises ValueError as `call` does.
        """
        check_path(tests_file)
        if too_large := too_large_message(files):
            return TestsResult("compile_error", (), too_large)
        request = {"mode": "tests", "tests_file": tests_file}
        response, reused = self._execute(request, files, limits)
        return replace(tests_result(response, limits), reused=reused)

    def run_pytest(
        self,
        files: Mapping[str, str],
        node_ids: Sequence[str] | None = None,
        limits: Limits = Limits(cpu_s=10.0, wall_s=60.0),
    ) -> TestsResult:
        """What pytest says about a workspace: an outcome for each of `node_ids`; **forgeable**.

        The first call starts servers of their own that have pytest loaded.

        Args:
            files: path -> text; pytest runs in their folder and reads their configuration.
            node_ids: ids such as "tests/test_a.py::test_b[1]"; nothing else is run, and one that
                does not report is "missing". None = every test that pytest finds.
        Raises:
            ValueError: as `call` does. RuntimeError: pytest is not installed here.
        """
        pytest_suites.check_workspace(files)
        if too_large := too_large_message(files):
            missing = tuple((name, "missing", too_large) for name in node_ids or ())
            return TestsResult("compile_error", missing, too_large)
        names = None if node_ids is None else list(node_ids)
        request = {"mode": "pytest", "node_ids": names}
        response, reused = self._with_pytest()._execute(request, files, limits)
        return replace(pytest_suites.suite_result(response, names, limits), reused=reused)

    def _with_pytest(self) -> LocalSandbox:
        with self._lock:
            if self._close.alive and self._suites is None:
                self._suites = LocalSandbox(
                    workers=self.workers, reuse=self._reuse, strongest=self.tier,
                    packages=pytest_suites.packages(),
                )  # fmt: skip
            return self._suites or self  # a closed sandbox says so itself

    @property
    def stats(self) -> SandboxStats:
        """What has been executed so far (a snapshot)."""
        with self._lock:
            own, suites = self._stats, self._suites
        return own + suites.stats if suites is not None else own

    def guarantees(self) -> Guarantees:
        """A table of what holds here, found by a program that tries to break it from inside."""
        return check(self)

    def close(self) -> None:
        """End every server and what it runs. A call that is under way raises RuntimeError."""
        self._close()
        with self._lock:  # whoever is starting them now has finished then
            suites = self._suites
        if suites is not None:
            suites.close()

    def __enter__(self) -> LocalSandbox:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "open" if self._close.alive else "closed"
        return f"<LocalSandbox {self.name}, {self.workers} workers, {state}: {self.stats}>"

    def _execute(self, request, files, limits) -> tuple[Response, bool]:
        check_files(files)
        check_limits(limits)
        body = json.dumps(request | {"files": dict(files)}, sort_keys=True).encode()
        key = hashlib.sha256(body + repr(limits).encode()).digest()
        future, reused = self._find_or_submit(key, body, limits)
        response = future.result()
        if reused:
            with self._lock:
                self._stats = replace(self._stats, reused=self._stats.reused + 1)
        return response, reused

    def _find_or_submit(self, key, body, limits) -> tuple[Future, bool]:
        if os.getpid() != self._owner:
            raise RuntimeError(
                f"this sandbox belongs to process {self._owner}, this is {os.getpid()}: "
                "open one sandbox in each process"
            )
        with self._lock:
            if not self._close.alive:
                raise RuntimeError("this sandbox is closed; open another with open_sandbox()")
            if self._reuse and key in self._known:
                self._known.move_to_end(key)
                return self._known[key], True
            future: Future = Future()
            if self._reuse:
                self._known[key] = future
                if len(self._known) > MAX_REMEMBERED:
                    self._known.popitem(last=False)
            future.add_done_callback(lambda done: self._count(key, done))
            self._jobs.put((body, limits, future))
        if not self._close.alive:  # closed in between: nobody may be left to take the job
            _refuse(future)
        return future, False

    def _count(self, key, future) -> None:
        response = None if future.exception() else future.result()
        fault = response is None or response.ended == wire.FAULT
        deadline = not fault and response.ended == wire.WALL_LIMIT
        with self._lock:
            if fault or deadline:  # says something about the machine, not about the program
                self._known.pop(key, None)
            if response is None:  # the sandbox was closed
                return
            old = self._stats
            self._stats = replace(
                old,
                executions=old.executions + 1,
                cpu_s=old.cpu_s + response.cpu_s,
                wall_s=old.wall_s + response.wall_s,
                faults=old.faults + fault,
                deadlines=old.deadlines + deadline,
                restarts=old.restarts + response.restarts,
            )


def _close(keepers, jobs, owner) -> None:
    if os.getpid() != owner:  # a copy of the trainer, made by fork, has no say here
        return
    for keeper in keepers:
        keeper.announce_close()
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
