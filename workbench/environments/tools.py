"""What the tools say: pure functions from a workspace to an observation.

Stage: environments. Files (path -> text) and an argument in, text out; only `edit` also returns
new files. No tool here runs code: `run` shows what the sandbox said. Left out: a shell.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from workbench.environments.parsing import MAX_ECHO, parse_edit

if TYPE_CHECKING:
    from workbench.sandbox import TestsResult

MAX_FAILURES = 5
"""Failures of a suite that `run` shows."""
MAX_PATH = 200
"""Longest path of a file that can be made."""
ENDINGS = {
    "timeout": "TIMEOUT the tests used up their time",
    "memory": "MEMORY the tests used up their memory",
    "crash": "CRASH the tests did not finish",
}
"""What `run` says when the tests' process ended before it could report."""


def list_files(files: Mapping[str, str]) -> str:
    """The paths, sorted, separated by blanks."""
    return " ".join(sorted(files))


def show_file(files: Mapping[str, str], path: str) -> str:
    """The file's lines as `N|text`, counted from 1; or an error sentence."""
    if path not in files:
        return _no_such_file(path)
    return "\n".join(f"{n}|{line}" for n, line in enumerate(files[path].splitlines(), 1))


def find_word(files: Mapping[str, str], word: str, skip: str | None = None) -> str:
    """Lines that contain `word` as a whole word, as `path:N: line`; "no match" if there is none.

    The file `skip` (the tests) is left out: a name is looked up to find its definition. Lines are
    shown without their indentation; `cat` shows it.
    """
    pattern = re.compile(rf"(?<!\w){re.escape(word.strip())}(?!\w)")
    found = [
        f"{path}:{number}: {line.strip()}"
        for path in sorted(files)
        if path != skip
        for number, line in enumerate(files[path].splitlines(), 1)
        if pattern.search(line)
    ]
    return "\n".join(found) or "no match"


def replace_line(files: Mapping[str, str], argument: str) -> tuple[Mapping[str, str], str]:
    """New files with one line replaced, and that line as `N|text`; or the same files and an error.

    `files` is never changed in place, so a snapshot may keep it without a copy. The new text is
    one line: a form feed or another line break inside it is refused.
    """
    path, number, text = parse_edit(argument)
    if path not in files:
        return files, _no_such_file(path)
    lines = files[path].splitlines()
    if not 1 <= number <= len(lines):
        return files, f"error: {path} has no line {number}"
    if len(text.splitlines()) > 1:
        return files, "error: the new text is more than one line"
    lines[number - 1] = text
    return {**files, path: "\n".join(lines) + "\n"}, f"{number}|{text}"


def insert_line(files: Mapping[str, str], argument: str) -> tuple[Mapping[str, str], str]:
    """New files with one line added below line N, 0 = at the top; or the same files and an error.

    At line 0 of a file that does not exist, the file is made.
    """
    path, number, text = parse_edit(argument)
    lines = files.get(path, "").splitlines()
    if path not in files and number == 0:
        if error := _cannot_be_made(files, path):
            return files, error
    elif path not in files:
        return files, _no_such_file(path)
    if number > len(lines):
        return files, f"error: {path} has no line {number}"
    if len(text.splitlines()) > 1:
        return files, "error: the new text is more than one line"
    lines.insert(number, text)
    return {**files, path: "\n".join(lines) + "\n"}, f"{number + 1}|{text}"


def _cannot_be_made(files: Mapping[str, str], path: str) -> str:
    """Why there can be no new file at `path`, or ""."""
    parts = path.split("/")
    above = {"/".join(parts[:end]) for end in range(1, len(parts))}
    if any(part in ("", ".", "..") for part in parts) or "\0" in path or len(path) > MAX_PATH:
        return f"error: no path inside the workspace {path[:MAX_ECHO]}"
    if above & set(files) or any(other.startswith(f"{path}/") for other in files):
        return f"error: a file cannot be a folder too {path[:MAX_ECHO]}"
    return ""


def describe_suite(result: TestsResult) -> str:
    """What `run` says of a pytest suite: how it went in one line, then the first failures."""
    if result.status in ENDINGS:
        return f"{ENDINGS[result.status]}: {result.message}"
    if result.status != "ok":
        return result.message
    found = [status for _, status, _ in result.outcomes]
    failed = [outcome for outcome in result.outcomes if outcome[1] not in ("passed", "skipped")]
    skipped = f", {found.count('skipped')} skipped" if "skipped" in found else ""
    if not failed:
        return f"ok {found.count('passed')} passed{skipped}" if found else "error: no tests"
    lines = [f"FAIL {len(failed)} of {len(found)} tests{skipped}"]
    return "\n".join(lines + [f"{name} {message}" for name, _, message in failed[:MAX_FAILURES]])


def describe_tests(result: TestsResult) -> str:
    """One line for the outcome of `run`: "ok 2 passed", or the first failure only."""
    if result.status in ENDINGS:
        return ENDINGS[result.status]
    if result.status != "ok":
        return result.message
    for _, status, message in result.outcomes:
        if status != "passed":
            return f"FAIL {message}" if status == "wrong" else message or f"FAIL {status}"
    return f"ok {len(result.outcomes)} passed"


def cut(text: str, max_chars: int) -> str:
    """`text`, or its first `max_chars` characters and a last line saying how many are left out.

    >>> cut("abcdef", 4)
    'abcd\\n... 2 more'
    """
    if len(text) <= max_chars:
        return text
    return f"{text[:max_chars]}\n... {len(text) - max_chars} more"


def _no_such_file(path: str) -> str:
    return f"error: no such file {path[:MAX_ECHO]}"
