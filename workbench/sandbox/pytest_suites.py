"""pytest suites of whole workspaces, the trainer's end: what is asked, and what the lines mean.

Stage: sandbox. A workspace and the ids of the tests that matter go in; an outcome for every one
of them comes out. Strict where it can be: a test that did not report is "missing", pytest's exit
code must agree with what was reported, and a run that ends early confirms nothing. **Strictness
is not proof**: tests and code share one interpreter, so a program that goes for pytest itself can
forge all of this (mode "shared"). Left out: plugins of this machine, tests that start processes.
"""

from __future__ import annotations

import importlib.util
import json
import os
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from workbench.sandbox import wire
from workbench.sandbox.responses import Malformed, Response, how_it_ended, strings, text_of
from workbench.sandbox.results import TestsResult

if TYPE_CHECKING:
    from workbench.sandbox.pool import Pool

PACKAGES = "pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments", "py"
"""What a suite can import besides the standard library and its own workspace."""
STATUSES = ("passed", "wrong", "error", "skipped", "missing")
ALL_PASSED, SOME_FAILED, NOTHING_COLLECTED, USAGE_ERROR = 0, 1, 5, 4
"""pytest's exit codes."""


class Suites:
    """The pool whose servers have pytest loaded, opened at its first use."""

    def __init__(self, tier: int, open_pool: Callable[[dict], Pool]):
        """open_pool: starts servers that have the given setup."""
        self._tier, self._open_pool = tier, open_pool
        self._lock = threading.Lock()
        self._pool: Pool | None = None

    @property
    def opened(self) -> tuple[Pool, ...]:
        """The pool, if it has been used."""
        return () if self._pool is None else (self._pool,)

    def get(self) -> Pool:
        """The pool. Raises RuntimeError if pytest is not installed or does not run here."""
        with self._lock:
            if self._pool is None:
                self._pool = self._open()
            return self._pool

    def _open(self) -> Pool:
        pool = self._open_pool(setup())
        if pool.tier < self._tier:
            pool.close()
            reasons = "; ".join(reason for _, reason in pool.declined)
            raise RuntimeError(f"run_pytest: pytest does not run at tier {self._tier}: {reasons}")
        return pool

    def close(self) -> None:
        """End its servers."""
        with self._lock:  # whoever is starting them now has finished then
            for pool in self.opened:
                pool.close()


def setup() -> dict:
    """The setup of the servers that suites run in. Raises RuntimeError without pytest."""
    packages = {}
    for name in PACKAGES:
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None:
            raise RuntimeError(
                f"run_pytest: the package {name!r} is not installed in this environment; "
                "install pytest 8.3 or later"
            )
        places = spec.submodule_search_locations or [spec.origin]
        packages[name] = os.path.realpath(places[0])
    reads = list(packages.values())
    return {"reads": reads, "packages": packages, "programs": False, "harness": "pytest"}


def suite_result(response: Response, node_ids: Sequence[str] | None, limits) -> TestsResult:
    """The TestsResult for a server's response: one outcome for each of `node_ids`, in their order;
    None = every test that was seen, and every file that could not be collected."""
    if response.ended == wire.FAULT:
        message = text_of(response.payload)
        return TestsResult("sandbox_error", _all_missing(node_ids, message), message)
    try:
        said = _Said(response.payload)
    except Malformed as error:
        message = f"the result pipe was written to: {error}"
        return TestsResult("crash", _all_missing(node_ids, message), message, response.cpu_s)
    status, message = _status(said, response, limits)
    outcomes = said.outcomes if status == "ok" else said.failures()
    met = said.running is not None and (node_ids is None or said.running in node_ids)
    if met and status in ("timeout", "memory"):  # a test met the limit; those before it are sure
        outcomes = {**said.outcomes, said.running: (status, message)}
    if node_ids is None:  # what could not be collected is told, too
        broken = {name: ("error", why) for name, why in said.broken.items() if name}
        outcomes = {**broken, **outcomes}
    names = list(outcomes) if node_ids is None else node_ids
    found = tuple((n, *outcomes.get(n, ("missing", said.why_missing(n, message)))) for n in names)
    return TestsResult(status, found, message, response.cpu_s)


class _Said:
    """The lines of one run, read. Raises Malformed for what our side would not have written."""

    def __init__(self, payload: bytes):
        self.outcomes: dict[str, tuple[str, str]] = {}
        self.broken: dict[str, str] = {}
        self.exit_code: int | None = None
        self.running: str | None = None
        lines = payload.split(b"\n")
        unfinished = lines.pop()
        for line in lines:
            if self.exit_code is not None:
                raise Malformed("more lines after the last one")
            self._read(line[:1], line[1:])
        if unfinished and self.exit_code is not None:
            raise Malformed("more lines after the last one")

    def _read(self, kind: bytes, body: bytes) -> None:
        if kind == wire.START:
            (self.running,) = strings(body, 1)
        elif kind == wire.TEST:
            name, status, message = strings(body, 3)
            if status not in STATUSES or name != self.running or name in self.outcomes:
                raise Malformed(f"an outcome {status!r:.20} of {name!r:.80}, which was not running")
            self.outcomes[name] = status, message
            self.running = None
        elif kind == wire.NOT_LOADED:
            name, message = strings(body, 2)
            self.broken[name] = message
        elif kind == wire.END:
            self.exit_code = _exit_code(body)
        else:
            raise Malformed(f"a line starting with {kind!r}")

    def failures(self) -> dict[str, tuple[str, str]]:
        """Outcomes that stand although the run did not end as it should: those that failed."""
        return {name: out for name, out in self.outcomes.items() if out[0] != "passed"}

    def why_missing(self, name: str, message: str) -> str:
        """Why there is no outcome for a test."""
        return self.broken.get(name.split("::")[0]) or message or "no such test was collected"

    def expected_code(self) -> int:
        """The exit code that pytest gives a session with these outcomes."""
        statuses = {status for status, _ in self.outcomes.values()}
        if self.broken or statuses & {"wrong", "error", "missing"}:
            return SOME_FAILED
        return ALL_PASSED if self.outcomes else NOTHING_COLLECTED


def _exit_code(body: bytes) -> int:
    try:
        (code,) = json.loads(body)
    except (ValueError, TypeError, RecursionError):
        raise Malformed("an exit code that is no number") from None
    if type(code) is not int:
        raise Malformed("an exit code that is no number")
    return code


def _status(said: _Said, response: Response, limits) -> tuple[str, str]:
    """(status, message) of the run: "ok" if it ended as pytest does and said what it must."""
    if said.exit_code is None or response.ended != wire.EXITED:
        status, message = how_it_ended(response, limits)
        where = f", in {said.running}" if said.running else ""
        return status, message + where
    codes, code = {said.exit_code, response.exit_status}, response.exit_status
    if codes == {USAGE_ERROR} and not said.outcomes:
        return "compile_error", said.broken.get("") or "pytest could not start"
    if codes == {code} and code not in (ALL_PASSED, SOME_FAILED, NOTHING_COLLECTED):
        return "crash", f"pytest broke the session off with exit code {code}"
    if codes != {said.expected_code()}:
        return "crash", f"pytest's exit code {code} does not agree with what the tests reported"
    return "ok", ""


def _all_missing(node_ids: Sequence[str] | None, message: str):
    return tuple((name, "missing", message) for name in node_ids or ())
