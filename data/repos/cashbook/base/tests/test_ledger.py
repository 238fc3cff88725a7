from decimal import Decimal

import pytest

from cashbook import Ledger


@pytest.fixture
def book():
    book = Ledger()
    book.transfer("owner", "till", "250.00", "float")
    return book


def test_money_moves_and_none_is_made(book):
    book.transfer("till", "supplier", "100.10")
    assert book.balance("till") == Decimal("149.90")
    assert sum(book.balances().values()) == 0


def test_nobody_pays_himself(book):
    with pytest.raises(ValueError, match="'till' cannot pay itself"):
        book.transfer("till", "till", "1.00")


def test_interest_is_paid_on_the_balance(book):
    book.charge_interest("till", "bank", "1.5")
    assert book.balance("till") == Decimal("253.75")


def test_a_bill_is_shared_to_the_cent(book):
    book.split("till", ["ada", "bob", "cem"], "100.00")
    assert [book.balance(name) for name in ("ada", "bob", "cem")] == [
        Decimal("33.34"),
        Decimal("33.33"),
        Decimal("33.33"),
    ]


def test_a_statement_has_the_balance_after_each_entry(book):
    book.transfer("till", "supplier", "1200.5", "flour")
    assert book.statement("till").splitlines() == [
        "     +250.00      250.00  float",
        "   -1,200.50     -950.50  flour",
    ]
