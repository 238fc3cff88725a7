"""What a task's own text defines for its tests: taken from the task, never from a solution.

Stage: grading. A task with `test_code` goes in, the text its tests are judged with comes out. Some
benchmarks' tests call functions that the prompt gives (HumanEval/38 encodes by one what the
solution must decode); a solution that redefines such a function must not decide its own verdict.
Left out: names that only a solution defines; the tests ask the solution for those.
"""

from __future__ import annotations

import ast
import functools

from workbench.records import Task


def tests_with_given(task: Task) -> str:
    """`task.test_code`, after those definitions of `task.beginning` that it reads, if any."""
    return _with_given(task.beginning, task.entry_point, task.test_code)


@functools.lru_cache(maxsize=300)  # a task is graded many times
def _with_given(beginning: str, entry_point: str, test_code: str) -> str:
    try:
        given = ast.parse(beginning).body
        read = _names(ast.parse(test_code))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return test_code  # the beginning stops half way, or the sandbox will say what is wrong
    given = [s for s in given if getattr(s, "name", None) != entry_point]
    if not any(_defines(statement) & read for statement in given):
        return test_code
    return "".join(ast.unparse(s) + "\n\n" for s in given) + test_code


def _names(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _defines(statement: ast.stmt) -> set[str]:
    """Names of what a prompt defines at its top level; imports alone are no reason to add it."""
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return {statement.name}
    if isinstance(statement, ast.Assign):
        return {target.id for target in statement.targets if isinstance(target, ast.Name)}
    return set()
