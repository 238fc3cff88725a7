from fractions import Fraction

import pytest

from stockroom import UnitError, convert, quantity


@pytest.mark.parametrize(
    ("said", "unit", "amount"),
    [
        ("1.5 kg", "g", 1500),
        ("250 ml", "l", Fraction(1, 4)),
        ("1/3 dozen", "piece", 4),
        ("16 oz", "lb", 1),
        ("3 g", "g", 3),
    ],
)
def test_quantities_are_converted_exactly(said, unit, amount):
    assert convert(quantity(said), unit).amount == amount


@pytest.mark.parametrize("text", ["kg", "2", "two kg", "2 kg of flour", "-1 kg"])
def test_other_texts_are_no_quantities(text):
    with pytest.raises(ValueError, match="expected an amount and a unit"):
        quantity(text)


def test_unknown_units_are_refused():
    with pytest.raises(UnitError, match="unknown unit 'cup'"):
        quantity("1 cup")


@pytest.mark.parametrize(
    ("said", "text"), [("2.50 kg", "2.5 kg"), ("1/3 l", "0.333 l"), ("10 g", "10 g")]
)
def test_quantities_are_shown_shortly(said, text):
    assert str(quantity(said)) == text
