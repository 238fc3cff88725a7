"""A text editor's model: lines, edits and their history."""

from scribe.editor import Editor

__all__ = ["Editor"]
