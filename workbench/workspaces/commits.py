"""A workspace as a git repository of one commit: nothing of what came later can be found in it.

Stage: workspaces. Files (path -> text) go in; the commit's name, or a folder that git and every
tool for repositories can work in, comes out. The commit has a fixed author and date, so equal files
have an equal name everywhere. Left out: executable files, links, an older history.
"""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Mapping
from pathlib import Path

DATE = "2026-01-01T00:00:00Z"
"""Of every commit made here."""
_SECONDS = 1767225600
_AUTHOR = "workbench <workbench@localhost>"
_MESSAGE = "The repository at the start of the task\n"


def commit_id(files: Mapping[str, str]) -> str:
    """The name of the commit that `save_repository` makes of these files: 40 hex digits.

    Computed as git does, without git: the hash of the commit, which holds the hash of the tree.
    """
    return _hash(b"commit", _commit(_tree(dict(files)).hex())).hex()


def save_repository(files: Mapping[str, str], folder: str | Path) -> str:
    """Write the files to a new folder, commit them with git, and return the commit's name.

    There is one commit and no other object: no branch, tag, stash or reflog leads further. Raises
    ValueError if the folder exists and is not empty, RuntimeError if git is not installed.
    """
    folder = Path(folder)
    if folder.exists() and any(folder.iterdir()):
        raise ValueError(f"folder: expected a new or empty one, got {str(folder)!r}")
    for path, text in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.encode())
    folder.mkdir(parents=True, exist_ok=True)
    _git(folder, "init", "--quiet", "--initial-branch=main")
    for key, value in (("core.autocrlf", "false"), ("core.logAllRefUpdates", "false")):
        _git(folder, "config", key, value)
    if files:
        _git(folder, "add", "--force", "--", *files)
    tree = _git(folder, "write-tree").strip().decode()
    made = _git(folder, "hash-object", "-t", "commit", "-w", "--stdin", asked=_commit(tree))
    _git(folder, "update-ref", "refs/heads/main", made.strip().decode())
    return made.strip().decode()


def _commit(tree: str) -> bytes:
    who = f"{_AUTHOR} {_SECONDS} +0000"
    return f"tree {tree}\nauthor {who}\ncommitter {who}\n\n{_MESSAGE}".encode()


def _tree(files: dict[str, str]) -> bytes:
    """The hash of a folder's object: its files and, by their hashes, the folders in it."""
    below: dict[str, dict[str, str]] = {}
    entries = []
    for path, text in files.items():
        name, slash, rest = path.partition("/")
        if slash:
            below.setdefault(name, {})[rest] = text
        else:
            entries.append((name.encode(), b"100644", _hash(b"blob", text.encode())))
    entries += [(name.encode() + b"/", b"40000", _tree(inside)) for name, inside in below.items()]
    lines = (
        mode + b" " + name.rstrip(b"/") + b"\0" + digest for name, mode, digest in sorted(entries)
    )
    return _hash(b"tree", b"".join(lines))


def _hash(kind: bytes, data: bytes) -> bytes:
    return hashlib.sha1(b"%s %d\0%s" % (kind, len(data), data), usedforsecurity=False).digest()


def _git(folder: Path, *arguments: str, asked: bytes = b"") -> bytes:
    command = ["git", "-C", str(folder), *arguments]
    try:
        return subprocess.run(command, input=asked, capture_output=True, check=True).stdout
    except FileNotFoundError:
        raise RuntimeError("save_repository needs git; install it") from None
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode("utf-8", "replace").strip()
        raise RuntimeError(f"git {arguments[0]} in {str(folder)!r} failed: {said}") from None
