"""Which files decide how tests run, and a workspace in which they are as they were.

Stage: workspaces. The files as the agent left them and as they were at the start go in; a manifest
of hashes, the paths that were tampered with, or the workspace to grade comes out. Two kinds of
file are protected: tests, and what configures their runner. Left out: what code under test does
once it runs (see `grading.tripwires`), shadow modules below folders other than the top and `src`.
"""

from __future__ import annotations

import ast
import configparser
import hashlib
import json
import re
import sys
import tomllib
from collections.abc import Mapping

TEST_FOLDERS = frozenset({"test", "tests"})
RUNNER_NAMES = frozenset({"conftest.py", "pytest.ini", ".pytest.ini", "pytest.toml",
                          ".pytest.toml", "sitecustomize.py", "usercustomize.py",
                          "entry_points.txt"})  # fmt: skip
"""Files that have no other purpose, wherever they are; the last names the plugins of a package."""
SECTIONS = {"pyproject.toml": "tool.pytest", "setup.cfg": "tool:pytest", "tox.ini": "pytest"}
"""Files that may configure pytest among other things, and the section that does."""
PYTEST_MODULES = frozenset({"pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments"})
IMPORT_ROOTS = ("", "src/")
"""Folders from which a repository's modules are imported."""


def is_test_file(path: str) -> bool:
    """True for what belongs to the tests: `test_*.py`, `*_test.py`, all below a folder `tests`.

    >>> is_test_file("tests/data/a.csv"), is_test_file("lib/core.py")
    (True, False)
    """
    *folders, name = path.split("/")
    named = name.endswith(".py") and (name.startswith("test_") or name.endswith("_test.py"))
    return named or not TEST_FOLDERS.isdisjoint(folders)


def is_runner_file(path: str) -> bool:
    """True for what can change how tests are run, whatever they say: `conftest.py`, `*.pth`, ..."""
    name = path.rsplit("/", 1)[-1]
    return name in RUNNER_NAMES or name in SECTIONS or name.endswith(".pth")


def pristine_files(original: Mapping[str, str], hidden_tests: Mapping[str, str]) -> dict[str, str]:
    """What no submission decides: the protected files of the start, and the hidden tests on top."""
    guarded = _guarded(original)
    return {**{path: text for path, text in original.items() if guarded(path)}, **hidden_tests}


def with_pristine_tests(
    files: Mapping[str, str], original: Mapping[str, str], hidden_tests: Mapping[str, str]
) -> dict[str, str]:
    """The workspace to grade: the agent's code, everything else as it was, hidden tests on top.

    Args:
        files: as the agent left them.
        original: as they were at the start. Tests and runner files come from here, and those the
            agent added are left out, so are modules that would take the place of the standard
            library's or of pytest's.
        hidden_tests: copied over the rest.
    """
    guarded = _guarded(original)
    kept = {path: text for path, text in files.items() if not guarded(path)}
    pristine = pristine_files(original, hidden_tests)
    folders = {path[:at] for path in pristine for at, c in enumerate(path) if c == "/"}
    fitting = {
        path: text
        for path, text in kept.items()
        if path not in folders and not any(path.startswith(f"{other}/") for other in pristine)
    }
    return {**fitting, **pristine}


def manifest(files: Mapping[str, str], original: Mapping[str, str]) -> dict[str, str]:
    """A hash of what matters in each protected file of a workspace, by path.

    original: the workspace at the start; it names the plugins and top-level modules there were.
    """
    guarded = _guarded(original)
    found = {path: _what_matters(path, text) for path, text in files.items() if guarded(path)}
    return {
        path: hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        for path, text in found.items()
        if text is not None
    }


def tampered_paths(files: Mapping[str, str], original: Mapping[str, str]) -> tuple[str, ...]:
    """Protected files that were changed or removed, and runner files that were added, sorted.

    A new test is no tampering. Of `pyproject.toml` and its like only pytest's section counts.
    """
    before, after = manifest(original, original), manifest(files, original)
    changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    new_tests = {path for path in changed - set(original) if not _guarded(original, False)(path)}
    return tuple(sorted(changed - new_tests))


def _guarded(original: Mapping[str, str], tests: bool = True):
    """A function from a path to whether it is protected, given the workspace at the start."""
    plugins = _plugin_files(original)

    def guarded(path: str) -> bool:
        shadow = path not in original and _is_shadow(path, original)
        return is_runner_file(path) or path in plugins or shadow or (tests and is_test_file(path))

    return guarded


def _is_shadow(path: str, original: Mapping[str, str]) -> bool:
    """Whether a new file would be imported in place of a module of the library or of pytest."""
    for root in IMPORT_ROOTS:
        name, _, rest = path.removeprefix(root).partition("/")
        module = name if rest else name.removesuffix(".py")
        known = module in sys.stdlib_module_names or module in PYTEST_MODULES
        if path.startswith(root) and path.endswith((".py", ".so")) and known:
            return not any(other.startswith(f"{root}{module}/") for other in original)
    return False


def _plugin_files(original: Mapping[str, str]) -> set[str]:
    """Files of the repository that pytest loads as plugins: named by -p or `pytest_plugins`."""
    names = set()
    for path, text in original.items():
        if is_runner_file(path) and not path.endswith(".py"):
            names |= set(re.findall(r"-p[\s\"',=]*([A-Za-z_][\w.]*)", text))
        elif path.endswith(".py") and "pytest_plugins" in text:
            names |= _strings_of_pytest_plugins(text)
    stems = {root + name.replace(".", "/") for name in names for root in IMPORT_ROOTS}
    return {f"{stem}{end}" for stem in stems for end in (".py", "/__init__.py")}


def _strings_of_pytest_plugins(text: str) -> set[str]:
    try:
        statements = ast.parse(text).body
    except SyntaxError:
        return set()
    values = [
        node.value
        for node in statements
        if isinstance(node, ast.Assign | ast.AnnAssign) and "pytest_plugins" in ast.dump(node)
    ]
    found = [node for value in values if value for node in ast.walk(value)]
    return {n.value for n in found if isinstance(n, ast.Constant) and isinstance(n.value, str)}


def _what_matters(path: str, text: str) -> str | None:
    """The part of a protected file that counts; None = it has none."""
    name = path.rsplit("/", 1)[-1]
    if name not in SECTIONS:
        return text
    try:
        if name == "pyproject.toml":
            tools = tomllib.loads(text).get("tool")
            section = tools.get("pytest") if isinstance(tools, dict) else None
            return None if section is None else json.dumps(section, sort_keys=True, default=str)
        parser = configparser.RawConfigParser(strict=False)
        parser.read_string(text)
        section = SECTIONS[name]
        return repr(sorted(parser.items(section))) if parser.has_section(section) else None
    except (ValueError, RecursionError, configparser.Error):  # whoever wrote it meant it or not
        return text  # it cannot be read, so all of it counts
