"""Collector "coverage": the lines of the final files that the hidden cases execute.

Stage: grading, after it. The program runs once more in the sandbox, traced (`probe`); lines are
counted as Python counts them: of a statement over several lines the first and those where parts of
it begin, and `def` when the module is loaded. **The trace is made in the program's own process,
which can forge it**; the verdict cannot be. What for: masks of the tokens that were executed
(StepCoder, arXiv:2402.01391), and reading trajectories. Left out: programs that read standard
input, tests in `test_code`, pytest suites; branches.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from workbench.grading.collectors.faults import undisturbed
from workbench.records import Limits, Task
from workbench.sandbox import Sandbox

SLOWER = 5.0
"""CPU time for a traced run, as a multiple of the task's limit."""
PROBE = Path(__file__).with_name("probe.py")


def check_task(task: Task) -> None:
    """Raises ValueError for a task whose hidden tests are not calls of a function."""
    if not task.entry_point or not task.hidden:
        kind = "a repository" if task.is_repository else "a program"
        kind = "a function whose hidden tests are test_code" if task.entry_point else kind
        raise ValueError(
            f"task {task.task_id}: coverage is collected for functions with hidden cases, and "
            f'this is {kind}; leave out the collector "coverage" or this task'
        )


def executed_lines(
    task: Task, files: Mapping[str, str], sandbox: Sandbox
) -> dict[str, tuple[int, ...]]:
    """{path: rising line numbers} of the lines that at least one hidden case executed.

    A program that does not load has those that were executed before it failed. Of a call that
    hangs outside of Python code (a huge power, a regular expression) nothing is known.
    """
    program = {path: text for path, text in files.items() if path != task.tests_file}
    probe = next(name for name in _names() if f"{name}.py" not in program)
    program[f"{probe}.py"] = PROBE.read_text("utf-8")
    module = task.entry_file.removesuffix(".py").replace("/", ".")
    budget_s = SLOWER * task.limits.cpu_s / (len(task.hidden) + 1)
    inputs = [(module, task.entry_point, case.args, budget_s) for case in task.hidden]
    limits = _longer(task.limits)
    result = undisturbed(
        task, lambda: sandbox.call(program, f"{probe}.py", "executed", inputs, limits)
    )
    lines: dict[str, set[int]] = {}
    for answer in result.results:
        for path, numbers in _plausible(answer.value, files).items():
            lines.setdefault(path, set()).update(numbers)
    return {path: tuple(sorted(numbers)) for path, numbers in sorted(lines.items()) if numbers}


def _names():
    yield from (f"line_probe{number}" for number in ("", *range(1, 1000)))


def _longer(limits: Limits) -> Limits:
    cpu_s = SLOWER * limits.cpu_s
    return replace(limits, cpu_s=cpu_s, wall_s=limits.wall_s + 2 * cpu_s)


def _plausible(value: object, files: Mapping[str, str]) -> dict[str, list[int]]:
    """What may be line numbers of the files, from an answer that the program may have written."""
    if not isinstance(value, dict):
        return {}
    return {
        path: [n for n in numbers if type(n) is int and 1 <= n <= files[path].count("\n") + 1]
        for path, numbers in value.items()
        if path in files and isinstance(numbers, list)
    }
