"""What a request to a sandbox must look like, checked before anything is run.

Stage: sandbox (the trainer's process). Paths, files and limits go in; a ValueError that says what
was expected comes out for what the caller got wrong, a reason for what is wrong with a program's
files. Left out: what is in the files.
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
MAX_PATH_BYTES = 1000
"""Longest path in a workspace: a quarter of what Linux takes, and not too deep to be made."""
MAX_FILES = 900
"""Most files and folders of a workspace: a work folder has room for 1000, the program's own too."""


def unfit(files: Mapping[str, str]) -> str:
    """Why a run cannot be given this workspace, or "". Whoever wrote the files is to blame.

    Raises ValueError for what is not a mapping from text to text, which no program can bring about.
    """
    for path, text in files.items():
        if not isinstance(path, str) or not isinstance(text, str):
            kinds = f"{type(path).__name__} {path!r:.80} and {type(text).__name__}"
            raise ValueError(f"files: expected paths and texts, got {kinds}")
    folders: set[str] = set()
    try:
        for path in files:
            check_path(path)
            folders.update(path[:at] for at, letter in enumerate(path) if letter == "/")
            if len(files) + len(folders) > MAX_FILES:
                return f"the workspace has more than {MAX_FILES} files and folders"
    except ValueError as error:
        return str(error)
    for path in files:
        if path in folders:
            return f"{path!r:.80} is a file and the folder of other files; drop one"
    size, limit = sum(map(_num_bytes, files.values())), wire.MAX_SOURCE_BYTES
    return f"the workspace has {size} bytes, more than {limit}" if size > limit else ""


def _num_bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def check_path(path: str) -> None:
    """Raises ValueError unless `path` lies in the workspace."""
    parts = path.split("/")
    if not path or "\0" in path or any(part in ("", ".", "..") for part in parts):
        raise ValueError(f"expected a path inside the workspace such as 'lib.py', got {path!r:.80}")
    try:
        size = max(len(os.fsencode(part)) for part in parts)
    except UnicodeEncodeError:
        raise ValueError(f"expected names that UTF-8 can write, got {path!r:.80}") from None
    if size > MAX_NAME_BYTES:
        raise ValueError(f"expected names of at most {MAX_NAME_BYTES} bytes, got {path!r:.80}")
    if len(os.fsencode(path)) > MAX_PATH_BYTES:
        raise ValueError(f"expected paths of at most {MAX_PATH_BYTES} bytes, got {path!r:.80}")


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
