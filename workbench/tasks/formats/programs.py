"""Competition problems: what the formats with inputs and outputs share.

Stage: tasks (reading other projects' files). Without a function's name an input is what a program
reads from standard input and an output what it must write: a task whose `entry_point` is "". With
one it is a call. Many published solutions are methods of a class `Solution`, for a site that brings
`List`, `Counter` and the like by itself; cases call a function of the module. So such a file gets a
line with these imports, and ends with one that gives the method its name.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from workbench.records import Case, Limits, Task
from workbench.tasks.formats.checking import defined_names, parse
from workbench.tasks.formats.fields import ENTRY_FILE, entry_file, plain_case

LIMITS = Limits(cpu_s=10.0)
"""All cases of a competition problem together."""
METHOD = "style:method"
"""Tag of tasks whose published solutions are methods of a class `Solution`."""
_STARRED = (  # later ones win: typing has a Counter too, math and operator have a pow
    "typing", "collections", "itertools", "functools", "heapq", "bisect", "string", "math",
    "operator", "builtins",
)  # fmt: skip
IMPORTS = "; ".join(
    (
        *(f"from {module} import *" for module in _STARRED),
        "import bisect, collections, functools, heapq, itertools, math, operator, random, re",
        "import string, sys",
    )
)
"""What the sites import for a class `Solution`, on one line: line numbers move by one only."""


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
        parts.append(
            "The file must import what it uses; this line imports what the problem's site does:\n"
            f"{IMPORTS}\nThe file must end with the line: {method_line(name)}"
        )
    return "\n\n".join(parts)


def method_line(name: str) -> str:
    """The line that makes a method of `Solution` a function of the module."""
    return f"{name} = Solution().{name}"


def as_module(text: str, name: str) -> str:
    """`text`; if it defines the class `Solution`, with IMPORTS and `method_line`, where missing.

    Raises ValueError if it is not Python.
    """
    tree = parse(text, "solution")
    defined = defined_names(tree)
    if "Solution" not in defined:
        return text
    if name not in defined:
        text = f"{text.rstrip()}\n\n{method_line(name)}\n"
    if IMPORTS in text:
        return text
    lines = text.split("\n")
    lines.insert(_first_free_line(tree), IMPORTS)
    return "\n".join(lines)


def _first_free_line(tree: ast.Module) -> int:
    """How many lines have to stay in front: those up to the last `from __future__ import`."""
    ends = [s.end_lineno for s in tree.body if getattr(s, "module", None) == "__future__"]
    return max(ends, default=0)


def first_reference(
    solutions: Sequence[str], name: str, language: str = "python"
) -> dict[str, str]:
    """{path: text} of the first published solution that can be one; {} if none can.

    Old collections hold solutions in Python 2 or in pieces, so one that does not parse or does
    not define `name` ("" = a program) is passed over.
    """
    if language != "python":
        return {entry_file(language): text for text in solutions[:1]}
    for solution in solutions:
        try:
            text = as_module(solution, name) if name else solution
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
    `def`). Problems whose solutions are methods: the answer, with the imports that their site adds
    and the line that lets the cases call the method. Every other task: the answer as it is.

    >>> grade(task, complete(task, "    return sorted(xs)\\n"), sandbox)       # doctest: +SKIP
    """
    if task.beginning:
        return task.beginning + completion
    if METHOD in task.tags and task.entry_point:
        try:
            return as_module(completion, task.entry_point)
        except ValueError:  # not Python: grading says so, with the line
            return completion
    return completion
