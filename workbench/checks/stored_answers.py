"""What programs answered, made by hand, to try a grader on.

Stage: outside the loop. In: nothing; out: results as a sandbox would have recorded them, with the
cases and what a right grader says. No program runs. Left out: answers that are not plain data,
which no sandbox sends.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from workbench.records import Case
from workbench.sandbox import CallResult, CaseResult


@dataclass(frozen=True)
class StoredAnswer:
    """A program's answers and what they deserve."""

    requirement: str
    """Which requirement of a grader it tries."""
    story: str
    """Completes "a program that ..."."""
    result: CallResult
    """What the sandbox recorded."""
    cases: tuple[Case, ...]
    """What was asked."""
    passed: tuple[bool, ...] | None
    """Which cases it passes; None = cannot be judged."""


def _values(*values: Any) -> tuple[CaseResult, ...]:
    return tuple(CaseResult("value", value) for value in values)


def _cases(*expected: Any) -> tuple[Case, ...]:
    return tuple(Case((number,), value) for number, value in enumerate(expected))


_LOST = CaseResult("missing", error="the run ended before this case")
_NUMBERS = _cases(1, 4, 9)
_MIXED = _cases([1, 2], ("a", 0.5), {"n": 3}, None)

ALL = (
    StoredAnswer(
        "right", "answers everything right", CallResult("ok", _values(1, 4, 9)), _NUMBERS,
        (True, True, True),
    ),
    StoredAnswer(
        "right", "answers lists, tuples, dicts and None right",
        CallResult("ok", _values([1, 2], ("a", 0.5), {"n": 3}, None)), _MIXED,
        (True, True, True, True),
    ),
    StoredAnswer(
        "right", "returns a dict right, its keys in another order",
        CallResult("ok", _values({"b": 2, "a": [1]})), _cases({"a": [1], "b": 2}), (True,),
    ),
    StoredAnswer(
        "wrong", "returns one item too many, one too few and none",
        CallResult("ok", _values([1, 2, 3], [1], (), [])), _cases([1, 2], [1, 2], (1,), [[]]),
        (False, False, False, False),
    ),
    StoredAnswer(
        "wrong", "returns dicts with a wrong value, without a key, and with one too many",
        CallResult("ok", _values({"n": 4}, {"n": 3}, {"n": 3, "m": 4}, {"n": 3})),
        _cases({"n": 3}, {"n": 3, "m": 4}, {"n": 3}, {"m": 3}), (False, False, False, False),
    ),
    StoredAnswer(
        "wrong", "returns numbers that are near, alone and inside a list",
        CallResult("ok", _values(0.5000001, [0.55], 1.0)), _cases(0.5, [0.5], 1.0),
        (False, False, True),
    ),
    StoredAnswer(
        "wrong", "answers one of three wrong", CallResult("ok", _values(1, 5, 9)), _NUMBERS,
        (True, False, True),
    ),
    StoredAnswer(
        "wrong", "raises instead of returning None",
        CallResult("ok", (CaseResult("error", error="ValueError"), CaseResult("value", None))),
        _cases(None, None), (False, True),
    ),
    StoredAnswer(
        "types", "returns True where 1 was asked, and False for 0",
        CallResult("ok", _values(True, False)), _cases(1, 0), (False, False),
    ),
    StoredAnswer(
        "types", "returns 1.0 where 1 was asked", CallResult("ok", _values(1.0, 4)),
        _cases(1, 4), (False, True),
    ),
    StoredAnswer(
        "types", "returns True for 1 inside a list and a dict, and a list for a tuple",
        CallResult("ok", _values([True, 2], {"n": True}, [1, 2])),
        _cases([1, 2], {"n": 1}, (1, 2)), (False, False, False),
    ),
    StoredAnswer(
        "text", "returns values that are right only as text",
        CallResult("ok", _values("1", "[4]", ["1"], 9)), _cases(1, [4], [1], 9),
        (False, False, False, True),
    ),
    StoredAnswer(
        "early_exit", "leaves after its first answer",
        CallResult("crash", (*_values(1), _LOST, _LOST), "left early with exit status 0"),
        _NUMBERS, (True, False, False),
    ),
    StoredAnswer(
        "early_exit", "leaves at once where None was asked",
        CallResult("crash", (_LOST, _LOST), "left early with exit status 0"),
        _cases(None, None), (False, False),
    ),
    StoredAnswer(
        "too_few", "answers two of three cases, and no more results came",
        CallResult("ok", _values(1, 4)), _NUMBERS, (True, True, False),
    ),
    StoredAnswer(
        "too_few", "gives no results at all", CallResult("crash", ()), _NUMBERS,
        (False, False, False),
    ),
    StoredAnswer(
        "ended_badly", "crashes after two right answers",
        CallResult("crash", (*_values(1, 4), CaseResult("error", error="ended by signal 11"))),
        _NUMBERS, (True, True, False),
    ),
    StoredAnswer(
        "ended_badly", "runs out of time after one right answer",
        CallResult("timeout", (*_values(1), CaseResult("timeout"), _LOST)), _NUMBERS,
        (True, False, False),
    ),
    StoredAnswer(
        "nan", "returns nan where nan was asked, and a number for nan",
        CallResult("ok", _values(math.nan, 0.0)), _cases(float("nan"), float("nan")),
        (True, False),
    ),
    StoredAnswer(
        "nan", "returns nan inside a list where it was asked, and where a number was",
        CallResult("ok", _values([float("nan")], [float("nan")])),
        _cases([float("nan")], [1.0]), (True, False),
    ),
    StoredAnswer(
        "nan", "returns nan for a number", CallResult("ok", _values(float("nan"), 2.0)),
        _cases(1.0, 2.0), (False, True),
    ),
    StoredAnswer(
        "unscorable", "could not be run: the sandbox failed",
        CallResult("sandbox_error", (_LOST, _LOST, _LOST), "no server"), _NUMBERS, None,
    ),
)  # fmt: skip
"""Every stored answer."""
