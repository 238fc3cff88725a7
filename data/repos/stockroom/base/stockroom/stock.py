"""Shelves: how much there is of each item."""

from fractions import Fraction

from stockroom.units import Quantity, convert


class Shortage(Exception):
    """Less on the shelf than was wanted."""


class Stock:
    """Item -> how much of it there is, in the unit in which it first came."""

    def __init__(self):
        self._shelves = {}

    def add(self, item, quantity):
        """Put more of an item on its shelf; raises UnitError if it is measured differently."""
        there = self.have(item)
        if there is None:
            self._shelves[item] = quantity
            return
        more = convert(quantity, there.unit)
        self._shelves[item] = Quantity(there.amount + more.amount, there.unit)

    def take(self, item, quantity):
        """Take some of an item; raises Shortage, and takes nothing, if there is less."""
        there = self.have(item)
        if there is None:
            raise Shortage(f"no {item} at all")
        if there.amount < quantity.amount:
            raise Shortage(f"{there} of {item}, {quantity} wanted")
        self._shelves[item] = Quantity(there.amount - quantity.amount, there.unit)

    def have(self, item):
        """How much there is; None for an item that never came."""
        return self._shelves.get(item)

    def items(self):
        """The items' names, sorted; those that are used up too."""
        return sorted(self._shelves)

    def used_up(self):
        """The names of items that came once and are all gone."""
        return [item for item in self.items() if self._shelves[item].amount == Fraction(0)]
