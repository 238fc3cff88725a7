"""From a program to a Verdict: cases judged here, outside the program's own process.

Stage: grading. A task and a workspace go in; the sandbox runs the program on the cases' inputs
(mode "call": the expected values never leave this process) and each answer is compared; a program
that reads standard input is judged by `programs`, in the same mode and for the same reason. The
suite `visible_as_left` is different: it runs the tests file as the agent left it, next to the
program, and is forgeable; it is kept apart by name. A task with assert-style `test_code` is judged
in mode "split": the tests run in a second process that asks the program; attacks (`exploit_code`)
are judged in the same way, apart from the tests that decide. Whole repositories are judged by
pytest, next to the program (`repositories`, or in the project's own image `images`; mode "shared").
Left out: coverage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from workbench.grading.compare import matches
from workbench.grading.evidence import collect_evidence
from workbench.grading.given import tests_with_given
from workbench.grading.images import is_in_image, judge_in_image
from workbench.grading.programs import judge_program
from workbench.grading.repositories import (
    changed_files,
    does_not_apply,
    judge_repository,
    repository_as_left,
)
from workbench.grading.showing import cut, shown, wanted
from workbench.records import (
    UNSCORABLE,
    Case,
    Evidence,
    Suite,
    Task,
    TestOutcome,
    Verdict,
    VerdictMode,
    VerdictStatus,
)
from workbench.records.arguments import expect
from workbench.sandbox import CallResult, CaseResult, Sandbox
from workbench.tasks.swebench import solution_patch
from workbench.workspaces import PatchError

GRADER = "6"
"""Version of the rules below; stored in every verdict, raised when a rule changes."""
_Judgement = tuple[VerdictStatus, tuple[TestOutcome, ...], float]
"""How the executions ended, what each test said, CPU seconds."""


def grade(task: Task, solution: str | Mapping[str, str], sandbox: Sandbox) -> Verdict:
    """The verdict on a solution: suites `visible_pristine` and `hidden`, in one execution, or two
    if the task has cases and `test_code`; and `exploit`, in one more, if it has `exploit_code`.

    Args:
        solution: the whole text of the task's entry file, or {path: text} laid over its files; for
            a repository a unified diff in place of the text.
    Returns:
        The status is "unscorable" for a program in a language that cannot be run here, and for
        `test_code` that needs what its process cannot have (see `run_split`); an outcome says why.
        A solution whose files cannot be (a path outside the workspace, say) is a compile error.
    Raises:
        ValueError: if the task is none, the solution is neither text nor files, a case's arguments
            are not plain data, or there is `exploit_code` and no function to attack.
    """
    expect("task", task, Task, "one task", "grade_many takes several, each with its solution")
    kinds = str, Mapping
    expect("solution", solution, kinds, "a text or {path: text}", "see task.reference for one")
    if is_in_image(task) and isinstance(solution, str):
        return judge_in_image(task, solution, GRADER)
    try:
        files = _workspace(task, solution)
    except PatchError as error:
        return Verdict("shared", *does_not_apply(task, error), sandbox.name, GRADER)
    return judge(task, files, sandbox)[0]


def grade_many(
    task_solutions: Iterable[tuple[Task, str | Mapping[str, str]]],
    sandbox: Sandbox,
    progress: bool = False,
) -> list[Verdict]:
    """`grade` for many pairs, as many at a time as the sandbox has workers; in the given order.

    When it is interrupted it does not wait for the programs that are running, which end at their
    limits; verdicts that were there are known to the sandbox, and asking again takes no time.
    """
    pairs = list(task_solutions)
    pool = ThreadPoolExecutor(sandbox.workers, "grading")
    done: list[Verdict] = []
    try:
        verdicts = pool.map(lambda pair: grade(*pair, sandbox), pairs)
        if progress:
            from tqdm.auto import tqdm  # here, so that a quiet caller does not load it

            verdicts = tqdm(verdicts, total=len(pairs), desc="grading", unit="solution")
        for verdict in verdicts:
            done.append(verdict)
    except KeyboardInterrupt:
        text = f"grading was interrupted after {len(done)} of {len(pairs)} verdicts"
        raise KeyboardInterrupt(text) from None
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    return done


def outcomes_as_left(
    task: Task, files: Mapping[str, str], sandbox: Sandbox
) -> tuple[TestOutcome, ...]:
    """What the tests file says as it lies in `files`: suite `visible_as_left`, forgeable.

    One outcome per visible case of the task, "visible:1", ..., of a repository one per visible
    test that is required; a test that is no longer there is "missing", and tests the agent added
    are not counted. Empty if the task has no tests file.
    """
    return _as_left(task, files, sandbox)[0]


def final_verdict(task: Task, files: Mapping[str, str], sandbox: Sandbox) -> Verdict:
    """The verdict on the workspace an episode ended with: all three suites.

    files: the whole workspace; nothing of the task's own files is added.
    """
    return final_judgement(task, files, sandbox)[0]


def final_judgement(
    task: Task, files: Mapping[str, str], sandbox: Sandbox
) -> tuple[Verdict, Evidence]:
    """`final_verdict`, and the evidence of the collectors that always run."""
    verdict, cpu_s = judge(task, files, sandbox)
    as_left, faulty = _as_left(task, files, sandbox)
    status = "sandbox_error" if faulty else verdict.status
    verdict = replace(verdict, outcomes=as_left + verdict.outcomes, status=status)
    return verdict, collect_evidence(task, files, cpu_s=cpu_s)


def verdict_mode(task: Task) -> VerdictMode:
    """The mode of the task's verdicts."""
    return _way(task)[0]


def judge(task: Task, files: Mapping[str, str], sandbox: Sandbox) -> tuple[Verdict, float]:
    """`grade` for a whole workspace, and the CPU seconds it took, those of attacks left out; of
    what runs in an image of its own they are not known, and 0."""
    if is_in_image(task):
        return judge_in_image(task, solution_patch(task, files), GRADER), 0.0
    mode, judge_it = _way(task)
    program = {path: text for path, text in files.items() if path != task.tests_file}
    status, outcomes, cpu_s = judge_it(task, program, sandbox)
    if task.exploit_code:
        ended, attacks = _judge_exploits(task, program, sandbox)
        outcomes += attacks
        status = _worse(status, ended) if ended in UNSCORABLE else status
    return Verdict(mode, status, outcomes, sandbox.name, GRADER), cpu_s


def _workspace(task, solution) -> Mapping[str, str]:
    if task.is_repository:
        return changed_files(task, solution)
    changes = {task.entry_file: solution} if isinstance(solution, str) else solution
    return {**task.files, **changes}


def _way(task: Task) -> tuple[VerdictMode, Callable[..., _Judgement]]:
    """The mode of a task's verdicts, and what makes them."""
    if task.is_repository:
        return "shared", judge_repository
    if not task.entry_point:
        return "call", judge_program
    if task.test_code:
        return "split", _judge_test_code
    return "call", _judge_cases


def _judge_cases(task, program, sandbox) -> _Judgement:
    """Call the function on all cases."""
    cases = task.visible + task.hidden
    inputs = [case.args for case in cases]
    result = sandbox.call(program, task.entry_file, task.entry_point, inputs, task.limits)
    outcomes = _suite("visible_pristine", "visible", task, task.visible, result, 0)
    outcomes += _suite("hidden", "hidden", task, task.hidden, result, len(task.visible))
    return result.status, outcomes, result.cpu_s


def _judge_test_code(task, program, sandbox) -> _Judgement:
    """Run the tests apart from the function; before them the cases, if there are any."""
    status, outcomes, cpu_s = "ok", (), 0.0
    if task.visible or task.hidden:
        status, outcomes, cpu_s = _judge_cases(task, program, sandbox)
    said = sandbox.run_split(
        program, task.entry_file, task.entry_point, tests_with_given(task), task.limits
    )
    outcomes += tuple(
        TestOutcome(f"hidden:{name}", "hidden", how, why) for name, how, why in said.outcomes
    )
    return _worse(status, said.status), outcomes, cpu_s + said.cpu_s


def _judge_exploits(task, program, sandbox) -> tuple[VerdictStatus, tuple[TestOutcome, ...]]:
    """Run the attacks apart from the function, after the tests and whatever came of those."""
    if not task.entry_point:
        raise ValueError(
            f"task {task.task_id}: exploit_code attacks a function, but the task has no "
            "entry_point; leave it out for programs and repositories"
        )
    said = sandbox.run_split(
        program, task.entry_file, task.entry_point, task.exploit_code, task.limits
    )
    return said.status, tuple(
        TestOutcome(f"exploit:{name}", "exploit", how, why) for name, how, why in said.outcomes
    )


def _worse(status: VerdictStatus, other: VerdictStatus) -> VerdictStatus:
    """The status of two executions taken together: ours to blame, or the first that is not ok."""
    if "sandbox_error" in (status, other):
        return "sandbox_error"
    return other if status == "ok" else status


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
    call = f"{task.entry_point}({', '.join(map(shown, case.args))})"
    return "wrong", f"{cut(call)} got {shown(answer.value)} want {wanted(case)}"


def _as_left(task, files, sandbox) -> tuple[tuple[TestOutcome, ...], bool]:
    """The suite `visible_as_left`, and whether the sandbox failed at it."""
    if is_in_image(task):
        return (), False
    if task.is_repository:
        return repository_as_left(task, files, sandbox)
    if task.tests_file is None:
        return (), False
    if task.tests_file not in files:
        return _outcomes_as_left(task, (), f"{task.tests_file} is gone"), False
    result = sandbox.run_tests(files, task.tests_file, task.limits)
    outcomes = _outcomes_as_left(task, result.outcomes, result.message or "no such test")
    return outcomes, result.status == "sandbox_error"


def _outcomes_as_left(task, found, why_missing) -> tuple[TestOutcome, ...]:
    said = {name: (status, message) for name, status, message in found}
    missing = "missing", why_missing
    return tuple(
        TestOutcome(f"visible:{n}", "visible_as_left", *said.get(f"test:{n}", missing))
        for n in range(1, len(task.visible) + 1)
    )
