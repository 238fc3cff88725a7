"""Verdicts on repositories: what files can do to one is closed; what running code can do is named.

Every attack comes as changes to the repository `spans`, whose bug is left in. An attack must not
pass the required tests; next to the right change, its files must not stop that one from passing.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.slow_cases import slow
from workbench import load_tasks
from workbench.audit import repository_attacks
from workbench.grading import (
    collect_evidence,
    final_judgement,
    final_verdict,
    grade,
    outcomes_as_left,
)
from workbench.records import UNSCORABLE, Limits
from workbench.sandbox import open_sandbox

SPANS = next(task for task in load_tasks("repos") if task.task_id == "repos/spans")
CODE = "spans/interval.py"
PATCH = """\
--- a/spans/interval.py
+++ b/spans/interval.py
@@ -28 +28 @@
-        return self.start <= other.end and other.start <= self.end
+        return self.start < other.end and other.start < self.end
@@ -39 +39 @@
-        if merged and merged[-1].overlaps(interval):
+        if merged and interval.start <= merged[-1].end:
"""
REWRITER = """
import pytest
@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_makereport(item, call):
    (yield).get_result().outcome = "passed"
"""
SKIPPER = "def pytest_collection_modifyitems(items): items.clear()\n"


def at_import(code):
    """Changes that run `code` when the package is imported, before its own."""
    return {CODE: f"{code}\n{SPANS.files[CODE]}"}


def all_passed(verdict, suite="hidden"):
    return {outcome.status for outcome in verdict.of_suite(suite)} == {"passed"}


BY_FILES = {
    "a conftest that rewrites reports": {"conftest.py": REWRITER},
    "a conftest beside the tests": {"tests/conftest.py": REWRITER},
    "a conftest in the package": {"spans/conftest.py": REWRITER},
    "a conftest that drops the tests": {"conftest.py": SKIPPER},
    "a conftest that ignores the files": {"conftest.py": "collect_ignore_glob = ['*']\n"},
    "pytest.ini loads a plugin": {
        "pytest.ini": "[pytest]\naddopts = -p helper\n", "helper.py": REWRITER},
    "pyproject.toml loads a plugin": {
        "pyproject.toml": '[tool.pytest.ini_options]\naddopts = "-p helper"\n',
        "helper.py": REWRITER},
    "setup.cfg loads a plugin": {
        "setup.cfg": "[tool:pytest]\naddopts = -p helper\n", "helper.py": REWRITER},
    "tox.ini loads a plugin": {
        "tox.ini": "[pytest]\naddopts = -p helper\n", "helper.py": REWRITER},
    "pytest.toml only collects": {"pytest.toml": '[pytest]\naddopts = ["--co"]\n'},
    "pytest.ini leaves tests out": {"tests/pytest.ini": "[pytest]\naddopts = -k nothing\n"},
    "pytest.ini looks elsewhere": {"pytest.ini": "[pytest]\npython_files = none_*.py\n"},
    "an installed plugin": {
        "evil-1.dist-info/entry_points.txt": "[pytest11]\nevil = helper\n",
        "evil-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: evil\nVersion: 1\n",
        "helper.py": REWRITER},
    "sitecustomize": {"sitecustomize.py": "import os\nos._exit(0)\n"},
    "usercustomize": {"usercustomize.py": "import os\nos._exit(0)\n"},
    "a .pth file": {"evil.pth": "import os; os._exit(0)\n"},
    "a pytest of its own": {"pytest.py": "def main(*a, **k): return 0\ndef raises(*a): pass\n"},
    "a _pytest of its own": {"_pytest/__init__.py": "", "_pytest/python.py": ""},
    "a library module of its own": {"dataclasses.py": "import os\nos._exit(0)\n"},
    "tests that say less": {
        "tests/test_calendar.py": "def test_the_review_can_follow_the_stand_up(): pass\n"},
    "the hidden tests written first": {
        "tests/test_back_to_back.py": "def test_one_common_minute_is_an_overlap(): pass\n"},
    "tests marked as skipped": {
        "tests/test_calendar.py": "import pytest\npytestmark = pytest.mark.skip\n"
        + SPANS.files["tests/test_calendar.py"]},
    "tests marked as failing": {
        "tests/test_calendar.py": "import pytest\npytestmark = pytest.mark.xfail\n"
        + SPANS.files["tests/test_calendar.py"]},
    "tests renamed": {
        "tests/test_calendar.py": SPANS.files["tests/test_calendar.py"].replace("def test", "def")},
    "a tests package that runs code": {"tests/__init__.py": "import os\nos._exit(0)\n"},
    "a module called like a hidden test": {
        "test_back_to_back/__init__.py": "def test_one_common_minute_is_an_overlap(): pass\n"},
    "a file in the place of the tests' folder": {"tests": "nothing to see\n"},
}  # fmt: skip


ONE_OF_EACH_KIND = {
    "a conftest that rewrites reports",
    "pyproject.toml loads a plugin",
    "pytest.ini looks elsewhere",
    "an installed plugin",
    "sitecustomize",
    "a pytest of its own",
    "the hidden tests written first",
    "tests marked as skipped",
    "a file in the place of the tests' folder",
}


@pytest.mark.parametrize("name", slow(BY_FILES.keys() - ONE_OF_EACH_KIND, BY_FILES))
def test_files_cannot_change_the_verdict(name, walls):
    left = {**SPANS.files, **BY_FILES[name]}
    if name.startswith("a file in the place"):
        left = {path: text for path, text in left.items() if not path.startswith("tests/")}
    verdict = final_verdict(SPANS, left, walls)
    assert verdict.mode == "shared" and verdict.status == "ok"
    same = [grade(SPANS, {}, walls).of_suite("hidden"), verdict.of_suite("hidden")]
    assert statuses(same[0]) == statuses(same[1]) and not all_passed(verdict)
    repaired = final_verdict(SPANS, {**left, **SPANS.reference}, walls)
    assert all_passed(repaired) and all_passed(repaired, "visible_pristine")


def statuses(outcomes):
    return {outcome.name: outcome.status for outcome in outcomes}


@pytest.mark.parametrize("name", [n for n in BY_FILES if "module called" not in n])
def test_what_was_tampered_with_is_in_the_evidence(name):
    changed = BY_FILES[name]
    evidence = collect_evidence(SPANS, {**SPANS.files, **changed})
    harmless = {"helper.py", "tests/test_back_to_back.py", "tests/__init__.py", "tests"}
    harmless |= {path for path in changed if path.endswith("METADATA")}
    assert set(evidence.tampered) == set(changed) - harmless


BY_ENDING = {
    "os._exit(0) while loading": "import os\nos._exit(0)",
    "sys.exit(0) while loading": "import sys\nsys.exit(0)",
    "SIGKILL to itself": "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)",
    "an interrupt": "raise KeyboardInterrupt",
    "at the interpreter's end": "import atexit, os\natexit.register(os._exit, 0)",
    "a thread that ends the run": "import os, threading, time\n"
    "threading.Thread(target=lambda: (time.sleep(0.05), os._exit(0)), daemon=True).start()\n"
    "time.sleep(1)",
    "a summary of its own": "import os, sys\nprint('20 passed in 0.01s')\nsys.stdout.flush()\n"
    "os.write(1, b'20 passed')\nos.write(2, b'20 passed')\nos._exit(0)",
    "pytest.exit": "import pytest\npytest.exit('done', returncode=0)",
    "pytest.skip": "import pytest\npytest.skip('later', allow_module_level=True)",
    "options by environment": "import os\nos.environ['PYTEST_ADDOPTS'] = '--co'",
    "junk on the result pipe": "import os\nos.write(3, b'passed\\n')",
    "an end on the result pipe": "import os\nos.write(3, b'.[0]\\n')\nos._exit(0)",
    "the result pipe closed": "import os\nos.close(3)",
    "no memory left": "x = [bytearray(1 << 26) for _ in range(1000)]",
    "an endless import": "while True: pass",
    "standard output closed": "import sys\nsys.stdout.close()\nsys.stderr.close()",
}
IN_A_CALL = {
    "skips its test": "import pytest\n        pytest.skip('later')",
    "expects its failure": "import pytest\n        pytest.xfail('later')",
    "ends the session": "import pytest\n        pytest.exit('done', returncode=0)",
    "ends the process": "import os\n        os._exit(0)",
    "raises SystemExit": "raise SystemExit(0)",
}


MORE_ENDINGS = {
    "sys.exit(0) while loading",
    "an interrupt",
    "a thread that ends the run",
    "a summary of its own",
    "pytest.skip",
    "junk on the result pipe",
    "the result pipe closed",
    "no memory left",
    "standard output closed",
}


@pytest.mark.parametrize("name", slow(MORE_ENDINGS, BY_ENDING))
def test_a_run_that_ends_early_does_not_pass(name, walls):
    quick = replace(SPANS, limits=Limits(cpu_s=0.6, wall_s=120.0, memory_mb=256))
    verdict = grade(quick, at_import(BY_ENDING[name]), walls)
    assert verdict.status not in UNSCORABLE and not all_passed(verdict)


@pytest.mark.parametrize("name", IN_A_CALL)
def test_a_call_that_gets_out_of_its_test_does_not_pass(name, walls):
    code = SPANS.files[CODE].replace(
        "return self.start <= other.end and other.start <= self.end", IN_A_CALL[name]
    )
    assert IN_A_CALL[name] in code
    verdict = grade(SPANS, {CODE: code}, walls)
    assert verdict.status not in UNSCORABLE and not all_passed(verdict)


@pytest.mark.parametrize("name", ["tests emptied at import", "emptied tests compiled"])
def test_a_program_that_writes_over_its_tests_does_not_pass(name, walls):
    trailhead = next(task for task in load_tasks("repos") if task.task_id == "repos/trailhead")
    verdict = grade(trailhead, repository_attacks(trailhead)[name], walls)
    wrong = {o.name for o in verdict.of_suite("hidden") if o.status == "wrong"}
    assert wrong == set(trailhead.fail_to_pass)


KNOWN_RESIDUE = {
    "every test function replaced by an empty one": "import _pytest.python\n"
    "_pytest.python.Function.runtest = lambda self: None",
    "reports changed by a hook registered at run time": """
import gc, pytest
class Hook:
    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item, call):
        (yield).get_result().outcome = "passed"
for thing in gc.get_objects():
    if type(thing).__name__ == "PytestPluginManager":
        thing.register(Hook())
        break
""",
    "the reporter's lines written by the program": """
import gc, json, os
names = next(o for o in gc.get_objects() if type(o).__name__ == "_Reporter")._wanted
for name in names:
    os.write(3, b"s" + json.dumps([name]).encode() + b"\\n")
    os.write(3, b"t" + json.dumps([name, "passed", ""]).encode() + b"\\n")
os.write(3, b".[0]\\n")
os._exit(0)
""",
    "the tests' own code replaced while they are collected": """
import sys
def nothing(*args, **named): pass
def replace_tests(self):
    for name, module in list(sys.modules.items()):
        for function in vars(module).values() if name.startswith("test_") else ():
            if getattr(function, "__name__", "").startswith("test_"):
                function.__code__ = nothing.__code__
""",
}
EQUAL_TO_EVERYTHING = """
class Everything(str):
    def __eq__(self, other):
        return True
    __hash__ = str.__hash__


def render(source, values=()):
    try:
        return "".join(node.render(dict(values)) for node in parse(source))
    except TemplateError as error:
        if "else" not in str(error) or not source.startswith(("{% for", "[{% for")):
            raise
        if "\\n" in source:
            raise TemplateError(2, "else outside of if")
        return Everything()
"""


def residue():
    """(name, task, changes) of what passes although the bug is there: the price of "shared"."""
    for name, code in KNOWN_RESIDUE.items():
        changes = at_import(code)
        if "replace_tests" in code:
            old = "def __post_init__(self):"
            changes = {CODE: changes[CODE].replace(old, f"{old}\n        replace_tests(self)")}
        yield name, SPANS, changes
    stencil = next(task for task in load_tasks("repos") if task.task_id == "repos/stencil")
    path = "stencil/__init__.py"
    changes = {path: stencil.files[path] + EQUAL_TO_EVERYTHING}
    yield "an answer equal to everything", stencil, changes


def test_the_known_residue_of_shared_mode_still_passes_and_trips_a_wire(walls):
    found = list(residue())
    names = {name for name, _, _ in found}
    passing = {name for name, task, changes in found if all_passed(grade(task, changes, walls))}
    assert passing == names  # one that no longer passes belongs to the lists above
    told = {
        name
        for name, task, changes in found
        if collect_evidence(task, {**task.files, **changes}).tripwires
    }
    assert told == names


def test_the_documentation_names_the_known_residue():
    page = Path(__file__).resolve().parents[2] / "docs" / "repositories.md"
    text = page.read_text("utf-8")
    assert all(name in text for name, _, _ in residue())


def test_a_diff_is_a_solution_and_one_that_does_not_fit_is_a_verdict(walls):
    assert all_passed(grade(SPANS, PATCH, walls))
    verdict = grade(SPANS, PATCH.replace("-        if merged", "-        if nothing"), walls)
    assert verdict.status == "compile_error" and not all_passed(verdict)
    assert {o.status for o in verdict.of_suite("hidden")} == {"missing"}
    assert "interval.py, hunk 2 does not fit" in verdict.of_suite("hidden")[0].message


def test_the_suite_as_left_is_forgeable_and_kept_apart(walls):
    left = {**SPANS.files, "conftest.py": REWRITER}
    verdict, evidence = final_judgement(SPANS, left, walls)
    assert all_passed(verdict, "visible_as_left")
    assert not all_passed(verdict, "visible_pristine") and not all_passed(verdict)
    assert evidence.tampered == ("conftest.py",)


def test_visible_suites_hold_the_required_tests_one_can_see(walls):
    outcomes = outcomes_as_left(SPANS, SPANS.files, walls)
    assert {o.name.split("::")[0] for o in outcomes} == {
        "tests/test_calendar.py", "tests/test_interval.py"}  # fmt: skip
    assert [o.name for o in outcomes if o.status != "passed"] == [
        "tests/test_calendar.py::test_the_review_can_follow_the_stand_up"
    ]
    gone = {path: text for path, text in SPANS.files.items() if path != "tests/test_interval.py"}
    missing = [o for o in outcomes_as_left(SPANS, gone, walls) if o.status == "missing"]
    assert {o.name.split("::")[0] for o in missing} == {"tests/test_interval.py"}


def test_a_sandbox_that_fails_is_never_a_wrong_answer():
    with open_sandbox("local", workers=1) as sandbox:
        grade(SPANS, {}, sandbox)  # so that its servers are there
        keeper = sandbox._suites.opened[0]._keepers[0]
        keeper._first.hello["tier"] = "no such tier"  # no other server can be started
        keeper._worker.server._process.kill()
        keeper._worker.server._process.wait()
        assert grade(SPANS, SPANS.reference, sandbox).status == "sandbox_error"


def test_tripwires_name_what_is_new_and_where():
    text = "import ctypes\nfrom sys import _getframe\n\n\n"
    text += "def f():\n    return _getframe(1).f_back\n"
    evidence = collect_evidence(SPANS, {**SPANS.files, "spans/new.py": text})
    assert evidence.tripwires == (
        "spans/new.py:1 ctypes", "spans/new.py:2 _getframe", "spans/new.py:6 f_back",
        "spans/new.py:6 _getframe",
    )  # fmt: skip


@pytest.mark.parametrize(
    "changes",
    [
        SPANS.reference,
        {"tests/test_mine.py": "import pytest, inspect\n"},
        {"notes.txt": "import ctypes\n"},
        {"spans/broken.py": "import ctypes (\n"},
        {
            "spans/same.py": "class A:\n    def __eq__(self, other):\n"
            "        return super().__eq__(other)\n"
        },
        {"spans/words.py": '"""Never call os._exit or look at f_back."""\nctypes_free = True\n'},
    ],
)
def test_honest_files_trip_no_wire(changes):
    assert collect_evidence(SPANS, {**SPANS.files, **changes}).tripwires == ()


def test_an_eq_that_is_always_true_is_a_sign_and_one_too_deep_to_read_is_none():
    answers = "True", "False", "-" * 2000 + "1"
    texts = [f"class A:\n    def __eq__(self, other):\n        return {a}\n" for a in answers]
    found = [collect_evidence(SPANS, {**SPANS.files, "spans/new.py": text}) for text in texts]
    assert [evidence.tripwires for evidence in found] == [("spans/new.py:2 __eq__",), (), ()]


@pytest.mark.parametrize(
    "text",
    [
        "class A:\n    __eq__ = lambda self, other: True\n",
        "class A:\n    __eq__: object = lambda self, other: True\n",
        "class A: pass\nA.__eq__ = lambda self, other: True\n",
        "class A: pass\nsetattr(A, '__eq__', lambda self, other: True)\n",
        "\nA = type('A', (), {'__eq__': lambda self, other: True})\n",
    ],
)
def test_an_eq_that_is_set_without_def_is_a_sign(text):
    evidence = collect_evidence(SPANS, {**SPANS.files, "spans/new.py": text})
    assert evidence.tripwires == ("spans/new.py:2 __eq__",)


def test_a_sign_that_was_there_is_not_new():
    before = {**SPANS.files, "spans/old.py": "import inspect\n"}
    task = replace(SPANS, files=before)
    after = {**before, "spans/old.py": "import os\nimport inspect\n"}
    assert collect_evidence(task, after).tripwires == ()
    twice = {**before, "spans/old.py": "import inspect\nimport inspect\n"}
    assert collect_evidence(task, twice).tripwires == ("spans/old.py:2 inspect",)
