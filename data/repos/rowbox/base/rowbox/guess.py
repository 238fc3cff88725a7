"""Which delimiter a text uses."""

from rowbox.cells import split_cells
from rowbox.dialect import Dialect

DELIMITERS = ",;\t|"
NUM_ROWS = 5


def guess_dialect(text):
    """The dialect in which the first rows all have the same number of cells, the most possible;
    that of commas if no delimiter makes two columns."""
    lines = [line for line in text.splitlines() if line][:NUM_ROWS]
    most, found = 1, Dialect()
    for delimiter in DELIMITERS:
        dialect = Dialect(delimiter)
        try:
            sizes = {len(split_cells(line, dialect)) for line in lines}
        except ValueError:
            continue
        if len(sizes) == 1 and max(sizes) > most:
            most, found = max(sizes), dialect
    return found
