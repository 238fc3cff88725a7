"""The side of a run that executes a repository's pytest suite; it lives in a confined fork.

Stage: sandbox (server side), the program side of servers of their own kind: pytest is loaded
once, before the first fork, and each run has it ready. A request comes in as JSON, a workspace
and perhaps the ids of the tests that matter; lines go out through the result pipe (`wire` lists
them), pytest's own report through standard output. What the request calls fixed is read as it was
sent (`sent_files`). **Whatever is said here could have been said by the tests or the code they
import: one interpreter runs them all.** That is what mode "shared" means. Left out: plugins of
this machine, pytest's cache, processes (a test that starts one fails).
"""

from __future__ import annotations

import io
import os
import re
import sys

import _pytest.config
import pytest

from workbench import encoding
from workbench.sandbox import candidate, sent_files, wire
from workbench.sandbox.workspace import write_files

TRIAL = (
    {"mode": "pytest", "files": {"test_a.py": "def test_a(tmp_path): assert tmp_path.exists()\n"},
     "node_ids": None, "fixed": ["test_a.py"]},
    [wire.START + b'["test_a.py::test_a"]', wire.TEST + b'["test_a.py::test_a", "passed", ""]',
     wire.END + b"[0]"],
)  # fmt: skip
"""A request, and the lines it gives."""

OPTIONS = (
    "-q", "--tb=short", "--color=no", "--capture=sys", "--continue-on-collection-errors",
    "-p", "no:cacheprovider", "-p", "no:faulthandler",
)  # fmt: skip
"""How every suite is run; a repository's own configuration comes on top."""
PRELOADED = ("faulthandler", "pdb", "unittest.mock", "dataclasses", "json", "decimal", "datetime")
"""Besides pytest's own parts: what a session or a test would otherwise load in every fork."""
_WRONG = ("assert", "AssertionError", "Failed: ")
"""How the message of a test begins that found something wrong; `pytest.raises` says Failed."""
_INSTALLED = os.path.dirname(pytest.__path__[0]), os.path.dirname(os.__file__)
"""Where pytest and the standard library are; the first may lie in the second."""
_WORDS = {"passed": "passed", "skipped": "skipped", "failed": "error"}


def preload():
    """In the server, once: load all of pytest, which its setup has made importable."""
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    for name in _pytest.config.default_plugins:
        __import__(f"_pytest.{name}")
    for name in PRELOADED:
        __import__(name)


def warm_up():
    """Nothing: what a session of pytest does could not be undone before the real one."""


def unpack(body, box):
    """The request in `body`, its files written to the folder `repo` of `box`; modules that are
    loaded stay loaded, so that a file called like one of them does not take its place."""
    request = encoding.parse_json(body.decode())
    os.mkdir(f"{box}/repo")
    write_files(request, f"{box}/repo")
    return request


def run(request, pipe, box, ends=()):
    """Run the suite and write its lines to the descriptor `pipe`; pytest's exit code.

    ends: none; a suite talks to no other run.
    """
    root = f"{box}/repo"
    sent = sent_files.SentFiles(request, root)
    os.chdir(root)
    sys.path.insert(0, root)  # as `python -m pytest` does
    node_ids = request["node_ids"]
    paths = sorted({node_id.split("::")[0] for node_id in node_ids or ()})
    paths = [path for path in paths if os.path.exists(path)]
    code = 5  # pytest's own "no tests were collected"
    if paths or node_ids is None:
        places = (f"--rootdir={root}", f"--basetemp={box}/tmp")
        kept, sys.stderr = sys.stderr, io.StringIO()  # where pytest says why it cannot even start
        plugins = [_Reporter(pipe, root, node_ids), sent]
        code = pytest.main([*OPTIONS, *places, *paths], plugins=plugins)
        text = sys.stderr.getvalue() if isinstance(sys.stderr, io.StringIO) else ""
        sys.stderr = kept
        _print_errors(text)
        if code == pytest.ExitCode.USAGE_ERROR:
            why = _one_line(_last_error(text), root)
            candidate.say(pipe, wire.NOT_LOADED + candidate.dump(["", why]))
    candidate.say_last(pipe, wire.END + candidate.dump([int(code)]))
    return int(code)


def _print_errors(text):
    try:
        sys.stderr.write(text)
    except Exception:  # the tests closed it
        pass


class _Reporter:
    """A pytest plugin: one line when a test starts, one when all its phases are over."""

    def __init__(self, pipe, root, node_ids):
        self._pipe, self._root = pipe, root
        self._wanted = None if node_ids is None else set(node_ids)
        self._worst = {}

    def pytest_collectreport(self, report):
        """A file that could not be collected."""
        if report.failed:
            message = _message(report, self._root)
            candidate.say(self._pipe, wire.NOT_LOADED + candidate.dump([report.nodeid, message]))

    def pytest_collection_modifyitems(self, config, items):
        """Leave out the tests nobody asked for."""
        if self._wanted is not None:
            left_out = [item for item in items if item.nodeid not in self._wanted]
            items[:] = [item for item in items if item.nodeid in self._wanted]
            config.hook.pytest_deselected(items=left_out)

    def pytest_runtest_logstart(self, nodeid, location):
        """A test begins."""
        candidate.say(self._pipe, wire.START + candidate.dump([nodeid]))

    def pytest_runtest_logreport(self, report):
        """One phase of a test is over: what went wrong first is what counts."""
        status, message = _outcome(report, self._root)
        if self._worst.get(report.nodeid, ("passed",))[0] == "passed":
            self._worst[report.nodeid] = status, message

    def pytest_runtest_logfinish(self, nodeid, location):
        """A test is over."""
        status, message = self._worst.pop(nodeid, ("missing", "no phase was reported"))
        candidate.say(self._pipe, wire.TEST + candidate.dump([nodeid, status, message]))


def _outcome(report, root):
    """(status, message) of one phase's report."""
    if hasattr(report, "wasxfail") and report.skipped:
        return "skipped", f"xfail {report.wasxfail}".strip()
    if report.passed:
        return "passed", ""
    message = _message(report, root)
    crash = getattr(report.longrepr, "reprcrash", None)
    if report.failed and crash is not None and crash.message.startswith(_WRONG):
        return "wrong", message
    return _WORDS[report.outcome], message


def _message(report, root):
    """One line for people: "tests/test_a.py:7: AssertionError: assert 3 == 4"."""
    found = report.longrepr
    crash = getattr(found, "reprcrash", None)
    if crash is not None:
        text = f"{crash.path}:{crash.lineno}: {crash.message}"
    elif isinstance(found, tuple):  # a skip: (path, line, reason)
        text = f"{found[0]}:{found[1]}: {found[2]}"
    else:
        text = _last_error(str(found))
    return _one_line(text, root)


def _one_line(text, root):
    text = candidate.without_addresses(text)
    for folder in (root, os.path.dirname(root), *_INSTALLED):  # the second holds tmp_path's
        text = text.replace(f"{folder}/", "")
    return " ".join(text.split())[:300]


_PLACE = re.compile(r'^(?:E? *File "(.+?)", line (\d+)|(\S+\.py):(\d+): )', re.MULTILINE)


def _last_error(text):
    """ "lib.py:3: SyntaxError: invalid syntax" from a traceback as pytest prints it."""
    lines = [line for line in text.splitlines() if line.strip()]
    marked = [line[1:] for line in lines if line.startswith("E ")]  # pytest marks errors with E
    places = [(a or c, b or d) for a, b, c, d in _PLACE.findall(text)]
    where = "{}:{}: ".format(*places[-1]) if places else ""
    return where + (marked or lines or ["pytest did not say why"])[-1].strip()
