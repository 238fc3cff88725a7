"""A workspace's changes as a unified diff, in the form that `git apply` and `apply_patch` take.

Stage: workspaces. Two workspaces (path -> text) go in, the text of a patch comes out; the other
way is `apply_patch`. Left out: renames (a file goes and another comes), paths that git would quote.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping

NO_LINE_BREAK = "\\ No newline at end of file\n"


def make_patch(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """The patch that makes `after` of `before`; "" if they are the same.

    >>> print(make_patch({"a.py": "x = 1\\n"}, {"a.py": "x = 2\\n"}), end="")
    diff --git a/a.py b/a.py
    --- a/a.py
    +++ b/a.py
    @@ -1 +1 @@
    -x = 1
    +x = 2
    """
    paths = sorted(path for path in {*before, *after} if before.get(path) != after.get(path))
    return "".join(line for path in paths for line in _file(path, before, after))


def _file(path: str, before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    yield f"diff --git a/{path} b/{path}\n"
    if path not in before:
        yield "new file mode 100644\n"
    elif path not in after:
        yield "deleted file mode 100644\n"
    old, new = (files.get(path, "") for files in (before, after))
    names = f"a/{path}" if path in before else "/dev/null", f"b/{path}"
    names = names if path in after else (names[0], "/dev/null")
    for line in difflib.unified_diff(_lines(old), _lines(new), *names):
        yield line if line.endswith("\n") else f"{line}\n{NO_LINE_BREAK}"


def _lines(text: str) -> list[str]:
    """Its lines with their line breaks: git knows no other than this one."""
    lines = text.split("\n")
    return [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
