"""Recipes: what a portion needs."""

from dataclasses import dataclass
from fractions import Fraction

from stockroom.units import Quantity, convert


@dataclass(frozen=True)
class Recipe:
    """A name, and item -> quantity for one portion."""

    name: str
    needs: dict

    def times(self, portions):
        """Item -> quantity for that many portions, which may be a fraction."""
        factor = Fraction(portions)
        return {item: Quantity(q.amount * factor, q.unit) for item, q in self.needs.items()}


def can_make(stock, recipe, portions=1):
    """The items of which there is too little, sorted; an empty list = it can be made."""
    short = []
    for item, needed in recipe.times(portions).items():
        there = stock.have(item)
        if there is None or convert(there, needed.unit).amount < needed.amount:
            short.append(item)
    return sorted(short)


def make(stock, recipe, portions=1):
    """Take what the recipe needs; returns the items that are too few, and then takes nothing."""
    short = can_make(stock, recipe, portions)
    if not short:
        for item, needed in recipe.times(portions).items():
            stock.take(item, needed)
    return short
