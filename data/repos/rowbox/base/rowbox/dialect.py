"""How a table is written."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Dialect:
    """The two characters that mean something."""

    delimiter: str = ","
    quote: str = '"'

    def __post_init__(self):
        if len(self.delimiter) != 1 or len(self.quote) != 1 or self.delimiter == self.quote:
            raise ValueError(f"expected two different characters, got {self}")
