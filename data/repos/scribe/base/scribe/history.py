"""What was done and what was undone."""


class History:
    """Edits that were made, the latest last; and those undone since, the next to redo last."""

    def __init__(self):
        self._done = []
        self._undone = []
        self._saved = None

    def perform(self, edit, lines):
        """Make an edit and remember it; one that fails is not remembered."""
        edit.do(lines)
        self.add(edit)

    def add(self, edit):
        """Remember an edit that has been made."""
        self._done.append(edit)

    def undo(self, lines):
        """Take back the latest edit; False if there is none."""
        if not self._done:
            return False
        edit = self._done.pop()
        edit.undo(lines)
        self._undone.append(edit)
        return True

    def redo(self, lines):
        """Make the edit again that was undone last; False if there is none."""
        if not self._undone:
            return False
        edit = self._undone.pop()
        edit.do(lines)
        self._done.append(edit)
        return True

    def mark_saved(self):
        """Remember that the document as it is now has been written to a file."""
        self._saved = self._latest()

    def is_saved(self):
        """Whether the document is as it was when it was last marked, or at the start."""
        return self._latest() is self._saved

    def _latest(self):
        return self._done[-1] if self._done else None
