"""Asserts become cases only where case and assert mean exactly the same."""

import ast
import math
import time

import pytest

from workbench.records import Case
from workbench.tasks.formats.asserts import convert
from workbench.tasks.formats.folding import NotConstant, fold


def value(text, **names):
    return fold(ast.parse(text, mode="eval").body, names)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-3", -3),
        ("+2.5", 2.5),
        ("2 ** 10", 1024),
        ("[1] * 3 + [2]", [1, 1, 1, 2]),
        ("7 // 2 - 7 % 2", 2),
        ("2.0 / 4", 0.5),
        ("'ab' + 'c' * 2", "abcc"),
        ("(1, -2)", (1, -2)),
        ("{1, 2}", {1, 2}),
        ("{'a': [1], -1: None}", {"a": [1], -1: None}),
        ("b'x'", b"x"),
        ("1 + 2j", 1 + 2j),
        ("float('-inf')", -math.inf),
        ("math.pi", math.pi),
        ("set()", set()),
        ("list(range(3))", [0, 1, 2]),
        ("frozenset([1])", frozenset({1})),
        ("str(12)", "12"),
        ("x + 1", 6),
    ],
)
def test_constant_expressions_have_pythons_value(text, expected):
    found = value(text, x=5)
    assert found == expected and type(found) is type(expected)


def test_nan_folds_to_nan():
    assert math.isnan(value("float('nan')")) and math.isnan(value("math.nan"))


@pytest.mark.parametrize(
    "text",
    [
        "y", "f(1)", "[x for x in (1,)]", "'%d' % 3", "[1][0]", "'a'.upper()", "(lambda: 1)()",
        "1 / 0", "10.0 ** 400", "9 ** 9 ** 9", "'x' * 10 ** 9", "[0] * (10 ** 6)", "...",
        "[[0] * 2] * 2", "2 * ([],)", "[{}] * 2", "[[[0] * 1000] * 1000] * 1000",
        "((((0,) * 1000,) * 1000,) * 1000,)", "list({1, 2})", "str([1])", "f'{1}'", "{[1]}",
        "{**{}}", "[*(1, 2)]", "1 if 1 else 2",
        "__import__('os')", "list(range(10 ** 9))", "'a' - 'b'", "1 < 2", "str(10 ** 5000)",
    ],
)  # fmt: skip
def test_everything_else_is_left_alone(text):
    with pytest.raises(NotConstant):
        value(text)


def test_a_sum_of_thousands_of_terms_is_left_alone():
    with pytest.raises(NotConstant):
        value("1" + " + 1" * 2000)


def one(text):
    found = convert(ast.parse(text).body, "f")
    assert found.left == () and len(found.cases) == 1, found
    return found.cases[0]


@pytest.mark.parametrize(
    ("text", "case"),
    [
        ("assert f(1, [2]) == (3,)", Case((1, [2]), (3,), "equal")),
        ("assert 'x' == f()", Case((), "x", "equal")),
        ("assert f(2) == True, 'message ' + str(f(2))", Case((2,), True, "equal")),
        ("assert f(2) is True", Case((2,), True, "same")),
        ("assert None is f(2)", Case((2,), None, "same")),
        ("assert abs(f(1) - 0.25) < 1e-3", Case((1,), 0.25, "close", 1e-3)),
        ("assert abs(0.25 - f(1)) <= 1e-3", Case((1,), 0.25, "close", 1e-3)),
        ("assert 1e-3 > abs(f(1) - 0.25)", Case((1,), 0.25, "close", 1e-3)),
        # a case's tolerance is relative above 1: 0.5 / 4 of 4 is 0.5 again
        ("assert math.fabs(f(1) - 4) < 0.5", Case((1,), 4, "close", 0.125)),
        ("assert abs(f(1) - 2) <= 0", Case((1,), 2, "close", 0.0)),
        ("assert math.isclose(f(1), 4.0, rel_tol=1e-3)", Case((1,), 4.0, "close", 1e-3)),
        ("assert math.isclose(f(1), 0.5, rel_tol=1e-3)", Case((1,), 0.5, "close", 0.0005)),
        ("assert math.isclose(2.0, f(1), abs_tol=0.5)", Case((1,), 2.0, "close", 0.25)),
        ("x = 3\nassert f(x) == -x", Case((3,), -3, "equal")),
    ],
)
def test_an_assert_becomes_the_case_that_says_the_same(text, case):
    assert one(text) == case
    assert one(text).expected is case.expected or type(one(text).expected) is type(case.expected)


def test_a_loop_over_constants_is_unrolled():
    found = convert(ast.parse("for x in range(2, 4):\n    assert f(x, x + 1) == str(x)").body, "f")
    assert found.cases == (Case((2, 3), "2", "equal"), Case((3, 4), "3", "equal"))
    assert found.left == ()


def test_what_asserts_nothing_is_dropped():
    text = "import math\n'''words'''\nM = {'a': 1}\npass\nprint\nassert True, 'x'\nassert 1"
    assert convert(ast.parse(text).body, "f").cases == ()
    assert convert(ast.parse(text).body, "f").left == ()


@pytest.mark.parametrize(
    "text",
    [
        "assert f(1)",  # [0] would do as well as True
        "assert not f(1)",
        "assert f(1) != 2",
        "assert f(1) in (1, 2)",
        "assert f(x=1) == 2",
        "assert f(*[1]) == 2",
        "assert f(f(1)) == 2",
        "assert f(1) == f(2)",
        "assert f(1) is 1",
        "assert set(f(1)) == {1}",
        "assert f(1) == 2 == 2",
        "assert f(1) == 2 and f(2) == 3",
        "assert f(1) < 2",
        "assert abs(f(1) - 'a') < 1",
        "assert abs(f(1) - float('inf')) < 1",
        "assert abs(f(1) - 10 ** 400) < 1",
        "assert math.isclose(f(1), 2, rel_tol=x)",
        "assert math.isclose(f(1), 100, rel_tol=0.1)",  # of the larger: 111 would do, 110 is not it
        "assert math.isclose(f(1), 2, rel_tol=-1)",  # raises
        "assert math.isclose(f(1), 2, abs_tol=-1)",
        "assert math.isclose(f(1), 2, tolerance=1e-3)",
        "assert abs(f(1) - 2) < 0",
        "assert 0 > abs(f(1) - 2)",
        "assert abs(f(1) - 2) <= -1",
        "assert f([[0]] * 2) == 1",  # one list twice
        "assert False",
        "assert g(1) == 2",
        "f(1)",
        "for x in f(1):\n    assert f(x) == x",
        "for x in range(10 ** 30):\n    assert f(x) == x",
        "for x in [[1]]:\n    assert f(x) == x",
        "for x in range(3):\n    print(x)\n    assert f(x) == x",
        "for x in (1,):\n    assert f(x) == x\nelse:\n    assert f(2) == 2",
        "with open('x'):\n    assert f(1) == 1",
        "assert f(range(3)) == 3",
        "assert f(...) == 3",
    ],
)
def test_asserts_that_no_case_states_exactly_are_left(text):
    found = convert(ast.parse(text).body, "f")
    assert found.cases == () and len(found.left) == 1


def test_a_name_bound_to_a_list_is_not_followed_because_a_call_may_change_it():
    found = convert(ast.parse("xs = [2, 1]\nassert f(xs) == 1\nassert f(3) == 3").body, "f")
    assert found.cases == (Case((3,), 3, "equal"),) and found.left == ("assert f(xs) == 1",)


def test_a_name_is_forgotten_after_a_statement_that_is_not_understood():
    found = convert(ast.parse("x = 1\nif True:\n    x = 2\nassert f(x) == 1").body, "f")
    assert found.cases == () and len(found.left) == 2


@pytest.mark.parametrize(
    "first",
    ["f = g", "def f(): pass", "abs = len", "from m import *", "import x as str", "return",
     "import math as abs", "import sys as math", "import math as f", "for math in (): pass",
     "[0 for float in ()]", "lambda list: 1"],
)  # fmt: skip
def test_a_text_that_changes_what_names_mean_is_left_whole(first):
    found = convert(ast.parse(f"{first}\nassert f(1) == 1").body, "f")
    assert found.cases == () and len(found.left) == 2


@pytest.mark.parametrize("first", ["import math", "import sys, math", "import math as m"])
def test_importing_math_changes_nothing(first):
    assert convert(ast.parse(f"{first}\nassert f(math.inf) == 1").body, "f").left == ()


def test_a_loop_counts_the_asserts_of_its_body():
    loop = "for x in range({}):\n    assert f(x) == 1\n    assert f(-x) == 1"
    assert len(convert(ast.parse(loop.format(5000)).body, "f").cases) == 10_000
    assert convert(ast.parse(loop.format(5001)).body, "f").cases == ()


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "assert f([[[0] * 1000] * 1000] * 1000) == 1",
        "for x in range(10000):\n    assert f(x, [0] * 90000) == 1",
        "x = (0,) * 90000\n" + "assert f(x) == 1\n" * 1000,
        "x = (0,) * 90000\nassert f((x,) * 90000) == 1",
        "x = (0, 0)\n" + "x = (x, x)\n" * 60 + "assert f(x) == 1",
    ],
    ids=["nested", "loop", "lines", "squared", "doubling"],
)
def test_a_few_lines_that_state_billions_of_values_are_left(text):
    started = time.perf_counter()
    found = convert(ast.parse(text).body, "f")
    assert found.cases == () and found.left
    assert time.perf_counter() - started < 20
