"""Whether a task that was read makes sense: its names, its reference, its cases.

Stage: tasks (reading files). A `Task` goes in; nothing comes out, or a ValueError for people.
Nothing is executed: whether the reference passes its own cases is for the sandbox to say.
"""

from __future__ import annotations

import ast
import keyword
import warnings
from collections.abc import Iterator

from workbench.records import Task


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
    for path in (task.entry_file, *task.files, *task.reference):
        if any(part in ("", ".", "..") for part in str(path).split("/")):
            raise ValueError(f"expected a path inside the workspace such as 'lib.py', got {path!r}")
    limits = task.limits
    if not min(limits.cpu_s, limits.wall_s, limits.memory_mb) > 0:
        raise ValueError(f"field 'limits': expected numbers above 0, got {limits}")
    if not task.hidden and not task.test_code:
        raise ValueError(
            "no tests: nothing would decide whether a solution is right; add asserts or cases"
        )
    if task.reference:
        _check_reference(task)


def _check_reference(task: Task) -> None:
    text = {**task.files, **task.reference}.get(task.entry_file)
    if text is None:
        raise ValueError(
            f"reference: expected the file {task.entry_file!r}, got {sorted(task.reference)}"
        )
    tree = parse(text, f"reference, {task.entry_file}")
    found = defined_names(tree)
    if task.entry_point and not found & {task.entry_point, "*"}:
        raise ValueError(
            f"reference, {task.entry_file}: expected it to define the entry point "
            f"{task.entry_point!r}, got {sorted(found)}"
        )
