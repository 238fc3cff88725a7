"""Competition problems: what the formats with inputs and outputs share.

Stage: tasks (reading other projects' files). Without a function's name an input is what a program
reads from standard input and an output what it must write: a task whose `entry_point` is "". With
one it is a call. Many published solutions are methods of a class `Solution`; cases call a function
of the module, so such a file ends with one line that gives the method that name.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from workbench.records import Case, Limits, Task
from workbench.tasks.formats.checking import defined_names, parse
from workbench.tasks.formats.fields import ENTRY_FILE, plain_case

LIMITS = Limits(cpu_s=10.0)
"""All cases of a competition problem together."""
METHOD = "style:method"
"""Tag of tasks whose published solutions are methods of a class `Solution`."""


def program_case(given: Any, wanted: Any, where: str) -> Case:
    """The case of a program: text in, text out; a list holds the lines of a text."""
    return Case((_text(given, where),), _text(wanted, where))


def _text(value: Any, where: str) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        return "\n".join(value)
    raise ValueError(
        f"{where}: expected text or a list of lines (no function name is given, so this is a "
        f"program), got {type(value).__name__} {value!r:.60}"
    )


def call_case(args: Any, expected: Any, where: str) -> Case:
    """The case of a call, compared by Python's ==; args must be a list."""
    if not isinstance(args, list):
        raise ValueError(
            f"{where}: expected a list of arguments such as [{args!r:.40}] (a function name is "
            f"given, so this is a call), got {type(args).__name__} {args!r:.40}"
        )
    return plain_case(args, expected, "equal", 0.0, where)


def problem_statement(question: str, starter_code: str, name: str) -> str:
    """The question, the starter code, and, for a class, how the cases reach its method."""
    parts = [question]
    if starter_code.strip():
        parts.append(starter_code.rstrip())
    if "class Solution" in starter_code and name:
        parts.append(f"The file must end with the line: {method_line(name)}")
    return "\n\n".join(parts)


def method_line(name: str) -> str:
    """The line that makes a method of `Solution` a function of the module."""
    return f"{name} = Solution().{name}"


def with_method_line(text: str, name: str) -> str:
    """`text`, with `method_line` at its end if it defines the class and not the function.

    Raises ValueError if it is not Python.
    """
    defined = defined_names(parse(text, "solution"))
    if "Solution" not in defined or name in defined:
        return text
    return f"{text.rstrip()}\n\n{method_line(name)}\n"


def first_reference(solutions: Sequence[str], name: str) -> dict[str, str]:
    """{path: text} of the first published solution that can be one; {} if none can.

    Old collections hold solutions in Python 2 or in pieces, so one that does not parse or does
    not define `name` ("" = a program) is passed over.
    """
    for solution in solutions:
        try:
            text = with_method_line(solution, name) if name else solution
            tree = parse(text, "solution")
        except ValueError:
            continue
        if not name or name in _reachable(tree):
            return {ENTRY_FILE: text}
    return {}


def _reachable(tree: ast.Module) -> set[str]:
    """Names the module defines, without those that a method line only claims to."""
    methods = {
        inner.name
        for outer in tree.body
        if isinstance(outer, ast.ClassDef) and outer.name == "Solution"
        for inner in outer.body
        if isinstance(inner, ast.FunctionDef)
    }
    names = defined_names(tree)
    last = tree.body[-1] if tree.body else None
    match last:
        case ast.Assign([ast.Name(name)], ast.Attribute(ast.Call(ast.Name("Solution")), method)):
            return names if method in methods else names - {name}
    return names


def style_tags(starter_code: str, reference: dict[str, str]) -> tuple[str, ...]:
    """(METHOD,) if the starter code or the reference is a class `Solution`, else ()."""
    texts = (starter_code, *reference.values())
    return (METHOD,) if any("class Solution" in text for text in texts) else ()


def complete(task: Task, completion: str) -> str:
    """The file that an answer in one turn stands for: what to hand to `grade`.

    The task's beginning and its continuation (HumanEval: the prompt, `functions`: the line with
    `def`). Problems whose solutions are methods: the answer, with the line that lets the cases call
    the method. Every other task: the answer as it is.

    >>> grade(task, complete(task, "    return sorted(xs)\\n"), sandbox)       # doctest: +SKIP
    """
    if task.beginning:
        return task.beginning + completion
    if METHOD in task.tags and task.entry_point:
        try:
            return with_method_line(completion, task.entry_point)
        except ValueError:  # not Python: grading says so, with the line
            return completion
    return completion
