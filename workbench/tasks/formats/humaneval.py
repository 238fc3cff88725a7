"""HumanEval rows: {task_id, prompt, canonical_solution, test, entry_point}.

Stage: tasks (reading other projects' files). The prompt is the beginning of the file a solution
lives in, a sample is its continuation; `complete` joins the two. The published `check` is
turned into cases where they say all of it. Otherwise the cases it does state are kept and the
whole published text goes to `test_code`, followed by the call of `check` with which the benchmark
ends its program. All cases are hidden: the benchmark shows its examples in the prompt.
"""

from __future__ import annotations

import ast

from workbench.records import Limits, Task
from workbench.tasks.formats.asserts import Converted, convert
from workbench.tasks.formats.checking import parse
from workbench.tasks.formats.fields import ENTRY_FILE, Place, Row, get, shared, task_id

LIMITS = Limits(cpu_s=3.0)
"""The benchmark gives a solution three seconds."""
USED = {"task_id", "prompt", "canonical_solution", "entry_point", "test"}


def read_humaneval(row: Row, place: Place) -> Task:
    """The task of one row; the text of its test is in `test_code`, or else in `extra["test"]`."""
    prompt, name, test = get(row, "prompt"), get(row, "entry_point"), get(row, "test")
    found = _convert_check(test)
    common = shared(row, place, "humaneval", USED)
    if not found.left:
        common["extra"] |= {"test": test}
    return Task(
        task_id=task_id(row, ("task_id",), place, "HumanEval/"),
        statement=prompt,
        entry_point=name,
        entry_file=ENTRY_FILE,
        files={},
        beginning=prompt,
        visible=(),
        hidden=found.cases,
        reference={ENTRY_FILE: prompt + get(row, "canonical_solution")},
        test_code=f"{test}\n\ncheck({name})\n" if found.left else "",
        limits=LIMITS,
        suite="humaneval",
        **common,
    )


def _convert_check(test: str) -> Converted:
    """What the function `check(candidate)` states; other code around it is left."""
    body = parse(test, "field 'test'").body
    checks = [s for s in body if isinstance(s, ast.FunctionDef) and s.name == "check"]
    if len(checks) != 1 or len(checks[0].args.args) != 1:
        raise ValueError(
            "field 'test': expected one function check(candidate), got "
            f"{[f'check({ast.unparse(check.args)})' for check in checks]}"
        )
    around = convert([s for s in body if s is not checks[0]], "check")
    found = convert(checks[0].body, checks[0].args.args[0].arg)
    return Converted(found.cases, found.left + around.left)
