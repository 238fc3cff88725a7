"""A repository on the disk as a workspace: the files of one commit, and nothing that came later.

Stage: workspaces. A folder and a commit go in, path -> text comes out. The `.git` folder is never
part of it: agents have been seen to find the fix in the history after the base commit. Left out:
files that are not UTF-8 text (a warning names them), links, submodules.
"""

from __future__ import annotations

import os
import subprocess
import warnings
from collections.abc import Iterator
from pathlib import Path

SKIPPED_FOLDERS = frozenset({".git", "__pycache__", ".pytest_cache", ".venv", "node_modules"})
"""Not looked into where there is no history that says which files belong to the repository."""
_FILE_MODES = (b"100644", b"100755")


def load_repository(folder: str | Path, base_commit: str | None = None) -> dict[str, str]:
    """The text files of a repository at `base_commit`: path -> text.

    Args:
        folder: with a history, or just files.
        base_commit: a commit's name; None = the commit that is checked out, or all files of a
            folder without a history. What is not committed is left out where there is one.
    Raises:
        ValueError: no such folder or commit; a commit asked for where there is no history.
        RuntimeError: git is needed and not installed.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise ValueError(f"folder: expected a folder, got {str(folder)!r}")
    if (folder / ".git").exists():
        found = _committed(folder, "HEAD" if base_commit is None else base_commit)
    elif base_commit is None:
        found = _lying_there(folder)
    else:
        raise ValueError(f"base_commit: {str(folder)!r} has no history (no .git in it)")
    files, skipped = {}, []
    for path, data in sorted(found):
        try:
            files[path] = data.decode("utf-8")
        except UnicodeDecodeError:
            skipped.append(path)
    if skipped:
        warnings.warn(f"left out, not UTF-8 text: {', '.join(skipped)[:300]}", stacklevel=2)
    return files


def _lying_there(folder: Path) -> Iterator[tuple[str, bytes]]:
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in SKIPPED_FOLDERS]
        for path in (Path(parent) / name for name in names):
            if path.is_file() and not path.is_symlink():
                yield path.relative_to(folder).as_posix(), path.read_bytes()


def _committed(folder: Path, commit: str) -> Iterator[tuple[str, bytes]]:
    name = _git(folder, "rev-parse", "--verify", "--end-of-options", f"{commit}^{{commit}}")
    blobs = {}
    for entry in _git(folder, "ls-tree", "-r", "-z", name.decode().strip()).split(b"\0"):
        about, _, path = entry.partition(b"\t")
        mode, _, kind_and_id = about.partition(b" ")
        if mode in _FILE_MODES:
            blobs[os.fsdecode(path)] = kind_and_id.split(b" ")[1]
    said = _git(folder, "cat-file", "--batch", asked=b"".join(b + b"\n" for b in blobs.values()))
    at = 0
    for path in blobs:  # for each blob "ID blob SIZE", its bytes, a line break
        start = said.index(b"\n", at) + 1
        end = start + int(said[at:start].split()[2])
        yield path, said[start:end]
        at = end + 1


def _git(folder: Path, *arguments: str, asked: bytes = b"") -> bytes:
    command = ["git", "-c", "safe.directory=*", "-C", str(folder), *arguments]
    try:
        done = subprocess.run(command, input=asked, capture_output=True, check=False)
    except FileNotFoundError:
        raise RuntimeError("load_repository needs git to read a commit; install it") from None
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise ValueError(f"git {arguments[0]} in {str(folder)!r} failed: {said}")
    return done.stdout
