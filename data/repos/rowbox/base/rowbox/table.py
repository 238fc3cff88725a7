"""A header and rows that have as many cells."""

from rowbox.cells import join_cells
from rowbox.dialect import Dialect
from rowbox.errors import RowError
from rowbox.guess import guess_dialect
from rowbox.reader import read_rows


class Table:
    """Rows of cells under a header; all cells are text."""

    def __init__(self, header, rows=(), dialect=Dialect()):
        self.header = list(header)
        self.rows = [list(row) for row in rows]
        self.dialect = dialect
        if not self.header:
            raise ValueError("a table needs a column")
        for row in self.rows:
            if len(row) != len(self.header):
                raise ValueError(f"expected {len(self.header)} cells, got {row}")

    @classmethod
    def from_text(cls, text, dialect=None):
        """The table that a text says; raises RowError. dialect: None = guessed."""
        dialect = dialect or guess_dialect(text)
        rows = list(read_rows(text, dialect))
        if not rows:
            raise RowError(1, "no header")
        header = rows[0][1]
        for number, cells in rows[1:]:
            if len(cells) != len(header):
                raise RowError(number, f"{len(cells)} cells, the header has {len(header)}")
        return cls(header, (cells for _, cells in rows[1:]), dialect)

    def to_text(self):
        """The table as text, a line break after every row."""
        rows = [self.header, *self.rows]
        return "".join(join_cells(row, self.dialect) + "\n" for row in rows)

    def column(self, name):
        """The cells below a name; raises KeyError."""
        if name not in self.header:
            raise KeyError(f"no column {name!r}, there are {self.header}")
        at = self.header.index(name)
        return [row[at] for row in self.rows]

    def sorted_by(self, name):
        """The same rows in the order of a column; equal ones stay as they are."""
        keys = self.column(name)
        order = sorted(range(len(keys)), key=keys.__getitem__)
        return Table(self.header, (self.rows[at] for at in order), self.dialect)
