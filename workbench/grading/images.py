"""Verdicts on repositories whose project lives in an image of its own, as SWE-bench rows do.

Stage: grading. A task and a patch go in. In a container of the image the patch is applied, tests
and what configures their runner are put back, the row's `test_patch` comes on top, and what
pytest's summary says of the required tests becomes outcomes (mode "shared", as for every
repository). An image or an engine that is not there is "unscorable" and says what to do, never a
failed test.
Left out: projects with a runner of their own (Django, SymPy), unless the row names a command
(`test_cmd`) that prints pytest's summary; guarding a plugin that the project's configuration names.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence

from workbench.records import Task, TestOutcome, TestStatus, Verdict, VerdictStatus
from workbench.sandbox.docker.checkout import FilesDoNotFit, ImageRun, checkout
from workbench.workspaces import PatchError, apply_patch, changed_paths, with_pristine_tests

FOLDER = "/testbed"
"""Where the published images have the repository."""
PYTEST = "pytest -rA --color=no -p no:cacheprovider"
OWN_RUNNERS = frozenset({"django/django", "sympy/sympy"})
"""Repositories whose tests are not run by pytest."""
ACTIVATE = (
    "if [ -f /opt/miniconda3/bin/activate ]; then . /opt/miniconda3/bin/activate testbed; fi\n"
)
"""What makes the Python of a published image the one that is meant."""
_BEGIN, _END = "workbench: tests begin", "workbench: tests end"
_LINE = re.compile(r"(PASSED|FAILED|ERROR|XFAIL|XPASS|SKIPPED) (.+)")
_SAYS: Mapping[str, TestStatus] = {
    "PASSED": "passed", "XFAIL": "passed", "FAILED": "wrong", "XPASS": "wrong", "ERROR": "error",
    "SKIPPED": "skipped",
}  # fmt: skip
_WORST: Sequence[TestStatus] = ("error", "wrong", "skipped", "passed")


def is_in_image(task: Task) -> bool:
    """Whether the task's tests need an image of its own."""
    return task.is_repository and "image" in task.extra


def judge_in_image(task: Task, patch: str, grader: str) -> Verdict:
    """The verdict on a patch: every required test, suite `hidden`. The empty patch changes nothing.

    A test that is not reported is "missing". XFAIL passes, and a test of `pass_to_pass` that was
    skipped counts as kept, as in SWE-bench's own rule.
    """
    image = str(task.extra["image"])
    where = f"image:{image}"
    if task.extra.get("repo") in OWN_RUNNERS and "test_cmd" not in task.extra:
        why = f"{task.extra['repo']} has a test runner of its own; give the row a `test_cmd` whose "
        why += "output ends with pytest's summary (-rA)"
        return Verdict("shared", "unscorable", _missing(task, why), where, grader)
    try:
        run = _run(task, image, patch)
    except PatchError as error:
        why = f"the patch does not apply: {error}"
        return Verdict("shared", "compile_error", _missing(task, why), where, grader)
    except RuntimeError as error:
        why = f"these tests run in the image {image!r}: {error}"
        return Verdict("shared", "unscorable", _missing(task, why), where, grader)
    status, outcomes = read_run(task, run)
    return Verdict("shared", status, outcomes, where, grader)


def _run(task: Task, image: str, patch: str) -> ImageRun:
    """Apply the patch and run the tests. Raises PatchError for the patch, RuntimeError for us."""
    test_patch = str(task.extra["test_patch"])
    folder = str(task.extra.get("repo_folder", FOLDER))
    with checkout(image, folder, task.limits) as box:
        tests_before = box.read(changed_paths(test_patch))
        try:
            tests = apply_patch(tests_before, test_patch)
        except PatchError as error:
            raise RuntimeError(f"field 'test_patch' does not fit the image: {error}") from None
        try:
            before = box.read(changed_paths(patch))
            graded = with_pristine_tests(apply_patch(before, patch), before, tests)
            box.write(graded)
        except FilesDoNotFit as error:  # whoever wrote the patch must not choose to be left out
            raise PatchError(str(error)) from None
        removed = {path for path in {*before, *tests_before} if path not in graded}
        command = task.extra.get("test_cmd") or _command(tests, task.required)
        lines = [command] if isinstance(command, str) else list(command)
        script = f"{ACTIVATE}echo '{_BEGIN}'\n" + "\n".join(lines) + f"\necho '{_END}' $?\n"
        return box.run(script, sorted(removed))


def _command(tests: Iterable[str], required: Iterable[str]) -> str:
    """pytest on the files of the tests that the row brings or names."""
    files = {path for path in tests if path.endswith(".py")}
    files |= {name.split("::")[0] for name in required if "::" in name}
    return f"{PYTEST} {' '.join(shlex.quote(path) for path in sorted(files))}"


def read_run(task: Task, run: ImageRun) -> tuple[VerdictStatus, tuple[TestOutcome, ...]]:
    """(how it ended, what each required test said) of a run's output."""
    if run.status != "ok":
        return run.status, _missing(task, f"the tests did not finish: {run.status}")
    _, begins, text = run.output.partition(_BEGIN)
    text, ends, code = text.rpartition(f"\n{_END} ")
    if not begins or not ends:
        return "crash", _missing(task, "the tests' output has no beginning or no end")
    said = read_summary(text)
    failed = any(status in ("wrong", "error") for status in said.values())
    if code.strip() != "0" and not failed:
        why = f"exit code {code.strip()} although no test is said to have failed"
        return "crash", _missing(task, f"{why}: {_last_line(text)}")
    return "ok", tuple(_outcome(task, name, said) for name in task.required)


def read_summary(output: str) -> dict[str, TestStatus]:
    """Test id -> status from the last "short test summary info" of pytest's output with -rA.

    What tests print comes before it. A test that is named twice has the worst of its statuses.

    >>> read_summary("== short test summary info ==\\nPASSED t.py::a\\nFAILED t.py::b - assert 0")
    {'t.py::a': 'passed', 't.py::b': 'wrong'}
    """
    found: dict[str, TestStatus] = {}
    for line in output.rpartition("short test summary info")[2].splitlines():
        match = _LINE.fullmatch(line)
        if match is None:
            continue
        status = _SAYS[match[1]]
        name = match[2] if match[1] == "PASSED" else match[2].partition(" - ")[0]
        if (other := found.get(name, status)) != status:
            status = min(status, other, key=_WORST.index)
        found[name] = status
    return found


def _outcome(task: Task, name: str, said: Mapping[str, TestStatus]) -> TestOutcome:
    status = said.get(name)
    if status is None:  # some published ids end at the first blank of their parameters
        cut = {status for other, status in said.items() if other.startswith(f"{name} ")}
        status = cut.pop() if len(cut) == 1 else "missing"
    if status == "skipped" and name in task.pass_to_pass:
        return TestOutcome(name, "hidden", "passed", "skipped, which counts as kept")
    return TestOutcome(name, "hidden", status, "" if status == "passed" else f"pytest: {status}")


def _missing(task: Task, why: str) -> tuple[TestOutcome, ...]:
    return tuple(TestOutcome(name, "hidden", "missing", why) for name in task.required)


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1][:200] if lines else "nothing was printed"
