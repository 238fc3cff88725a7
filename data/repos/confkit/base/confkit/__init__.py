"""Settings from .ini files."""

from confkit.errors import ConfigError
from confkit.reader import load, parse

__all__ = ["ConfigError", "load", "parse"]
