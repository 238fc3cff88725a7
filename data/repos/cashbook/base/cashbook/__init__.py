"""A double-entry ledger in exact cents."""

from cashbook.ledger import Entry, Ledger
from cashbook.money import amount, converted, percent

__all__ = ["Entry", "Ledger", "amount", "converted", "percent"]
