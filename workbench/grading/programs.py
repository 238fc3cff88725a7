"""Programs: each case's text in, what the program prints and its exit code compared here.

Stage: grading. A task whose `entry_point` is "" and a workspace go in; outcomes come out. Every
case is an execution of its own, and only what the program reads enters it. Once one runs out of
time the rest is not run, so that an endless loop costs one limit and not as many as there are
cases. Left out: judges that a program talks to, and checkers where several outputs are right.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from workbench.grading.compare import close_output, same_output
from workbench.grading.showing import cut, shown, wanted
from workbench.records import Case, Limits, Suite, Task, TestOutcome, TestStatus, VerdictStatus
from workbench.sandbox import LocalSandbox, ProgramResult
from workbench.tasks.expected import expected_of

_FINAL = ("compile_error", "timeout", "sandbox_error", "unscorable")
"""After a result with one of these no further case is run."""
_BROKEN: dict[str, TestStatus] = {"crash": "error", "memory": "memory", "timeout": "timeout"}
"""Status of a case whose execution ended badly; after any other bad end it is "missing"."""


def judge_program(
    task: Task, files: Mapping[str, str], sandbox: LocalSandbox
) -> tuple[VerdictStatus, tuple[TestOutcome, ...], float]:
    """(how the executions ended: the first bad end, a fault of ours before all; outcomes of all
    cases; CPU seconds)."""
    outcomes: list[TestOutcome] = []
    status: VerdictStatus = "ok"
    stopped, cpu_s = None, 0.0
    for name, suite, case in _cases(task):
        if stopped is not None:
            outcomes.append(TestOutcome(name, suite, *_not_run(stopped)))
            continue
        limits = _with_room_for_output(task.limits, case)
        stdin = case.args[0]
        result = sandbox.run_program(files, task.entry_file, stdin, limits, task.language)
        cpu_s += result.cpu_s
        outcomes.append(TestOutcome(name, suite, *_judge(case, result, limits)))
        if status == "ok" or result.status in ("sandbox_error", "unscorable"):
            status = result.status
        stopped = result if result.status in _FINAL else None
    return status, tuple(outcomes), cpu_s


def _cases(task: Task) -> list[tuple[str, Suite, Case]]:
    suites = (("visible_pristine", "visible", task.visible), ("hidden", "hidden", task.hidden))
    return [
        (f"{name}:{number}", suite, case)
        for suite, name, cases in suites
        for number, case in enumerate(cases, start=1)
    ]


def _with_room_for_output(limits: Limits, case: Case) -> Limits:
    """The limits, with room for the expected output and as much again."""
    expected_kb = len((expected_of(case)[0] or "").encode("utf-8", "surrogatepass")) >> 10
    return replace(limits, output_kb=limits.output_kb + 2 * expected_kb)


def _judge(case: Case, result: ProgramResult, limits: Limits) -> tuple[TestStatus, str]:
    if result.status in _BROKEN:
        return _BROKEN[result.status], result.message or "the program was ended"
    if result.status != "ok":
        return _not_run(result)
    stdout, exit_code = expected_of(case)
    if result.exit_code != exit_code:
        return _wrong_exit_code(result, exit_code)
    if stdout is None:
        return "passed", ""
    read = f"reading {shown(case.args[0])}"
    if result.stdout_cut:
        return "wrong", f"{read} it printed more than {limits.output_kb} KiB"
    same = same_output(result.stdout, stdout)
    if case.comparison == "close":
        same = close_output(result.stdout, stdout, case.tolerance)
    if same:
        return "passed", ""
    want = wanted(replace(case, expected=stdout))
    return "wrong", f"{read} it printed {shown(result.stdout)} want {want}"


def _wrong_exit_code(result: ProgramResult, exit_code: int) -> tuple[TestStatus, str]:
    """An exit code nobody asked for is an error, as judges see it; another than the one that was
    asked for is a wrong answer."""
    last = result.stderr.rstrip().rpartition("\n")[2]
    said = f": {cut(last)}" if last else ""
    if exit_code == 0:
        return "error", f"exit code {result.exit_code}{said}"
    return "wrong", f"exit code got {result.exit_code} want {exit_code}{said}"


def _not_run(result: ProgramResult) -> tuple[TestStatus, str]:
    """Of a case that was not run because an earlier one, or its own start, ended like this."""
    return "skipped" if result.status == "unscorable" else "missing", result.message
