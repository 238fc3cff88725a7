"""Whether a task that was read makes sense: its names, its reference, its cases.

Stage: tasks (reading files). A `Task` goes in; nothing comes out, or a ValueError for people.
Nothing is executed: whether the reference passes its own cases is for the sandbox to say.
"""

from __future__ import annotations

import ast
import itertools
import keyword
import warnings
from collections.abc import Iterator

from workbench.records import Task
from workbench.sandbox.checking import MAX_OUTPUT_KB
from workbench.sandbox.languages import find
from workbench.tasks.expected import expected_of

MAX_LIMIT = 1_000_000
"""Largest limit, in seconds or MiB: what is beyond it, infinity say, no system call takes."""


def parse(text: str, where: str) -> ast.Module:
    """The syntax tree of `text`. Raises ValueError, starting with `where`, if there is none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # old escapes such as "\d" in other people's code
            return ast.parse(text)
    except SyntaxError as error:
        raise ValueError(
            f"{where}: expected Python, got a syntax error in line {error.lineno}: {error.msg}"
        ) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise ValueError(f"{where}: expected Python, got {error or 'very deep nesting'}") from None


def defined_names(tree: ast.Module) -> set[str]:
    """Names that running the module may bind at its top level."""
    return set(_bound(tree.body))


def _bound(statements: list[ast.stmt]) -> Iterator[str]:
    for statement in statements:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield statement.name
            continue
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            yield from (a.asname or a.name.split(".")[0] for a in statement.names)
            continue
        for child in ast.iter_child_nodes(statement):
            if isinstance(child, ast.stmt):
                yield from _bound([child])
            elif isinstance(child, ast.ExceptHandler):
                yield from _bound(child.body)
            else:
                stores = (n for n in ast.walk(child) if isinstance(n, ast.Name))
                yield from (n.id for n in stores if isinstance(n.ctx, ast.Store))


def check_task(task: Task) -> None:
    """Raise ValueError if the task's names, reference or cases cannot work."""
    name = task.entry_point
    if name and (not name.isidentifier() or keyword.iskeyword(name)):
        raise ValueError(
            f"field 'entry_point': expected the name of a function such as 'solve', got {name!r}"
        )
    find(task.language)
    if name and task.language != "python":
        raise ValueError(
            f"field 'language': functions can be called in Python only, got {task.language!r}; "
            'write the task as a program that reads standard input (entry_point "")'
        )
    if not task.task_id:
        raise ValueError("field 'task_id': expected some text, got ''")
    _check_paths(task)
    limits = task.limits
    if not all(0 < n <= MAX_LIMIT for n in (limits.cpu_s, limits.wall_s, limits.memory_mb)):
        raise ValueError(
            f"field 'limits': expected numbers above 0 and at most {MAX_LIMIT}, got {limits}"
        )
    if not 0 <= limits.output_kb <= MAX_OUTPUT_KB:
        raise ValueError(
            f"field 'limits': expected output_kb from 0 to {MAX_OUTPUT_KB}, got {limits.output_kb}"
        )
    _check_programs_cases(task)
    if not task.hidden and not task.test_code and not task.is_repository:
        raise ValueError(
            "no tests: nothing would decide whether a solution is right; add asserts or cases"
        )
    if task.exploit_code and not name:
        raise ValueError(
            "field 'exploit_code': attacks call a function, and this task has no entry_point; "
            "leave it out"
        )
    if task.reference:
        _check_reference(task)
    _check_wrong(task)


def _check_programs_cases(task: Task) -> None:
    for suite, cases in (("visible", task.visible), ("hidden", task.hidden)):
        for number, case in enumerate(() if task.entry_point else cases, 1):
            try:
                expected_of(case)
            except ValueError as error:
                raise ValueError(
                    f"{suite}:{number}: a task without entry_point is a program; {error}"
                ) from None


def _check_paths(task: Task) -> None:
    others = (*task.known_hacks, *(wrong.files for wrong in task.wrong))
    given = (task.entry_file, *task.files, *task.reference, *task.hidden_tests)
    for path in (*given, *itertools.chain(*others)):
        if any(part in ("", ".", "..") for part in str(path).split("/")):
            raise ValueError(f"expected a path inside the workspace such as 'lib.py', got {path!r}")
    if task.tests_file is not None and task.tests_file not in task.files:
        raise ValueError(
            f"field 'tests_file': expected one of the files {sorted(task.files)}, got "
            f"{task.tests_file!r}"
        )


def _check_wrong(task: Task) -> None:
    suites = (("visible", task.visible), ("hidden", task.hidden))
    names = {f"{suite}:{n}" for suite, cases in suites for n in range(1, len(cases) + 1)}
    names |= set(task.required)
    codes = {"hidden:test:": task.test_code, "exploit:test:": task.exploit_code}
    ours = tuple(prefix for prefix, code in codes.items() if code)
    for number, wrong in enumerate(task.wrong):
        if task.entry_file in wrong.files and task.language == "python":
            parse(wrong.files[task.entry_file], f"field 'wrong'[{number}], {task.entry_file}")
        if unknown := sorted(n for n in set(wrong.fails) - names if not n.startswith(ours)):
            there = f"of {len(task.visible)} visible and {len(task.hidden)} hidden"
            there = "or an id of the required tests" if task.is_repository else there
            raise ValueError(
                f"field 'wrong'[{number}], fails: expected names of outcomes such as 'hidden:1', "
                f"{there}, got {unknown}"
            )


def _check_reference(task: Task) -> None:
    text = {**task.files, **task.reference}.get(task.entry_file)
    if text is None:
        raise ValueError(
            f"reference: expected the file {task.entry_file!r}, got {sorted(task.reference)}"
        )
    if task.language != "python" or (task.is_repository and not task.entry_file.endswith(".py")):
        return
    tree = parse(text, f"reference, {task.entry_file}")
    if not text.startswith(task.beginning):
        raise ValueError(
            f"reference, {task.entry_file}: expected it to start with the field 'beginning' "
            f"{task.beginning!r:.60}, got {text!r:.60}"
        )
    found = defined_names(tree)
    if task.entry_point and not found & {task.entry_point, "*"}:
        raise ValueError(
            f"reference, {task.entry_file}: expected it to define the entry point "
            f"{task.entry_point!r}, got {sorted(found)}"
        )
