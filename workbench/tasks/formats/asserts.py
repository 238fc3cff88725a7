"""Published asserts as cases: `assert f(2) == 4` becomes Case((2,), 4, "equal").

Stage: tasks (reading other projects' files). The statements of a test go in; the cases they state
come out, with the text of every statement that no case can state exactly. The syntax tree is read
and nothing is executed. A conversion is made only where a solution that returns plain data passes
the case if and only if it passes the assert (for "close", up to rounding at the very edge). So
`assert f(x)` stays: any list would satisfy it. Left out: keyword arguments, `in`, `!=`, `and`.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.encoding import encode
from workbench.records import Case
from workbench.tasks.formats import folding
from workbench.tasks.formats.folding import NotConstant, fold, num_values, unchanging

MAX_CASES = 10_000
"""A loop that would state more cases than this stays a loop."""
MAX_VALUES = 1_000_000
"""A test whose cases would hold more values than this, all together, is left whole."""
MAX_REL_TOL = 1e-3
"""isclose is relative to the larger of two numbers, a case to the expected one. Up to here the two
edges lie within a millionth of each other."""
_RELIED_ON = folding.NAMES | {"abs"}


@dataclass(frozen=True)
class Converted:
    """What a test states, and what is left."""

    cases: tuple[Case, ...]
    """In the order of the asserts."""
    left: tuple[str, ...]
    """Text of each statement that no case states; empty if the cases say everything."""


def convert(statements: Sequence[ast.stmt], function: str) -> Converted:
    """The cases that `statements` state about calls of the name `function`.

    Asserts of a true constant and statements that assert nothing (imports, constants given a
    name, docstrings) are dropped. A loop over constants is unrolled.

    >>> convert(ast.parse("assert f([1] * 2) == (1, 1)").body, "f").cases[0].args
    ([1, 1],)
    """
    if _changes_meaning(statements, function):
        return Converted((), tuple(map(_text, statements)))
    cases: list[Case] = []
    left: list[str] = []
    names: dict[str, Any] = {}
    room = MAX_VALUES
    for statement in statements:
        stated = []
        try:
            for case in _cases(statement, function, names):
                room -= num_values((case.args, case.expected))
                if room < 0:
                    return Converted((), tuple(map(_text, statements)))
                stated.append(case)
            cases += stated
        except NotConstant:
            left.append(_text(statement))
            names.clear()  # it may have changed any of them
    return Converted(tuple(cases), tuple(left))


def _text(statement: ast.stmt) -> str:
    try:
        return ast.unparse(statement)
    except RecursionError:
        return f"line {statement.lineno}"


def _changes_meaning(statements: Sequence[ast.stmt], function: str) -> bool:
    """Whether a name that the reading relies on is bound anew, or a part may be skipped."""
    if function in _RELIED_ON:
        return True
    for node in (node for statement in statements for node in ast.walk(statement)):
        match node:
            case ast.Return() | ast.Yield() | ast.YieldFrom() | ast.Global() | ast.Nonlocal():
                return True
            case ast.Import(aliases) | ast.ImportFrom(_, aliases):
                bound = {alias.asname or alias.name for alias in aliases}
                if isinstance(node, ast.Import) and not any(a.asname == "math" for a in aliases):
                    bound -= {"math"}  # `import math` binds what the reading takes it for
            case ast.Name(name, ast.Store() | ast.Del()) | ast.arg(name):
                bound = {name}
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
                bound = {name}
            case _:
                continue
        if bound & (_RELIED_ON | {function, "*"}):
            return True
    return False


def _cases(statement: ast.stmt, function: str, names: dict[str, Any]) -> Iterable[Case]:
    """The cases of one statement; `names` gains what it binds. Raises NotConstant."""
    match statement:
        case ast.Assert(ast.Constant(value)) if value:
            return []
        case ast.Assert(test):
            return [_case(test, function, names)]
        case ast.Assign([ast.Name(name)], value):
            names[name] = fold(value, names)
            if not unchanging(names[name]):  # a call may change it before it is used again
                del names[name]
            return []
        case ast.For(ast.Name(name), values, body, []):
            return _unrolled(name, fold(values, names), body, function, names)
        case ast.Import() | ast.ImportFrom() | ast.Pass() | ast.Expr(ast.Constant()):
            return []
        case ast.Expr(ast.Name(name)) if hasattr(builtins, name):
            return []
    raise NotConstant("a statement of another kind")


def _unrolled(
    name: str, values: Any, body: Sequence[ast.stmt], function: str, names: dict[str, Any]
) -> Iterator[Case]:
    if not isinstance(values, (list, tuple, range, str)) or len(values) * len(body) > MAX_CASES:
        raise NotConstant("a loop over something else than a short sequence")
    for value in values:
        if not unchanging(value):
            raise NotConstant("a loop over values that a call may change")
        names[name] = value
        for statement in body:
            if not isinstance(statement, ast.Assert):
                raise NotConstant("a loop that does more than assert")
            yield from _cases(statement, function, names)


def _case(test: ast.expr, function: str, names: Mapping[str, Any]) -> Case:
    match test:
        case ast.Compare(left, [ast.Eq()], [right]):
            call, other = _call_first(left, right, function)
            return _plain(Case(_args(call, names), fold(other, names), "equal"))
        case ast.Compare(left, [ast.Is()], [right]):
            call, other = _call_first(left, right, function)
            if isinstance(other, ast.Constant) and _is_single(other.value):
                return _plain(Case(_args(call, names), other.value))
        case ast.Compare(distance, [ast.Lt() | ast.LtE() as sign], [limit]):
            return _near(distance, limit, isinstance(sign, ast.Lt), function, names)
        case ast.Compare(limit, [ast.Gt() | ast.GtE() as sign], [distance]):
            return _near(distance, limit, isinstance(sign, ast.Gt), function, names)
        case ast.Call(ast.Attribute(ast.Name("math"), "isclose"), [left, right], keywords):
            return _isclose(left, right, keywords, function, names)
    raise NotConstant("an assert of another shape")


def _is_single(value: Any) -> bool:
    return value is None or value is True or value is False


def _call_first(left: ast.expr, right: ast.expr, function: str) -> tuple[ast.Call, ast.expr]:
    for call, other in ((left, right), (right, left)):
        match call:
            case ast.Call(ast.Name(name), _, []) if name == function:
                return call, other
    raise NotConstant("neither side is a call of the function")


def _args(call: ast.Call, names: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(fold(arg, names) for arg in call.args)


def _near(
    distance: ast.expr, limit: ast.expr, below: bool, function: str, names: Mapping[str, Any]
) -> Case:
    """abs(f(x) - y) < limit, also with the two sides of the minus swapped; not `below`: <=."""
    match distance:
        case ast.Call(
            ast.Name("abs") | ast.Attribute(ast.Name("math"), "fabs"),
            [ast.BinOp(left, ast.Sub(), right)],
            [],
        ):
            call, other = _call_first(left, right, function)
            expected = _finite(fold(other, names))
            allowed = _finite(fold(limit, names))
            if below and allowed == 0:
                raise NotConstant("a distance below 0, which nothing has")
            return _close(_args(call, names), expected, allowed)
    raise NotConstant("not the distance between a call and a number")


def _isclose(
    left: ast.expr,
    right: ast.expr,
    keywords: Sequence[ast.keyword],
    function: str,
    names: Mapping[str, Any],
) -> Case:
    given = {word.arg: _finite(fold(word.value, names)) for word in keywords}
    if not set(given) <= {"rel_tol", "abs_tol"}:
        raise NotConstant("isclose with other arguments")
    if not 0 <= given.get("rel_tol", 0) <= MAX_REL_TOL or given.get("abs_tol", 0) < 0:
        raise NotConstant("isclose with a tolerance that no case can state")
    call, other = _call_first(left, right, function)
    expected = _finite(fold(other, names))
    allowed = max(given.get("rel_tol", 1e-9) * abs(expected), given.get("abs_tol", 0.0))
    return _close(_args(call, names), expected, allowed)


def _close(args: tuple[Any, ...], expected: int | float, allowed: float) -> Case:
    """The case whose tolerance lets a number be off by exactly `allowed`.

    A case's tolerance is absolute below 1 and relative above: hence the division.
    """
    if allowed < 0:
        raise NotConstant("a negative tolerance")
    return _plain(Case(args, expected, "close", allowed / max(1.0, abs(expected))))


def _finite(value: Any) -> int | float:
    if type(value) not in (int, float) or not abs(value) <= sys.float_info.max:
        raise NotConstant("not a finite number")
    return value


def _plain(case: Case) -> Case:
    try:
        encode(case.args)
        encode(case.expected)
    except ValueError as error:
        raise NotConstant(str(error)) from None
    return case
