"""What a request to a sandbox must look like, checked before anything is run.

Stage: sandbox (the trainer's process). Paths, files and limits go in; a ValueError that says what
was expected comes out. Left out: what is in the files.
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
MAX_OUTPUT_KB = 1 << 16
"""The trainer and a server keep this much in memory for each run."""
MAX_STDIN_BYTES = 8 << 20
"""A work folder has room for twice as much."""
MAX_NAME_BYTES = 255
"""Longest name of a file or folder on common systems."""


def check_files(files: Mapping[str, str]) -> None:
    """Raises ValueError unless every path lies in the workspace and has text."""
    for path, text in files.items():
        check_path(path)
        if not isinstance(text, str):
            raise ValueError(f"files: expected text for {path!r}, got {type(text).__name__}")


def check_folders(files: Mapping[str, str]) -> None:
    """Raises ValueError if a path is both a file and the folder of another."""
    for path in files:
        parts = path.split("/")
        for end in range(1, len(parts)):
            if (folder := "/".join(parts[:end])) in files:
                raise ValueError(
                    f"files: {folder!r} is a file and the folder of {path!r}; drop one"
                )


def check_path(path: str) -> None:
    """Raises ValueError unless `path` lies in the workspace."""
    parts = path.split("/")
    if not path or "\0" in path or any(part in ("", ".", "..") for part in parts):
        raise ValueError(f"expected a path inside the workspace such as 'lib.py', got {path!r}")
    if not all(len(os.fsencode(part)) <= MAX_NAME_BYTES for part in parts):
        raise ValueError(f"expected names of at most {MAX_NAME_BYTES} bytes, got {path!r:.80}")


def check_limits(limits: Limits) -> None:
    """Raises ValueError unless every limit can be set and limits something."""
    memory_mb, output_kb = limits.memory_mb, limits.output_kb
    if not (
        all(0 < seconds <= MAX_LIMIT_S for seconds in (limits.cpu_s, limits.wall_s))
        and isinstance(memory_mb, int) and MIN_MEMORY_MB <= memory_mb <= MAX_MEMORY_MB
        and isinstance(output_kb, int) and 0 <= output_kb <= MAX_OUTPUT_KB
    ):  # fmt: skip
        raise ValueError(
            f"limits: expected cpu_s and wall_s above 0 and at most {MAX_LIMIT_S}, memory_mb a "
            f"whole number from {MIN_MEMORY_MB} to {MAX_MEMORY_MB}, output_kb one from 0 to "
            f"{MAX_OUTPUT_KB}, got {limits}"
        )


def check_stdin(stdin: str) -> None:
    """Raises ValueError unless `stdin` is text that fits into a work folder."""
    if not isinstance(stdin, str):
        raise ValueError(f"stdin: expected text, got {type(stdin).__name__}")
    if (size := len(stdin.encode("utf-8", "surrogatepass"))) > MAX_STDIN_BYTES:
        raise ValueError(f"stdin: expected at most {MAX_STDIN_BYTES} bytes, got {size}")


def too_large(files: Mapping[str, str]) -> str:
    """Why a workspace is too large to be run, or ""."""
    size = sum(len(text) for text in files.values() if isinstance(text, str))
    limit = wire.MAX_SOURCE_BYTES
    return f"the workspace has {size} characters, more than {limit}" if size > limit else ""
