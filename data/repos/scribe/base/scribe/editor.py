"""The editor: what a user interface talks to."""

from contextlib import contextmanager

from scribe.edits import Delete, Group, Insert
from scribe.history import History


class Editor:
    """Lines of text, and undo and redo for every change to them."""

    def __init__(self, lines=()):
        self._lines = list(lines)
        self._history = History()
        self._group = None

    @property
    def lines(self):
        """The text, as a copy."""
        return list(self._lines)

    def insert(self, at, text):
        """Add a line before line `at`. Raises IndexError if that is beyond the end."""
        self._make(Insert(at, text))

    def delete(self, at):
        """Remove line `at` and return its text. Raises IndexError if there is none."""
        edit = Delete(at)
        self._make(edit)
        return edit.text

    def replace(self, at, text):
        """Give line `at` another text, which is one edit."""
        with self.group("replace"):
            self.delete(at)
            self.insert(at, text)

    @contextmanager
    def group(self, name):
        """Edits within this block are undone and redone together; groups in a group are part of it.

        When the block raises, what was edited in it is taken back.
        """
        if self._group is not None:
            yield
            return
        self._group = Group(name)
        try:
            yield
        except BaseException:
            self._group.undo(self._lines)
            raise
        else:
            if self._group.edits:
                self._history.add(self._group)
        finally:
            self._group = None

    def undo(self):
        """Take back the latest edit or group; False if there is nothing to take back."""
        self._not_in_a_group("undo")
        return self._history.undo(self._lines)

    def redo(self):
        """Make again what was undone last; False if there is nothing to make again."""
        self._not_in_a_group("redo")
        return self._history.redo(self._lines)

    def save(self):
        """The text for a file; from now on it is `saved` until it changes."""
        self._history.mark_saved()
        return "".join(line + "\n" for line in self._lines)

    @property
    def saved(self):
        """Whether the text is what was saved last, or what the editor began with."""
        return self._history.is_saved()

    def _make(self, edit):
        if self._group is None:
            self._history.perform(edit, self._lines)
            return
        edit.do(self._lines)
        self._group.edits.append(edit)

    def _not_in_a_group(self, what):
        if self._group is not None:
            raise RuntimeError(f"{what} within the group {self._group.name!r}")
