"""From a program to a Verdict: cases judged here, outside the program's own process.

Stage: grading. A task and a workspace go in; the sandbox runs the program on the cases' inputs
(mode "call": the expected values never leave this process) and each answer is compared. The
suite `visible_as_left` is different: it runs the tests file as the agent left it, next to the
program, and is forgeable; it is kept apart by name. Whole repositories have verdicts of their own
kind (`repositories`, mode "shared"). Left out: assert-style test code judged outside the process
(mode "split") and programs that read standard input. Tasks that need one of the two get the
verdict "unscorable", never a reward. Coverage is left out too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from workbench.grading.compare import matches
from workbench.grading.evidence import collect_evidence
from workbench.grading.repositories import (
    grade_repository,
    judge_repository,
    repository_as_left,
)
from workbench.records import Case, Evidence, Suite, Task, TestOutcome, Verdict
from workbench.sandbox import CallResult, CaseResult, LocalSandbox, TestsResult

GRADER = "2"
"""Version of the rules below; stored in every verdict, raised when a rule changes."""
_SHOWN_CHARS = 80
_NO_SPLIT = 'needs tests run in a second process (mode "split"), not available yet'
_NO_PROGRAMS = "needs a stdin/stdout program to be run, not available yet"


def grade(task: Task, solution: str | Mapping[str, str], sandbox: LocalSandbox) -> Verdict:
    """The verdict on a solution: suites `visible_pristine` and `hidden`, in one execution.

    Args:
        solution: the whole text of the task's entry file, or {path: text} laid over its files; for
            a repository a unified diff in place of the text.
    Returns:
        The status is "unscorable" for a task with `test_code` (the outcomes of its cases are
        kept) and for a program, which is not run; an outcome of the suite says so.
    Raises:
        ValueError: if a case's arguments are not plain data, or a path leaves the workspace.
    """
    if task.is_repository:
        return grade_repository(task, solution, sandbox, GRADER)
    changes = {task.entry_file: solution} if isinstance(solution, str) else solution
    return _judge(task, {**task.files, **changes}, sandbox)[0]


def grade_many(
    task_solutions: Iterable[tuple[Task, str | Mapping[str, str]]],
    sandbox: LocalSandbox,
    progress: bool = False,
) -> list[Verdict]:
    """`grade` for many pairs, as many at a time as the sandbox has workers; in the given order."""
    pairs = list(task_solutions)
    with ThreadPoolExecutor(sandbox.workers, "grading") as pool:
        verdicts = pool.map(lambda pair: grade(*pair, sandbox), pairs)
        if progress:
            from tqdm.auto import tqdm  # here, so that a quiet caller does not load it

            verdicts = tqdm(verdicts, total=len(pairs), desc="grading", unit="solution")
        return list(verdicts)


def outcomes_as_left(
    task: Task, files: Mapping[str, str], sandbox: LocalSandbox
) -> tuple[TestOutcome, ...]:
    """What the tests file says as it lies in `files`: suite `visible_as_left`, forgeable.

    One outcome per visible case of the task, "visible:1", ..., of a repository one per visible
    test that is required; a test that is no longer there is "missing", and tests the agent added
    are not counted. Empty if the task has no tests file.
    """
    if task.is_repository:
        return repository_as_left(task, files, sandbox)[0]
    return _outcomes_as_left(task, _run_as_left(task, files, sandbox))


def final_verdict(task: Task, files: Mapping[str, str], sandbox: LocalSandbox) -> Verdict:
    """The verdict on the workspace an episode ended with: all three suites.

    files: the whole workspace; nothing of the task's own files is added.
    """
    return final_judgement(task, files, sandbox)[0]


def final_judgement(
    task: Task, files: Mapping[str, str], sandbox: LocalSandbox
) -> tuple[Verdict, Evidence]:
    """`final_verdict`, and the evidence of the collectors that always run."""
    verdict, cpu_s = _judge(task, files, sandbox)
    if task.is_repository:
        outcomes, faulty = repository_as_left(task, files, sandbox)
        status = "sandbox_error" if faulty else verdict.status
        verdict = replace(verdict, outcomes=outcomes + verdict.outcomes, status=status)
    elif task.tests_file is not None:
        as_left = _run_as_left(task, files, sandbox)
        outcomes = _outcomes_as_left(task, as_left) + verdict.outcomes
        faulty = as_left is not None and as_left.status == "sandbox_error"
        verdict = replace(
            verdict, outcomes=outcomes, status="sandbox_error" if faulty else verdict.status
        )
    return verdict, collect_evidence(task, files, cpu_s=cpu_s)


def _judge(task, files, sandbox) -> tuple[Verdict, float | None]:
    if task.is_repository:
        return judge_repository(task, files, sandbox, GRADER)
    if not task.entry_point:
        return Verdict("call", "unscorable", _not_run(task), sandbox.name, GRADER), None
    cases = task.visible + task.hidden
    inputs = [case.args for case in cases]
    program = {path: text for path, text in files.items() if path != task.tests_file}
    result = sandbox.call(program, task.entry_file, task.entry_point, inputs, task.limits)
    outcomes = _suite("visible_pristine", "visible", task, task.visible, result, 0)
    outcomes += _suite("hidden", "hidden", task, task.hidden, result, len(task.visible))
    status = result.status
    if task.test_code:
        outcomes += (TestOutcome("hidden:test_code", "hidden", "skipped", _NO_SPLIT),)
        status = "sandbox_error" if status == "sandbox_error" else "unscorable"
    return Verdict("call", status, outcomes, sandbox.name, GRADER), result.cpu_s


def _not_run(task: Task) -> tuple[TestOutcome, ...]:
    suites = (("visible_pristine", "visible", task.visible), ("hidden", "hidden", task.hidden))
    return tuple(
        TestOutcome(f"{name}:{number}", suite, "skipped", _NO_PROGRAMS)
        for suite, name, cases in suites
        for number in range(1, len(cases) + 1)
    )


def _suite(
    suite: Suite, name: str, task: Task, cases: Sequence[Case], result: CallResult, start: int
) -> tuple[TestOutcome, ...]:
    answers = result.results[start : start + len(cases)]
    return tuple(
        TestOutcome(f"{name}:{number}", suite, *_compare(task, case, answer, result))
        for number, (case, answer) in enumerate(zip(cases, answers, strict=True), start=1)
    )


def _compare(task: Task, case: Case, answer: CaseResult, result: CallResult) -> tuple[str, str]:
    if answer.status == "missing":
        return "missing", result.message or answer.error
    if answer.status != "value":
        return answer.status, answer.error
    if matches(answer.value, case):
        return "passed", ""
    call = f"{task.entry_point}({', '.join(map(_shown, case.args))})"
    return "wrong", f"{_cut(call)} got {_shown(answer.value)} want {_wanted(case)}"


def _wanted(case: Case) -> str:
    near = f" within {case.tolerance:g}" if case.comparison == "close" else ""
    return _shown(case.expected) + near


def _shown(value: Any) -> str:
    try:
        return _cut(repr(value))
    except ValueError:  # Python writes no integer of more than 4300 digits, also inside a list
        return f"{type(value).__name__} with a number too long to show"


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARS else text[: _SHOWN_CHARS - 3] + "..."


def _run_as_left(task, files, sandbox) -> TestsResult | None:
    if task.tests_file is None or task.tests_file not in files:
        return None
    return sandbox.run_tests(files, task.tests_file, task.limits)


def _outcomes_as_left(task: Task, result: TestsResult | None) -> tuple[TestOutcome, ...]:
    if task.tests_file is None:
        return ()
    said = {name: (status, message) for name, status, message in result.outcomes} if result else {}
    why = (result.message if result else f"{task.tests_file} is gone") or "no such test"
    outcomes = []
    for number in range(1, len(task.visible) + 1):
        status, message = said.get(f"test:{number}", ("missing", why))
        outcomes.append(TestOutcome(f"visible:{number}", "visible_as_left", status, message))
    return tuple(outcomes)
