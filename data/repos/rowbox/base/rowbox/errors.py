"""What can go wrong."""


class RowError(ValueError):
    """A row that cannot be understood; `line` counts from 1."""

    def __init__(self, line, why):
        super().__init__(f"line {line}: {why}")
        self.line = line
