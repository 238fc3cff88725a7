"""Markdown to plain text."""

from plainmark.convert import convert

__all__ = ["convert"]
