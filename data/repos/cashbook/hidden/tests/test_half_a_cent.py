from decimal import Decimal

import pytest

from cashbook import Ledger, amount, converted, percent
from cashbook.money import shared


@pytest.mark.parametrize(
    ("value", "rate", "cents"),
    [
        ("50.00", "0.25", "0.13"),
        ("0.50", "1", "0.01"),
        ("20.50", "10", "2.05"),
        ("0.50", "5", "0.03"),
        ("4.50", "2.5", "0.11"),
    ],
)
def test_half_a_cent_goes_up(value, rate, cents):
    assert percent(value, rate) == Decimal(cents)


@pytest.mark.parametrize(
    ("value", "rate", "cents"),
    [("-50.00", "0.25", "-0.13"), ("-0.50", "1", "-0.01"), ("-25.00", "1.5", "-0.38")],
)
def test_of_a_debt_it_goes_down(value, rate, cents):
    assert percent(value, rate) == Decimal(cents)


def test_so_it_does_in_another_currency():
    assert converted("0.25", "0.5") == Decimal("0.13")
    assert converted("-0.25", "0.5") == Decimal("-0.13")
    assert converted("1.00", "1.005") == Decimal("1.01")


@pytest.mark.parametrize(
    ("value", "rate", "cents"),
    [
        ("10.00", "1.2499", "0.12"),
        ("10.00", "1.2501", "0.13"),
        ("10.00", "1.01", "0.10"),
        ("-10.00", "1.2499", "-0.12"),
        ("-10.00", "1.29", "-0.13"),
        ("0.00", "7", "0.00"),
    ],
)
def test_less_and_more_than_half_go_to_the_nearest(value, rate, cents):
    assert percent(value, rate) == Decimal(cents)


def test_a_cent_is_still_what_amounts_end_with():
    assert str(percent("50.00", "0.25")) == "0.13"
    assert str(percent("200.00", "10")) == "20.00"
    assert str(amount(3)) == "3.00"


def test_large_amounts_are_exact():
    assert percent("123456789012.50", "1") == Decimal("1234567890.13")
    assert percent("90071992547409.93", "100") == Decimal("90071992547409.93")


def test_an_overdrawn_account_pays_what_a_full_one_gets():
    book = Ledger()
    book.transfer("bank", "saver", "50.00")
    book.transfer("debtor", "bank", "50.00")
    book.charge_interest("saver", "bank", "0.25")
    book.charge_interest("debtor", "bank", "0.25")
    assert book.balance("saver") == Decimal("50.13")
    assert book.balance("debtor") == Decimal("-50.13")
    assert sum(book.balances().values()) == 0


def test_a_shared_amount_still_adds_up():
    assert shared("0.05", 2) == [Decimal("0.03"), Decimal("0.02")]
    assert shared("-0.05", 2) == [Decimal("-0.03"), Decimal("-0.02")]
