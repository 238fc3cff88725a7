"""What can be asked of a sandbox, wherever it runs programs: one method a mode.

Stage: sandbox. Programs and inputs go in, plain data comes out; safe to call from any thread, a
notebook, or a running event loop (it blocks). Left out: where the servers run, which each kind of
sandbox says (`local`, `docker`); several hosts.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from workbench import encoding
from workbench.records import Limits
from workbench.sandbox.checking import check_path, check_stdin, unfit
from workbench.sandbox.guarantees import Guarantees, check
from workbench.sandbox.languages import find
from workbench.sandbox.pool import Pool
from workbench.sandbox.programs import Toolboxes, Unavailable, run_program
from workbench.sandbox.pytest_suites import Suites, suite_result
from workbench.sandbox.responses import printed
from workbench.sandbox.results import (
    CallResult,
    CaseResult,
    ProgramResult,
    SandboxStats,
    TestsResult,
    call_result,
    tests_result,
)
from workbench.sandbox.split_results import split_result


class Sandbox:
    """Runs untrusted programs in confined forks of warm servers; see `guarantees()`."""

    kind = ""
    """Where the servers run: the first half of the name."""

    def __init__(self, pool: Pool, toolboxes: Toolboxes, suites: Suites):
        """pool: for Python; toolboxes: for the other languages; suites: for pytest. All are closed
        with this."""
        self._pool, self._toolboxes, self._suites = pool, toolboxes, suites
        self.workers = pool.workers
        self.tier: int = pool.tier
        self.name = f"{self.kind}:{self.tier}"
        self.layers: tuple[str, ...] = pool.layers
        self.declined: tuple[tuple[int, str], ...] = pool.declined

    def call(
        self,
        files: Mapping[str, str],
        entry_file: str,
        entry_point: str,
        inputs: Sequence[tuple],
        limits: Limits = Limits(),
    ) -> CallResult:
        """What `entry_point` of `entry_file` returns for each tuple of arguments, in one fork.

        Raises ValueError for inputs that are not plain data, an entry file outside the workspace,
        or limits that cannot work. A program that fails is a status of the result, never an error;
        files that cannot be (see `checking.unfit`) are a compile error.
        """
        request = {
            "mode": "call",
            "entry_file": entry_file,
            "entry_point": entry_point,
            "inputs": [encoding.encode(tuple(args)) for args in inputs],
        }
        check_path(entry_file)
        if reason := unfit(files):
            missing = (CaseResult("missing", error=reason),) * len(inputs)
            return CallResult("compile_error", missing, reason)
        response, reused = self._pool.execute(request, files, limits)
        result = call_result(response, len(inputs), limits)
        return replace(result, reused=reused, **printed(response))

    def run_tests(
        self, files: Mapping[str, str], tests_file: str, limits: Limits = Limits()
    ) -> TestsResult:
        """What the asserts of `tests_file` say, run next to the program: forgeable on purpose.

        Every top-level statement that is not an import or a docstring is a test, named "test:1",
        "test:2", ...; it passes if it does not raise. Raises ValueError as `call` does.
        """
        check_path(tests_file)
        if reason := unfit(files):
            return TestsResult("compile_error", (), reason)
        request = {"mode": "tests", "tests_file": tests_file}
        response, reused = self._pool.execute(request, files, limits)
        result = tests_result(response, limits)
        return replace(result, reused=reused, **printed(response))

    def run_split(
        self,
        files: Mapping[str, str],
        entry_file: str,
        entry_point: str,
        test_code: str,
        limits: Limits = Limits(),
    ) -> TestsResult:
        """What assert-style test code says in a process of its own, which never holds the program.

        Args:
            test_code: asserts at its top level, or functions `check(candidate)` and `test_...`,
                which are called if the text does not call them. There `candidate`, `entry_point`
                and every other name that is read but not defined, also `import`s from the entry
                file, send their arguments to the program and get plain data or an exception back.
            limits: for each of the two processes.
        Returns:
            One outcome for each assert or block of asserts, named "test:1", ... Its status is
            "unscorable" if the tests need what cannot be had here: a callback or another argument
            that is no plain data (outcome "skipped"), a package, a class of the program.
        Raises:
            ValueError: as `call` does.

        >>> from workbench.sandbox import open_sandbox
        >>> with open_sandbox(workers=1) as box:
        ...     said = box.run_split({"a.py": "def f(x): return x"}, "a.py", "f", "assert f(2)==3")
        >>> said.outcomes
        (('test:1', 'wrong', 'f(2) got 2 want 3'),)
        """
        check_path(entry_file)
        if reason := unfit(files):
            return TestsResult("compile_error", (("test:1", "missing", reason),), reason)
        names = {"entry_file": entry_file, "entry_point": entry_point}
        tests = {"test_code": test_code, **names}
        response, reused = self._pool.execute({"mode": "split", **names}, files, limits, tests)
        result = split_result(response, limits)
        return replace(result, reused=reused, **printed(response))

    def run_program(
        self,
        files: Mapping[str, str],
        entry_file: str,
        stdin: str,
        limits: Limits = Limits(),
        language: str = "python",
    ) -> ProgramResult:
        """What the program `entry_file` prints when it reads `stdin`, and its exit code.

        A Python program runs as `__main__` in a fork of a warm server; one of another language of
        `languages.LANGUAGES` is compiled, if need be, once for all texts, and started. Raises
        ValueError as `call` does, and for a language that is not in the table. What is missing on
        this machine is status "unscorable" and said in the message.

        >>> from workbench.sandbox import open_sandbox
        >>> with open_sandbox(workers=1) as box:
        ...     said = box.run_program({"a.py": "print(int(input()) + 1)"}, "a.py", "41")
        >>> said.status, said.exit_code, said.stdout
        ('ok', 0, '42\\n')
        """
        row = find(language)
        check_path(entry_file)
        check_stdin(stdin)
        if reason := unfit(files):
            return ProgramResult("compile_error", message=reason)
        self._check_open()
        return run_program(self._pool, self._toolboxes, files, entry_file, stdin, limits, row)

    def run_pytest(
        self,
        files: Mapping[str, str],
        node_ids: Sequence[str] | None = None,
        limits: Limits = Limits(cpu_s=10.0, wall_s=60.0),
        fixed: Collection[str] = (),
    ) -> TestsResult:
        """What pytest says about a workspace: an outcome for each of `node_ids`; **forgeable**.

        The first call starts servers of their own that have pytest loaded. What pytest prints is
        the result's `stdout`.

        Args:
            files: path -> text; pytest runs in their folder and reads their configuration.
            node_ids: ids such as "tests/test_a.py::test_b[1]"; nothing else is run, and one that
                does not report is "missing". None = every test that pytest finds.
            fixed: which of the files the program must not change: they are read as they were
                sent, and no test passes once one of them was written to (`sent_files`).
        Raises:
            ValueError: as `call` does; a fixed path that is no file. RuntimeError: pytest is not
                installed or cannot run here.
        """
        if strange := sorted(set(fixed) - set(files)):
            raise ValueError(f"fixed: expected paths of files, got {strange}")
        if reason := unfit(files):
            missing = tuple((name, "missing", reason) for name in node_ids or ())
            return TestsResult("compile_error", missing, reason)
        self._check_open()
        names = None if node_ids is None else list(node_ids)
        try:
            pool = self._suites.get()
        except Unavailable as error:
            missing = tuple((name, "skipped", str(error)) for name in names or ())
            return TestsResult("unscorable", missing, str(error))
        request = {"mode": "pytest", "node_ids": names, "fixed": sorted(fixed)}
        response, reused = pool.execute(request, files, limits)
        result = suite_result(response, names, limits)
        return replace(result, reused=reused, **printed(response))

    @property
    def stats(self) -> SandboxStats:
        """What has been executed so far (a snapshot), compiling included."""
        others = (*self._toolboxes.opened, *self._suites.opened)
        return sum((pool.stats for pool in others), self._pool.stats)

    def guarantees(self) -> Guarantees:
        """A table of what holds here, found by a program that tries to break it from inside."""
        return check(self)

    def close(self) -> None:
        """End every server and what it runs. A call that is under way raises RuntimeError."""
        self._pool.close()
        self._toolboxes.close()
        self._suites.close()

    def _check_open(self) -> None:
        if not self._pool.is_open:
            raise RuntimeError("this sandbox is closed; open another with open_sandbox()")

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "open" if self._pool.is_open else "closed"
        return f"<{type(self).__name__} {self.name}, {self.workers} workers, {state}: {self.stats}>"
