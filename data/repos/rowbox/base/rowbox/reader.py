"""From text to rows."""

from rowbox.cells import split_cells
from rowbox.dialect import Dialect
from rowbox.errors import RowError


def read_rows(text, dialect=Dialect()):
    """Yield (number of its line, cells) for each row; raises RowError."""
    for number, line in enumerate(text.splitlines(), 1):
        if not line:
            continue
        try:
            yield number, split_cells(line, dialect)
        except ValueError as error:
            raise RowError(number, str(error)) from None
