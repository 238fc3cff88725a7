"""The form of a hand-written problem: one call of `problem` states a task and all around it.

Stage: tasks. In: a problem of the suite `warmup` or `secure` as a person writes it down. Out: a
checked `Task`. To add one, copy a block in the module of its topic and change it. Left out: whether
the reference, the mistakes, the hacks and the attacks do what is said of them; tests/tasks runs
them all in the sandbox (test_warmup.py, test_secure.py).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from inspect import cleandoc
from textwrap import dedent, fill, indent
from typing import Any

from workbench.records import Case, Limits, Task, WrongSolution

ENTRY_FILE = "solution.py"
LEVELS = {1: "one idea", 2: "two ideas or a hidden trap", 3: "a plan before the first line"}
"""What the three levels mean."""


@dataclass(frozen=True)
class Wrong:
    """A plausible mistake: all visible cases pass, some hidden ones do not, or an attack works."""

    weak_spot: str
    """What it overlooks, in a few words."""
    fails: Sequence[int | str]
    """Numbers of the hidden cases that catch it, counted from 1, and after them "test:2" for the
    second test of `test_code`; all others pass. Empty: it does all that was asked."""
    code: str | Mapping[str, str]
    """The whole text, or what to replace in the reference: {text that occurs once: new text}."""
    open_to: Sequence[int] = ()
    """Numbers of the attacks that succeed, counted from 1; all others fail."""


def case(*args: Any, want: Any) -> Case:
    """The case that calls the entry point with `args` and wants `want`, by type and value.

    >>> case("harbour", 5, want="harb~").args
    ('harbour', 5)
    """
    return Case(args, want)


def problem(
    name: str,
    *,
    topic: str,
    level: int,
    skills: str,
    statement: str,
    reference: str,
    visible: Sequence[Case],
    hidden: Sequence[Case],
    wrong: Sequence[Wrong],
    hack: str | None = None,
    suite: str = "warmup",
    test_code: str = "",
    exploits: str = "",
    limits: Limits = Limits(),
) -> Task:
    """The task "<suite>/<name>", whose entry point is the function `name`.

    Args:
        skills: words a learner would search for, separated by blanks.
        statement: paragraphs, divided by empty lines; their lines are filled anew.
        reference: code; a common indentation is taken off, as from all code here.
        visible, hidden: 2 to 4 and 5 to 10 cases; the statement must decide every one of them.
        wrong: at least two mistakes, one for each weak spot; with `exploits` also a solution that
            fails at nothing but attacks.
        hack: body of a function, with the reference's parameters, that passes the visible cases
            without solving the task. A lookup table of the visible cases is always there, first.
        test_code: further hidden tests as asserts, where no case can state them.
        exploits: attacks as asserts, one each; an assert that holds is an attack that failed.
    Raises:
        ValueError: says which problem, what was expected and what was found.
    """
    _check_numbers(name, level, visible, hidden, wrong)
    _check_attacks(name, exploits, wrong)
    right = _text(reference)
    parameters = ast.unparse(_entry_point(name, right).args)
    hacks = [lookup_table(name, visible)]
    if hack:
        hacks.append(f"def {name}({parameters}):\n" + indent(_text(hack), "    "))
    mistakes = tuple(
        WrongSolution({ENTRY_FILE: _apply(name, w, right)}, w.weak_spot, _names(w)) for w in wrong
    )
    for text in (*hacks, *(mistake.files[ENTRY_FILE] for mistake in mistakes)):
        _entry_point(name, text)
    return Task(
        task_id=f"{suite}/{name}",
        statement=_paragraphs(statement),
        entry_point=name,
        entry_file=ENTRY_FILE,
        files={},
        visible=tuple(visible),
        hidden=tuple(hidden),
        reference={ENTRY_FILE: right},
        known_hacks=tuple({ENTRY_FILE: text} for text in hacks),
        wrong=mistakes,
        tags=(f"level:{level}", f"topic:{topic}", *(f"skill:{skill}" for skill in skills.split())),
        test_code=_text(test_code) if test_code else "",
        exploit_code=_text(exploits) if exploits else "",
        limits=limits,
        suite=suite,
        source="hand-written",
    )


def lookup_table(name: str, visible: Sequence[Case]) -> str:
    """Code that answers the visible cases and nothing else: the plainest hack of all.

    >>> print(lookup_table("half", [case(4, want=2)]), end="")
    def half(*args):
        if args == (4,):
            return 2
    """
    rows = [f"    if args == {c.args!r}:\n        return {c.expected!r}\n" for c in visible]
    return f"def {name}(*args):\n" + "".join(rows)


def _names(wrong: Wrong) -> tuple[str, ...]:
    """Names of the outcomes that catch it."""
    attacks = (f"exploit:test:{n}" for n in wrong.open_to)
    return (*(f"hidden:{n}" for n in wrong.fails), *attacks)


def _paragraphs(text: str) -> str:
    filled = (fill(part, 88, break_on_hyphens=False) for part in cleandoc(text).split("\n\n"))
    return "\n\n".join(filled)


def _text(code: str) -> str:
    return dedent(code).strip("\n").rstrip() + "\n"


def _apply(name: str, wrong: Wrong, reference: str) -> str:
    if isinstance(wrong.code, str):
        return _text(wrong.code)
    for old in wrong.code:
        if reference.count(old) != 1:
            raise ValueError(
                f"{name}, {wrong.weak_spot!r}: expected {old!r} once in the reference, "
                f"found it {reference.count(old)} times; quote more of the line, or give whole code"
            )
    # one pass, so that no replacement is looked for in the text of another
    return re.sub("|".join(map(re.escape, wrong.code)), lambda m: wrong.code[m[0]], reference)


def _check_numbers(name, level, visible, hidden, wrong) -> None:
    if level not in LEVELS:
        raise ValueError(f"{name}: level: expected one of {sorted(LEVELS)}, got {level!r}")
    if not (2 <= len(visible) <= 4 and 5 <= len(hidden) <= 10 and len(wrong) >= 2):
        raise ValueError(
            f"{name}: expected 2 to 4 visible cases, 5 to 10 hidden ones and at least 2 mistakes, "
            f"got {len(visible)}, {len(hidden)} and {len(wrong)}"
        )
    calls = [repr(c.args) for c in (*visible, *hidden)]
    if twice := sorted({call for call in calls if calls.count(call) > 1}):
        raise ValueError(f"{name}: expected every call once, got {twice[0]:.80} twice")
    spots = [w.weak_spot for w in wrong]
    if len(set(spots)) < len(spots):
        raise ValueError(f"{name}: expected every weak spot once, got {spots}")
    for w in wrong:
        numbers, there = [n for n in w.fails if isinstance(n, int)], range(1, len(hidden) + 1)
        if not (w.fails or w.open_to) or numbers != sorted(set(numbers) & set(there)):
            raise ValueError(
                f"{name}, {w.weak_spot!r}: fails: expected numbers of hidden cases, "
                f"1 to {len(hidden)}, rising, got {numbers}"
            )


def _check_attacks(name, exploits, wrong) -> None:
    if not exploits:
        if spots := [w.weak_spot for w in wrong if w.open_to]:
            raise ValueError(f"{name}, {spots[0]!r}: open_to: expected exploits, got none")
    elif not any(w.open_to and not w.fails for w in wrong):
        raise ValueError(
            f"{name}: expected a wrong solution that does all that was asked and is open to an "
            "attack; give one with fails=[] and open_to=[1]"
        )


def _entry_point(name: str, text: str) -> ast.FunctionDef:
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        raise ValueError(f"{name}: expected Python, got {error} in:\n{text}") from None
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    if name not in functions:
        raise ValueError(f"{name}: expected a function {name}, found {list(functions)} in:\n{text}")
    return functions[name]
