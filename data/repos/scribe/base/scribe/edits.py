"""Edits: each one can be done and taken back."""

from dataclasses import dataclass, field


@dataclass
class Insert:
    """A new line before line `at`; `at` may be the number of lines."""

    at: int
    text: str

    def do(self, lines):
        """Change the list of lines."""
        if not 0 <= self.at <= len(lines):
            raise IndexError(f"cannot insert at line {self.at} of {len(lines)}")
        lines.insert(self.at, self.text)

    def undo(self, lines):
        """Change it back."""
        del lines[self.at]


@dataclass
class Delete:
    """A line less; `text` is what it said, once that is done."""

    at: int
    text: str = ""

    def do(self, lines):
        """Change the list of lines."""
        if not 0 <= self.at < len(lines):
            raise IndexError(f"there is no line {self.at} of {len(lines)}")
        self.text = lines.pop(self.at)

    def undo(self, lines):
        """Change it back."""
        lines.insert(self.at, self.text)


@dataclass
class Group:
    """Several edits that are one to the user."""

    name: str
    edits: list = field(default_factory=list)

    def do(self, lines):
        """Change the list of lines."""
        for edit in self.edits:
            edit.do(lines)

    def undo(self, lines):
        """Change it back."""
        for edit in reversed(self.edits):
            edit.undo(lines)
