"""Tables as text."""

from rowbox.dialect import Dialect
from rowbox.errors import RowError
from rowbox.guess import guess_dialect
from rowbox.reader import read_rows
from rowbox.table import Table

__all__ = ["Dialect", "RowError", "Table", "guess_dialect", "read_rows"]
