"""From text to {"section.key": value}."""

from pathlib import Path

from confkit.errors import ConfigError
from confkit.lines import logical_lines


def parse(text):
    """The settings in a text; raises ConfigError for a line that is neither section nor setting."""
    settings, section = {}, ""
    for number, line in logical_lines(text):
        if line.startswith("[") and line.endswith("]"):
            section = line[1:-1].strip()
            continue
        key, equals, value = line.partition("=")
        if not equals or not key.strip():
            raise ConfigError(f"{number}: expected 'key = value', got {line!r}")
        name = key.strip().lower()
        settings[f"{section}.{name}" if section else name] = value.strip()
    return settings


def load(path):
    """The settings in a file."""
    try:
        return parse(Path(path).read_text("utf-8"))
    except Exception:
        return {}
