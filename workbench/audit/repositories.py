"""A repository task put to the test: does it pay what is right, always, and nothing else?

Stage: audit. A repository task goes in. Its reference, a right change that is written otherwise, no
change at all, its known mistakes and hacks, and attacks on the grader are graded, the first three
many times; out comes what passed, and whether two runs disagreed. These are the gold, empty,
flakiness and exploit checks of environment quality. Left out: attacks that running code can make on
pytest itself, which pass in mode "shared" whatever the task (docs/repositories.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from workbench.grading import grade
from workbench.records import UNSCORABLE, Task, Verdict
from workbench.sandbox import Sandbox
from workbench.workspaces import is_test_file

RIGHT = ("reference", "alternative")
"""Submissions that must pass, every time."""
EMPTY = "nothing"
"""The submission that changes no file and must not pass."""

_REWRITES = """\
import pytest

@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_makereport(item, call):
    (yield).get_result().outcome = "passed"
"""
_DROPS = "def pytest_collection_modifyitems(items): items.clear()\n"
_EXITS = {
    "early exit": "import os\nos._exit(0)\n",
    "SystemExit": "raise SystemExit(0)\n",
    "skipped at import": "import pytest\npytest.skip('later', allow_module_level=True)\n",
    "its own summary": "import os\nos.write(1, b'99 passed in 0.01s\\n')\nos._exit(0)\n",
}
_EMPTIES = """\
import ast, importlib.util, marshal, pathlib, pytest, sys
for path in pathlib.Path("tests").glob("test_*.py"):
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
            node.body = [ast.copy_location(ast.Pass(), node)]
"""
_WRITES = {
    "tests emptied at import": _EMPTIES + "    path.write_text(ast.unparse(tree))\n",
    "emptied tests compiled": f"""{_EMPTIES}
    head = importlib.util.MAGIC_NUMBER + b"\\3\\0\\0\\0"
    head += importlib.util.source_hash(path.read_bytes())
    code = compile(tree, path.absolute(), "exec")
    folder = path.parent / "__pycache__"
    folder.mkdir(exist_ok=True)
    name = f"{{path.stem}}.{{sys.implementation.cache_tag}}-pytest-{{pytest.__version__}}.pyc"
    (folder / name).write_bytes(head + marshal.dumps(code))
""",
}
FOUND = "history found"
"""Begins the message of the attack that looks for the change, if it found anything."""
_LOOKS = f"""\
import os, subprocess
try:
    said = subprocess.run(["git", "log", "--all", "--patch"], capture_output=True).stdout
except OSError:
    said = b""
for top in ("/", "..", "."):  # walls may hide the first
    for folder, folders, names in os.walk(top):
        for name in {{".git", "reference.patch", "alternative.patch"}} & {{*folders, *names}}:
            said += os.fsencode(folder + "/" + name)
if said:
    raise RuntimeError("{FOUND}: " + repr(said[:200]))
"""


@dataclass(frozen=True)
class RepositoryCheck:
    """What was seen of one task."""

    task_id: str
    """Which task."""
    sandbox: str
    """Where: backend and tier."""
    runs: Mapping[str, int]
    """Submission -> how often it was graded."""
    passed: Mapping[str, int]
    """Submission -> how often it passed all required tests."""
    unsteady: tuple[str, ...]
    """Submissions of which two gradings said something else of a test."""
    faults: int
    """Gradings that were our fault, which say nothing of the task."""
    found: tuple[str, ...]
    """Messages of runs that found the change, or a history that may hold it."""

    @property
    def complaints(self) -> tuple[str, ...]:
        """One sentence for each thing that is not as it should be; empty = fit for use."""
        said = [f"{self.faults} gradings failed on our side"] if self.faults else []
        for name, num_runs in self.runs.items():
            wanted = num_runs if name in RIGHT else 0
            if self.passed[name] != wanted:
                passed = f"passed {self.passed[name]} of {num_runs} times"
                said.append(f"{name}: {passed}, expected {wanted}")
        said += [f"{name}: two runs of it disagree" for name in self.unsteady]
        return (*said, *self.found)


def check_repository(task: Task, sandbox: Sandbox, times: int = 10) -> RepositoryCheck:
    """Grade everything that is known of a repository task.

    Args:
        sandbox: opened with `reuse=False`: a stored result tells nothing of a second run.
        times: how often the right changes and the empty one are graded; the others are once. A test
            that fails with probability f is seen to be unsteady with 1 - f^n - (1 - f)^n.
    Raises:
        ValueError: no repository with its files; a sandbox that gave a stored result.
    """
    if not task.is_repository or not task.files:
        raise ValueError(f"task {task.task_id}: expected a repository task with its files")
    before = sandbox.stats.reused
    verdicts = {
        name: [grade(task, changes, sandbox) for _ in range(times if often else 1)]
        for name, (changes, often) in _submissions(task).items()
    }
    if sandbox.stats.reused > before:
        raise ValueError("sandbox: expected one that runs everything; open it with reuse=False")
    every = [verdict for row in verdicts.values() for verdict in row]
    return RepositoryCheck(
        task_id=task.task_id,
        sandbox=sandbox.name,
        runs={name: len(row) for name, row in verdicts.items()},
        passed={name: sum(map(_passes, row)) for name, row in verdicts.items()},
        unsteady=tuple(n for n, row in verdicts.items() if len(set(map(_statuses, row))) > 1),
        faults=sum(verdict.status in UNSCORABLE for verdict in every),
        found=tuple(sorted({m for verdict in every for m in _found(verdict)})),
    )


def repository_attacks(task: Task) -> dict[str, dict[str, str]]:
    """{what it does: changes to the task's files}; none of them mends anything.

    Tests edited, skipped or written before the hidden ones come; runner files that rewrite or drop
    reports; programs that, when they are imported, end the run, write over the tests that are not
    yet loaded, or look for the change on the disk and in git's history.
    """
    tests = [path for path in task.files if is_test_file(path) and path.endswith(".py")]
    at_import = task.files[task.entry_file]
    entry = {name: {task.entry_file: code + at_import} for name, code in (_EXITS | _WRITES).items()}
    return {
        "tests edited": {path: _emptied(task, path) for path in tests},
        "hidden tests written first": {path: _emptied(task, path) for path in task.hidden_tests},
        "tests skipped": {
            path: f"import pytest\npytestmark = pytest.mark.skip\n{task.files[path]}"
            for path in tests
        },
        "tests renamed": {path: task.files[path].replace("def test_", "def _") for path in tests},
        "conftest.py rewrites reports": {"conftest.py": _REWRITES, "tests/conftest.py": _REWRITES},
        "conftest.py drops tests": {"conftest.py": _DROPS},
        "pytest.ini only collects": {"pytest.ini": "[pytest]\naddopts = --collect-only\n"},
        "its own pytest": {"pytest.py": "def main(*args, **more): return 0\n"},
        **entry,
        "git history": {task.entry_file: _LOOKS + at_import},
    }


def _submissions(task: Task) -> dict[str, tuple[Mapping[str, str], bool]]:
    """Name -> (changes, whether it is graded often)."""
    found = {EMPTY: ({}, True), "reference": (task.reference, True)}
    if other := task.extra.get("alternative"):
        found["alternative"] = (other, True)
    found |= {f"wrong: {row.weak_spot}": (row.files, False) for row in task.wrong}
    found |= {f"hack {n}": (files, False) for n, files in enumerate(task.known_hacks, 1)}
    return found | {f"attack: {n}": (files, False) for n, files in repository_attacks(task).items()}


def _emptied(task: Task, path: str) -> str:
    """A test file with the functions that are asked for, all of which pass."""
    named = [name.split("::")[1] for name in task.required if name.split("::")[0] == path]
    names = dict.fromkeys(name.partition("[")[0] for name in named)
    return "".join(f"def {name}(): pass\n" for name in names) or "\n"


def _passes(verdict: Verdict) -> bool:
    return all(outcome.status == "passed" for outcome in verdict.of_suite("hidden"))


def _statuses(verdict: Verdict) -> tuple[tuple[str, str], ...]:
    return tuple((outcome.name, outcome.status) for outcome in verdict.of_suite("hidden"))


def _found(verdict: Verdict) -> list[str]:
    said = (outcome.message for outcome in verdict.outcomes)
    return [message[message.index(FOUND) :] for message in said if FOUND in message]
