"""Between a line of text and its cells."""


def split_cells(line, dialect):
    """The cells of a line; raises ValueError if its quotes make no sense."""
    cells, at = [], 0
    while True:
        if line.startswith(dialect.quote, at):
            cell, at = _quoted(line, at + 1, dialect)
        else:
            end = line.find(dialect.delimiter, at)
            end = len(line) if end < 0 else end
            cell, at = line[at:end], end
        cells.append(cell)
        if at == len(line):
            return cells
        if line[at] != dialect.delimiter:
            raise ValueError(f"expected {dialect.delimiter!r} after a quoted cell")
        at += 1


def _quoted(line, at, dialect):
    """(the cell whose opening quote is before `at`, where it ends)"""
    text = ""
    while True:
        end = line.find(dialect.quote, at)
        if end < 0:
            raise ValueError("a quote is not closed")
        text += line[at:end]
        if not line.startswith(dialect.quote * 2, end):
            return text, end + 1
        text += dialect.quote
        at = end + 2


def join_cells(cells, dialect):
    """The line that says these cells."""
    if list(cells) == [""]:
        return dialect.quote * 2  # a blank line would say nothing
    return dialect.delimiter.join(_written(cell, dialect) for cell in cells)


def _written(cell, dialect):
    if dialect.delimiter in cell or cell.startswith(dialect.quote):
        return dialect.quote + cell.replace(dialect.quote, dialect.quote * 2) + dialect.quote
    return cell
