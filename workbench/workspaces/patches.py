"""Unified diffs applied to a workspace: what fits is done exactly, what does not says why.

Stage: workspaces. Files (path -> text) and the text of a patch go in, new files come out. Reads
what `diff -u` and `git diff` write: changed, new, deleted and renamed files. As `git apply`, it
takes a hunk that fits elsewhere than its line number says, and none that fits only nearly.
Left out: binary changes, copies, file modes, quoted paths.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

NOWHERE = "/dev/null"
_GIT = re.compile(r"diff --git a/(.+ b/.+)")
_QUOTED = re.compile(r'diff --git (a/.+ )?"[ab]/.+')
_HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+\d+(?:,(\d{1,9}))? @@.*")
_SHOWN_CHARS = 60


class PatchError(ValueError):
    """A patch that cannot be read or does not fit; the message says which file, hunk and line."""


def apply_patch(files: Mapping[str, str], diff: str) -> dict[str, str]:
    """The workspace after the patch; `files` stays as it is. A blank patch changes nothing.

    Raises:
        PatchError: the text is no unified diff; a hunk does not fit; a file that must exist does
            not, or the other way round; a path leaves the workspace. Nothing is applied then.

    >>> patch = "--- a/lib.py\\n+++ b/lib.py\\n@@ -1 +1 @@\\n-x = 1\\n+x = 2\\n"
    >>> apply_patch({"lib.py": "x = 1\\n"}, patch)
    {'lib.py': 'x = 2\\n'}
    """
    found = dict(files)
    for change in _read(diff):
        _apply(found, change)
    for path in found:
        parts = path.split("/")
        for end in range(1, len(parts)):
            if (folder := "/".join(parts[:end])) in found:
                raise PatchError(f"{path}: {folder} is a file and cannot be a folder too")
    return found


def changed_paths(diff: str) -> tuple[str, ...]:
    """The paths of the files that a patch changes, adds, removes or renames, sorted.

    Raises PatchError as `apply_patch` does for a text that is no diff, or a path that leaves the
    workspace.

    >>> changed_paths("--- a/lib.py\\n+++ b/lib.py\\n@@ -1 +1 @@\\n-x = 1\\n+x = 2\\n")
    ('lib.py',)
    """
    paths = {path for change in _read(diff) for path in (change.old, change.new)} - {NOWHERE}
    for path in paths:
        _check_path(path)
    return tuple(sorted(paths))


@dataclass
class _Hunk:
    """Lines to find and lines to put there, each with its line break."""

    start: int
    old: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)


@dataclass
class _Change:
    """What happens to one file; NOWHERE as a name means that it is made or removed."""

    old: str
    new: str
    hunks: list[_Hunk] = field(default_factory=list)


def _read(diff: str) -> list[_Change]:
    """The changes in the order of the patch; text around them (a mail, say) is passed over."""
    lines = diff.split("\n")
    headers = [line.rstrip("\r") for line in lines]  # what mail or Windows made of them
    changes: list[_Change] = []
    at = 0
    while at < len(lines):
        line, after = headers[at], "".join(headers[at + 1 : at + 2])
        if _QUOTED.fullmatch(line):  # passed over, the change before it would get its header
            raise PatchError(
                f"line {at + 1}: quoted paths cannot be applied; git -c core.quotePath=false diff "
                "writes them as they are"
            )
        if match := _GIT.fullmatch(line):
            changes.append(_Change(*_git_names(match[1])))
        elif line.startswith("--- ") and after.startswith("+++ "):
            old, new = _names(line, after)
            if changes and not changes[-1].hunks and new in (changes[-1].new, NOWHERE):
                changes.pop()  # the same file, announced by a git header
            changes.append(_Change(old, new))
            at += 1
        elif line.startswith("@@ "):
            at = _read_hunk(lines, at, changes)
            continue
        elif changes and not changes[-1].hunks:
            _read_header(line, at, changes[-1])
        at += 1
    if not changes and diff.strip():
        raise PatchError("expected a unified diff with lines '--- a/FILE' and '+++ b/FILE'")
    return changes


def _read_header(line: str, at: int, change: _Change) -> None:
    """One of git's lines between `diff --git` and the first hunk."""
    if line.startswith(("GIT binary patch", "Binary files ", "copy from ")):
        raise PatchError(f"line {at + 1}: binary changes and copies cannot be applied")
    if line.startswith("new file mode "):
        change.old = NOWHERE
    elif line.startswith("deleted file mode "):
        change.new = NOWHERE
    elif line.startswith("rename from "):
        change.old = line.removeprefix("rename from ")
    elif line.startswith("rename to "):
        change.new = line.removeprefix("rename to ")


def _git_names(text: str) -> tuple[str, str]:
    """The two paths in "OLD b/NEW". They differ only where lines below say them again, so that a
    " b/" within a path is no trouble."""
    same = text[: (len(text) - len(" b/")) // 2]
    if text == f"{same} b/{same}":
        return same, same
    old, _, new = text.partition(" b/")
    return old, new


def _names(minus: str, plus: str) -> tuple[str, str]:
    """The two paths of a file's header, without git's a/ and b/ and without a date."""
    old, new = (line[4:].split("\t")[0] for line in (minus, plus))
    if old.startswith(("a/", NOWHERE)) and new.startswith(("b/", NOWHERE)):
        old, new = old.removeprefix("a/"), new.removeprefix("b/")
    return old, new


def _read_hunk(lines: list[str], at: int, changes: list[_Change]) -> int:
    """Read the hunk whose header is line `at` into the last change; the line after it."""
    match = _HUNK.fullmatch(lines[at].rstrip("\r"))
    if match is None or not changes:
        raise PatchError(f"line {at + 1}: expected '@@ -1,2 +1,3 @@' below a file's name")
    hunk = _Hunk(int(match[1]))
    num_old, num_new = (1 if count is None else int(count) for count in (match[2], match[3]))
    at += 1
    while len(hunk.old) < num_old or len(hunk.new) < num_new:
        line = lines[at] if at < len(lines) else "end of the patch"
        sign, text = line[:1] or " ", line[1:] + "\n"
        if sign not in " -+":
            raise PatchError(
                f"line {at + 1}: the header promises {num_old} old and {num_new} new lines, after "
                f"{len(hunk.old)} and {len(hunk.new)} comes {line[:_SHOWN_CHARS]!r}"
            )
        hunk.old += [text] if sign in " -" else []
        hunk.new += [text] if sign in " +" else []
        at = _end_of_file(lines, at + 1, sign, hunk)
    if len(hunk.old) > num_old or len(hunk.new) > num_new:
        raise PatchError(
            f"line {at}: the header promises {num_old} old and {num_new} new lines, got "
            f"{len(hunk.old)} and {len(hunk.new)}"
        )
    changes[-1].hunks.append(hunk)
    return at


def _end_of_file(lines: list[str], at: int, sign: str, hunk: _Hunk) -> int:
    """Take the line break from the last line if the patch says that the file has none."""
    if at < len(lines) and lines[at].startswith("\\ "):
        for side in [hunk.old] * (sign in " -") + [hunk.new] * (sign in " +"):
            side[-1] = side[-1].removesuffix("\n")
        return at + 1
    return at


def _apply(files: dict[str, str], change: _Change) -> None:
    for path in {change.old, change.new} - {NOWHERE}:
        _check_path(path)
    if change.old == NOWHERE:
        lines: list[str] = []
    elif change.old in files:
        lines = files.pop(change.old).split("\n")
        lines = [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
    else:
        raise PatchError(f"{change.old}: no such file in the workspace")
    if change.new in files:
        raise PatchError(f"{change.new}: this file exists already")
    done = shift = 0  # lines that earlier hunks have settled, and by how many the rest has moved
    for number, hunk in enumerate(change.hunks, 1):
        where = f"{change.old if change.new == NOWHERE else change.new}, hunk {number}"
        at = _find(lines, hunk, done, shift, where)
        lines[at : at + len(hunk.old)] = hunk.new
        done, shift = at + len(hunk.new), shift + len(hunk.new) - len(hunk.old)
    if change.new != NOWHERE:
        files[change.new] = "".join(lines)
    elif lines:
        raise PatchError(f"{change.old}: to be deleted, but the patch does not hold all its lines")


def _check_path(path: str) -> None:
    parts = path.split("/")
    outside = ".git" in parts or any(part in ("", ".", "..") for part in parts)
    if outside or "\0" in path or path.startswith('"'):
        raise PatchError(f"{path!r}: expected a path inside the workspace such as 'lib.py'")


def _find(lines: list[str], hunk: _Hunk, done: int, shift: int, where: str) -> int:
    """Where the hunk's old lines are: at their line number, else the nearest place below `done`."""
    size = len(hunk.old)
    wanted = max(done, shift + (hunk.start - 1 if size else hunk.start))
    places = [at for at in range(done, len(lines) - size + 1) if lines[at : at + size] == hunk.old]
    if not size:
        places = [min(wanted, len(lines))]
    if not places:
        there = lines[wanted] if wanted < len(lines) else "the end of the file\n"
        crlf = [any(line.endswith("\r\n") for line in side) for side in (hunk.old, lines)]
        only = f"; only the {'patch' if crlf[0] else 'file'} has lines that end in \\r\\n"
        raise PatchError(
            f"{where} does not fit: expected {hunk.old[0][:_SHOWN_CHARS].rstrip()!r} and "
            f"{size - 1} more lines near line {hunk.start}, where there is "
            f"{there[:_SHOWN_CHARS].rstrip()!r}" + only * (crlf[0] != crlf[1])
        )
    return min(places, key=lambda at: (abs(at - wanted), at))
