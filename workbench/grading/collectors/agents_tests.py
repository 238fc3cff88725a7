"""Collector "agent_on_base": would the tests that the agent wrote have found the fault?

Stage: grading, after it. The agent's own tests, those that it added or changed, run against the
task's files as they were, where they should fail, and against the reference, where they should
pass. That gives the suite "agent_on_base", one outcome a test:

    "passed"   passes on the task's files: it does not see the fault
    "skipped"  fails on the reference as well: it tests for something else, or for nothing
    otherwise  fails on the task's files and passes on the reference: a test worth having;
               "wrong" = an assertion failed, "error" = the test could not get that far
    "missing"  the one outcome of an attempt that left no test of its own

Tests run beside the code they test, so a program could forge this; here it is the task's own code.
Source: the reverse-classical grader of FrontierCode (Cognition 2026). Left out: tests that an agent
deleted or hid in files that configure the runner.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping

from workbench.grading.collectors.faults import undisturbed
from workbench.grading.images import is_in_image
from workbench.records import Task, TestOutcome
from workbench.sandbox import Sandbox, TestsResult
from workbench.workspaces import is_runner_file, is_test_file

SUITE = "agent_on_base"
_NONE = (TestOutcome("agent:none", SUITE, "missing", "the agent left no test of its own"),)
_Said = dict[str, tuple[str, str]]
"""Name -> status and message."""


def check_task(task: Task) -> None:
    """Raises ValueError for a task in whose workspace nobody can write tests."""
    if task.tests_file is None and not task.is_repository:
        raise ValueError(
            f"task {task.task_id}: its workspace has no tests to change or add to; leave out the "
            f'collector "{SUITE}" or this task'
        )
    if is_in_image(task):
        raise ValueError(
            f"task {task.task_id}: its tests run in an image of its own only; leave out the "
            f'collector "{SUITE}" or this task'
        )
    if not task.reference:
        raise ValueError(
            f"task {task.task_id}: without a reference nobody knows whether a test is right; leave "
            f'out the collector "{SUITE}" or this task'
        )


def on_base(task: Task, files: Mapping[str, str], sandbox: Sandbox) -> tuple[TestOutcome, ...]:
    """The outcomes of the suite: see the module's table."""
    left = _test_files(task, files)
    if not left:
        return _NONE
    base = _own(task, files, _run(task, {**task.files, **left}, sandbox))
    right = _own(task, files, _run(task, {**task.files, **task.reference, **left}, sandbox))
    outcomes = tuple(
        TestOutcome(f"agent:{name}", SUITE, *_judged(base.get(name), right.get(name)))
        for name in sorted(base.keys() | right.keys())
    )
    return outcomes or _NONE


def _judged(base: tuple[str, str] | None, right: tuple[str, str] | None) -> tuple[str, str]:
    if base is not None and base[0] == "passed":
        return "passed", "it does not see the fault"
    if right is None or right[0] != "passed":
        why = "" if right is None else f": {right[1]}"
        return "skipped", f"it fails on a right solution as well{why}"
    return base if base is not None else ("error", "it did not get to run on the task's files")


def _test_files(task: Task, files: Mapping[str, str]) -> dict[str, str]:
    """The test files that the agent changed or added, as it left them."""
    if not task.is_repository:
        changed = files.get(task.tests_file) not in (None, task.files.get(task.tests_file))
        return {task.tests_file: files[task.tests_file]} if changed else {}
    return {
        path: text
        for path, text in files.items()
        if is_test_file(path) and not is_runner_file(path) and text != task.files.get(path)
    }


def _run(task: Task, files: Mapping[str, str], sandbox: Sandbox) -> _Said:
    if task.is_repository:
        result = undisturbed(task, lambda: sandbox.run_pytest(files, None, task.limits))
    else:
        result = undisturbed(task, lambda: sandbox.run_tests(files, task.tests_file, task.limits))
    return _said(result)


def _said(result: TestsResult) -> _Said:
    return {name: (status, message) for name, status, message in result.outcomes}


def _own(task: Task, files: Mapping[str, str], said: _Said) -> _Said:
    """Of all outcomes those of the agent's own tests."""
    if task.is_repository:
        return {name: o for name, o in said.items() if _is_own_test(task, files, name)}
    own = _own_statements(files[task.tests_file], task.files[task.tests_file])
    return {name: o for name, o in said.items() if name in own}


def _own_statements(left: str, original: str) -> set[str]:
    """Names of the asserts that are not among the original's, as `Sandbox.run_tests` names them."""
    before = Counter(_code(statement, original) for statement in _statements(original))
    own = set()
    for number, statement in enumerate(_statements(left), 1):
        code = _code(statement, left)
        before[code] -= 1
        if before[code] < 0 and _asserts(statement):
            own.add(f"test:{number}")
    return own


def _statements(text: str) -> list[ast.stmt]:
    """Statements that count as tests: all but imports and docstrings."""
    return [
        s
        for s in _parsed(text).body
        if not isinstance(s, ast.Import | ast.ImportFrom)
        and not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))
    ]


def _asserts(statement: ast.stmt) -> bool:
    """Whether it can fail: definitions and assignments only prepare."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return False
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Call)
    return any(isinstance(node, ast.Assert | ast.Raise) for node in ast.walk(statement))


def _is_own_test(task: Task, files: Mapping[str, str], node_id: str) -> bool:
    """Whether the pytest test stands otherwise, or not at all, in the task's files."""
    path, *names = node_id.split("[")[0].split("::")
    if path not in files or files[path] == task.files.get(path):
        return False
    return _definition(files[path], names) != _definition(task.files.get(path, ""), names)


def _definition(text: str, names: list[str]) -> str:
    """The code of the function or method with these names, "" if there is none."""
    node: ast.AST = _parsed(text)
    for name in names:
        found = [n for n in ast.iter_child_nodes(node) if getattr(n, "name", None) == name]
        if not found:
            return ""
        node = found[-1]  # a later definition replaces an earlier one
    return _code(node, text)


def _code(node: ast.AST, text: str) -> str:
    """What a node of the tree of `text` says, whatever its layout; its text as it stands if it is
    nested deeper than Python can write down."""
    try:
        return ast.dump(node)
    except RecursionError:
        return ast.get_source_segment(text, node) or ""


def _parsed(text: str) -> ast.Module:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])
