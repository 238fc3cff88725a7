"""What a caller may ask of a sandbox: paths, files and limits that can work.

Stage: sandbox. What the trainer hands in goes in; a ValueError says what was expected, or nothing
happens. Left out: whether arguments are plain data (`encoding`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from workbench.records import Limits
from workbench.sandbox import wire

MIN_MEMORY_MB = 64
"""Below this the interpreter itself does not fit."""
MAX_MEMORY_MB, MAX_LIMIT_S = 1 << 24, 86_400
"""Above these a limit limits nothing, and the system calls that set it overflow."""
MAX_NAME_BYTES = 255
"""Longest name of a file or folder on common systems."""


def check_path(path: str) -> None:
    """Raises ValueError for a path that leaves the workspace or cannot be a file's name."""
    parts = path.split("/")
    if not path or "\0" in path or any(part in ("", ".", "..") for part in parts):
        raise ValueError(f"expected a path inside the workspace such as 'lib.py', got {path!r}")
    if not all(len(os.fsencode(part)) <= MAX_NAME_BYTES for part in parts):
        raise ValueError(f"expected names of at most {MAX_NAME_BYTES} bytes, got {path!r:.80}")


def check_files(files: Mapping[str, str]) -> None:
    """Raises ValueError if a path leaves the workspace or what it leads to is not text."""
    for path, text in files.items():
        check_path(path)
        if not isinstance(text, str):
            raise ValueError(f"files: expected text for {path!r}, got {type(text).__name__}")


def check_limits(limits: Limits) -> None:
    """Raises ValueError for limits that cannot work."""
    seconds = (limits.cpu_s, limits.wall_s)
    if not all(0 < value <= MAX_LIMIT_S for value in seconds) or not (
        isinstance(limits.memory_mb, int) and MIN_MEMORY_MB <= limits.memory_mb <= MAX_MEMORY_MB
    ):
        raise ValueError(
            f"limits: expected cpu_s and wall_s above 0 and at most {MAX_LIMIT_S}, memory_mb a "
            f"whole number from {MIN_MEMORY_MB} to {MAX_MEMORY_MB}, got {limits}"
        )


def too_large_message(files: Mapping[str, str]) -> str:
    """Why a workspace is too large to be run, or ""."""
    size = sum(len(text) for text in files.values() if isinstance(text, str))
    limit = wire.MAX_SOURCE_BYTES
    return f"the workspace has {size} characters, more than {limit}" if size > limit else ""
