"""Items on shelves, in units."""

from stockroom.recipes import Recipe, can_make, make
from stockroom.stock import Shortage, Stock
from stockroom.units import Quantity, UnitError, convert, quantity

__all__ = [
    "Quantity",
    "Recipe",
    "Shortage",
    "Stock",
    "UnitError",
    "can_make",
    "convert",
    "make",
    "quantity",
]
