"""The exercise "write a grader": a reader's judgement of what programs answered.

Stage: outside the loop. In: a function `(CallResult, cases) -> list of bool`, or one bool for all;
out: which requirements it misses, in words. The answers of honest programs and of exploits are
records made by hand, nothing is executed. Left out: tolerances (`Case.comparison`).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from workbench.checks.calling import Answer, NotDone, call
from workbench.checks.comparing import shown
from workbench.checks.memory import judged, not_attempted
from workbench.checks.stored_answers import ALL, StoredAnswer

REQUIREMENTS = {
    "right": "right answers pass",
    "wrong": "wrong answers and exceptions fail",
    "types": "True is not 1, 1.0 is not 1, a list is not a tuple",
    "text": "a text is not the value it spells",
    "early_exit": "what was never answered fails",
    "too_few": "every case is judged, also one without a result",
    "ended_badly": "a run that ended badly keeps the answers it gave, and no others",
    "nan": "nan is nan, and no number is",
    "unscorable": "a fault of the sandbox is not the program's",
}
"""What a grader may be held to, by name."""
USUAL = frozenset(REQUIREMENTS)
"""What `grade_grader` asks for unless told otherwise."""


def grade_grader(
    question: str,
    grader: Callable,
    *,
    requirements: Collection[str] = USUAL,
    each: bool = True,
    time_limit_s: float = 5.0,
) -> None:
    """Try a grader on stored answers; says which requirements it misses.

    Args:
        grader: called with a `CallResult` and the tuple of `Case`s. For a fault of the sandbox it
            must return None or raise: that cannot be judged.
        requirements: names in REQUIREMENTS.
        each: True = it returns a list of bool, one a case; False = one bool, "all passed".
    Raises:
        ValueError: if a requirement is unknown (the notebook's mistake, not the reader's).
    """
    if unknown := sorted(set(requirements) - set(REQUIREMENTS)):
        raise ValueError(f"unknown requirements {unknown}; known are {sorted(REQUIREMENTS)}")
    wrong: dict[str, list[str]] = {}
    for stored in copy.deepcopy(ALL):  # lists in it could be changed by the grader
        if stored.requirement not in requirements:
            continue
        answer = call(grader, (stored.result, stored.cases), time_limit_s)
        if answer.is_stub:
            return not_attempted(question)
        if isinstance(answer.error, NotDone):  # further programs would take as long
            return judged(question, False, f"{answer.error}\n  for a program that {stored.story}")
        if found := _missed(stored, answer, each):
            wrong.setdefault(stored.requirement, []).append(found)
    if not wrong:
        return judged(question, True, f"right, all {len(requirements)} requirements hold.")
    lines = [f"{len(wrong)} of {len(requirements)} requirements are missed."]
    for name, found in wrong.items():
        lines += [f"  not held: {REQUIREMENTS[name]}", *(f"    it {text}" for text in found)]
    judged(question, False, "\n".join(lines))


def _missed(stored: StoredAnswer, answer: Answer, each: bool) -> str:
    """What is wrong with the judgement of one program, completing "it ..."."""
    who = f"a program that {stored.story}"
    if stored.passed is None:
        unjudged = answer.error is not None or answer.value is None
        return "" if unjudged else f"judges {who}; expected None or an exception"
    if answer.error is not None:
        return f"raises {shown(answer.error, 200)} for {who}"
    if each:
        return _each_missed(stored, answer.value, who)
    if not _is_bool(answer.value):
        return f"returns {shown(answer.value, 60)} for {who}; expected True or False"
    if bool(answer.value) != all(stored.passed):
        return f"{'passes' if answer.value else 'fails'} {who}"
    return ""


def _each_missed(stored: StoredAnswer, value: Any, who: str) -> str:
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if not isinstance(value, list | tuple) or not all(map(_is_bool, value)):
        return f"returns {shown(value, 60)} for {who}; expected a list of True and False"
    if len(value) != len(stored.passed):
        return f"judges {len(value)} cases of {who}; there are {len(stored.passed)}"
    for number, (said, right) in enumerate(zip(value, stored.passed), 1):
        if bool(said) != right:
            return f"{'passes' if said else 'fails'} case {number} of {who}"
    return ""


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool | np.bool_)
