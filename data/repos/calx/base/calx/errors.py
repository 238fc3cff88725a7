"""What can go wrong."""


class CalcError(ValueError):
    """An expression without a value; says at which column, counted from 1."""

    def __init__(self, column, why):
        super().__init__(f"column {column}: {why}")
        self.column = column
