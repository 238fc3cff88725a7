"""Accounts and the entries between them."""

from collections import defaultdict
from dataclasses import dataclass
from decimal import Decimal

from cashbook.money import amount, percent, shared
from cashbook.statement import statement


@dataclass(frozen=True)
class Entry:
    """Money that went from one account to another."""

    source: str
    target: str
    value: Decimal
    text: str = ""


class Ledger:
    """Entries in the order in which they were made."""

    def __init__(self):
        self.entries = []

    def transfer(self, source, target, value, text=""):
        """Move an amount; a negative one goes the other way. Returns the entry."""
        if source == target:
            raise ValueError(f"{source!r} cannot pay itself")
        entry = Entry(source, target, amount(value), text)
        self.entries.append(entry)
        return entry

    def balance(self, account):
        """What an account holds; 0 for one that nothing is known about."""
        return self.balances().get(account, Decimal("0.00"))

    def balances(self):
        """Account -> what it holds; all of them together are 0."""
        totals = defaultdict(lambda: Decimal("0.00"))
        for entry in self.entries:
            totals[entry.source] -= entry.value
            totals[entry.target] += entry.value
        return dict(totals)

    def charge_interest(self, account, bank, rate):
        """Pay `rate` per cent of an account's balance into it; an overdrawn one pays."""
        return self.transfer(bank, account, percent(self.balance(account), rate), "interest")

    def split(self, source, targets, value, text=""):
        """Share an amount between several accounts, to the cent."""
        parts = shared(value, len(targets))
        return [self.transfer(source, *pair, text) for pair in zip(targets, parts)]

    def statement(self, account):
        """The account's entries as a text, with its balance after each."""
        return statement(account, self.entries)
