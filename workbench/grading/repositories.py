"""Verdicts on repositories: the agent's code, pristine tests, pytest in the sandbox.

Stage: grading. A repository task and the workspace an episode ended with go in. Tests and what
configures their runner are put back as they were, the hidden tests are copied in, and every
required test must report that it passed (mode "shared"). Tests and code share one interpreter:
what files can do to the verdict is closed, what running code can do is not (docs/repositories.md
names it). Left out: several runs to find flaky tests, languages other than Python.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.records import Suite, Task, TestOutcome, VerdictStatus
from workbench.sandbox import Sandbox, TestsResult
from workbench.workspaces import PatchError, apply_patch, pristine_files, with_pristine_tests


def changed_files(task: Task, solution: str | Mapping[str, str]) -> Mapping[str, str]:
    """The whole workspace after a solution: a unified diff, or {path: text} laid over the files.

    Raises PatchError if the diff does not fit.
    """
    if isinstance(solution, str):
        return apply_patch(task.files, solution)
    return {**task.files, **solution}


def does_not_apply(task: Task, error: PatchError) -> tuple[VerdictStatus, tuple[TestOutcome, ...]]:
    """Status and outcomes of a diff that does not fit."""
    result = TestsResult("compile_error", (), f"the patch does not apply: {error}")
    return result.status, _graded(task, result)


def judge_repository(
    task: Task, files: Mapping[str, str], sandbox: Sandbox
) -> tuple[VerdictStatus, tuple[TestOutcome, ...], float]:
    """(how the run ended; outcomes; CPU seconds) of a whole workspace: suites `hidden` (every
    required test) and `visible_pristine` (those of them that the agent could see), one run."""
    graded = with_pristine_tests(files, task.files, task.hidden_tests)
    fixed = pristine_files(task.files, task.hidden_tests)
    result = sandbox.run_pytest(graded, task.required, task.limits, fixed)
    return result.status, _graded(task, result), result.cpu_s


def repository_as_left(
    task: Task, files: Mapping[str, str], sandbox: Sandbox
) -> tuple[tuple[TestOutcome, ...], bool]:
    """What the visible tests say as they lie in `files`, suite `visible_as_left`; and whether the
    sandbox failed. Here the agent's conftest.py and pytest.ini count: forgeable on purpose."""
    result = sandbox.run_pytest(files, visible_ids(task), task.limits)
    outcomes = _outcomes("visible_as_left", visible_ids(task), result)
    return outcomes, result.status == "sandbox_error"


def visible_ids(task: Task) -> tuple[str, ...]:
    """The required tests that lie in the workspace, where the agent can read and run them."""
    return tuple(
        name
        for name in task.required
        if (path := name.split("::")[0]) in task.files and path not in task.hidden_tests
    )


def _graded(task: Task, result: TestsResult) -> tuple[TestOutcome, ...]:
    outcomes = _outcomes("visible_pristine", visible_ids(task), result)
    return outcomes + _outcomes("hidden", task.required, result)


def _outcomes(suite: Suite, names: Sequence[str], result: TestsResult) -> tuple[TestOutcome, ...]:
    said = {name: (status, message) for name, status, message in result.outcomes}
    missing = "missing", result.message or "no such test"
    return tuple(TestOutcome(name, suite, *said.get(name, missing)) for name in names)
