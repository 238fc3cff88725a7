"""A suite's own files stay what was sent, whatever the program under test writes while it runs.

Stage: sandbox (server side, in a run of pytest). A request goes in: its files, and which of them
are fixed (tests, what they load or read, what configures their runner). **Fixed modules are
compiled from the text that was sent, which is held in memory**: whatever lies in their place when
they are imported (another text, a link, compiled code in `__pycache__`, a package of that name or
around them) is not looked at. Other fixed files are read from the disk, by the tests themselves; so
no test passes any more once a fixed file is not the one that was written. That is told by its inode
and its time of change, which the kernel sets with every write, renaming or change of mode and no
program can set back. Left out: a folder of data that is swapped for another and swapped back
between two looks; what a program does to pytest, or to this, in memory.
"""

from __future__ import annotations

import ast
import importlib.machinery
import importlib.util
import os
import sys

import pytest
from _pytest.assertion.rewrite import rewrite_asserts


class SentFiles:
    """A plugin of pytest and a finder of modules, for the fixed files of one request."""

    def __init__(self, request, root):
        """root: the folder that the request's files have just been written to."""
        self._root = root
        self._written = {path: self._identity(path) for path in request["fixed"]}
        modules = [path for path in request["fixed"] if path.endswith(".py")]
        self._texts = {f"{root}/{path}": request["files"][path] for path in modules}
        folders = {path[:at] for path in modules for at, c in enumerate(path) if c == "/"}
        bare = {folder for folder in folders if f"{folder}/__init__.py" not in request["files"]}
        self._no_packages = {f"{root}/{folder}" for folder in bare}

    @pytest.hookimpl(tryfirst=True)
    def pytest_load_initial_conftests(self, early_config):
        """Before a file of the workspace is imported: be asked first, before pytest's finder."""
        self._config = early_config
        sys.meta_path.insert(0, self)

    def find_spec(self, name, path=None, target=None):
        """What importlib asks of a finder."""
        for folder in sys.path if path is None else path:
            if not isinstance(folder, str):  # Python passes over such entries, too
                continue
            place = os.path.join(os.path.abspath(folder), name.rpartition(".")[2])
            for file in (f"{place}/__init__.py", f"{place}.py"):
                if file in self._texts:
                    loader = _FromText(name, file, self._texts[file], self._config)
                    return importlib.util.spec_from_file_location(name, file, loader=loader)
            if place in self._no_packages and os.path.lexists(f"{place}/__init__.py"):
                spec = importlib.machinery.ModuleSpec(name, None, is_package=True)
                spec.submodule_search_locations = [place]  # what it was: a folder
                return spec
        return None

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item, call):
        """A test at whose end a fixed file is another than was sent has not passed."""
        report = yield
        if call.when == "teardown" and report.passed:
            for path, identity in self._written.items():
                if self._identity(path) != identity:
                    report.outcome, report.longrepr = "failed", f"{path} was changed during the run"
        return report

    def _identity(self, path):
        """What tells a file from any other and from itself changed; None if there is none."""
        try:
            found = os.lstat(f"{self._root}/{path}")
        except OSError:
            return None
        return found.st_dev, found.st_ino, found.st_ctime_ns


class _FromText(importlib.machinery.SourceFileLoader):
    """Loads a module from a text, with the asserts that pytest gives a test module."""

    def __init__(self, name, path, text, config):
        super().__init__(name, path)
        self._text, self._config = text.encode("utf-8", "surrogatepass"), config

    def get_code(self, fullname):
        tree = ast.parse(self._text, self.path)
        rewrite_asserts(tree, self._text, self.path, self._config)
        return compile(tree, self.path, "exec", dont_inherit=True)
