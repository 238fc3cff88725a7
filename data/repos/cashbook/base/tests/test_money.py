from decimal import Decimal

import pytest

from cashbook import amount, converted, percent


@pytest.mark.parametrize("said", ["12.5", "12.50", Decimal("12.5")])
def test_an_amount_has_two_places(said):
    assert str(amount(said)) == "12.50"


@pytest.mark.parametrize("said", ["twelve", "0.125", 12.5, "NaN"], ids=repr)
def test_other_things_are_no_amounts(said):
    with pytest.raises(ValueError):
        amount(said)


def test_parts_of_a_cent_are_rounded_to_the_nearest():
    assert percent("10.00", "1.24") == Decimal("0.12")
    assert percent("10.00", "1.26") == Decimal("0.13")


def test_half_a_cent_is_rounded_up():
    assert percent("25.00", "1.5") == Decimal("0.38")


def test_another_currency():
    assert converted("200.00", "1.08765") == Decimal("217.53")
