from fractions import Fraction

import pytest

from calx import evaluate


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("7 - 3 - 2", 2),
        ("2 * 3 ^ 2", 18),
        ("-2 ^ 2", -4),
        ("2 ^ -1", Fraction(1, 2)),
        ("0.1 + 0.2", Fraction(3, 10)),
        ("1 - -1", 2),
        ("max(1, 2 * 3, 5) - min(4, 2)", 4),
        ("floor(7 / 2)", 3),
        ("abs(-3)", 3),
    ],
)
def test_expressions_have_the_value_they_have_on_paper(text, value):
    assert evaluate(text) == value


def test_variables_are_filled_in():
    assert evaluate("(1/3 + 1/6) * width", width=4) == 2
    assert evaluate("a * a_1", a=2, a_1="1/2") == 1
