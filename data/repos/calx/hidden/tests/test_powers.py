from fractions import Fraction

import pytest

from calx import CalcError, evaluate


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2 ^ 3 ^ 2", 512),
        ("2 ^ 2 ^ 3", 256),
        ("3 ^ 1 ^ 5", 3),
        ("2 ^ 1 ^ 2 ^ 3", 2),
        ("(1/2) ^ 2 ^ 3", Fraction(1, 256)),
        ("-2 ^ 3 ^ 2", -512),
        ("2 * 2 ^ 3 ^ 2 + 1", 1025),
        ("a ^ b ^ c", 512),
        ("max(2 ^ 3 ^ 2, 65)", 512),
    ],
)
def test_powers_of_powers_group_from_the_right(text, value):
    assert evaluate(text, a=2, b=3, c=2) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("(2 ^ 3) ^ 2", 64),
        ("2 ^ (3 ^ 2)", 512),
        ("((2 ^ 3)) ^ 2", 64),
        ("2 ^ 3 * 2 ^ 2", 32),
        ("2 ^ -1 ^ 2", Fraction(1, 2)),
        ("(-2) ^ 2", 4),
        ("2 ^ 3 - 2 ^ 2", 4),
        ("2 ^ (1 + 1) ^ 1", 4),
    ],
)
def test_parentheses_and_other_operators_count_as_before(text, value):
    assert evaluate(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("10 - 3 - 2", 5),
        ("8 / 4 / 2", 1),
        ("8 / 4 * 2", 4),
        ("8 - 4 + 2", 6),
        ("2 - 3 * 4 / 6 - 1", -1),
    ],
)
def test_the_others_group_from_the_left(text, value):
    assert evaluate(text) == value


def test_a_tower_that_is_too_high_is_an_error_at_its_sign():
    with pytest.raises(CalcError, match="column 3: the exponent 387420489 is too large"):
        evaluate("9 ^ 9 ^ 9")
    assert evaluate("1 ^ 9 ^ 3") == 1


def test_a_power_is_still_an_error_where_it_was():
    with pytest.raises(CalcError, match="column 8: expected a value, got '\\^'"):
        evaluate("2 ^ 3 ^^ 2")
    with pytest.raises(CalcError, match="column 3: division by zero"):
        evaluate("0 ^ -1 ^ 3")
