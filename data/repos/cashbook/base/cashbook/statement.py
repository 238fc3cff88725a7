"""A list of an account's entries for people."""

from decimal import Decimal

WIDTH = 12


def statement(account, entries):
    """One line for each entry of the account: what it changed, the balance, the text."""
    lines, balance = [], Decimal("0.00")
    for entry in entries:
        if account not in (entry.source, entry.target):
            continue
        change = entry.value if account == entry.target else -entry.value
        balance += change
        text = entry.text or f"{entry.source} -> {entry.target}"
        lines.append(f"{change:>+{WIDTH},.2f}{balance:>{WIDTH},.2f}  {text}")
    return "\n".join(lines)
