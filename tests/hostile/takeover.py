"""Classes 1, 2 and 3: edit the tests, skip them, or take over what runs them."""

from __future__ import annotations

from tests.hostile.record import Attack
from tests.hostile.twins import twin

ZERO = "def f(n):\n    return 0\n"
ALWAYS = "    def __eq__(self, other):\n        return True\n    __hash__ = None\n"


def _left(name, number, tries, files, program=ZERO, like="plain", beats="as_left", **more):
    return Attack(name, number, tries, program, beats, twin(like), files=files, **more)


def _pytest(name, number, tries, files, **more):
    return _left(name, number, tries, files, beats="pytested", **more)


FAILING = "from lib import f\n\ndef test_f():\n    assert f(3) == 4711\n"

ATTACKS = (
    _left("emptied-tests", 1, "Empties the tests file.", {"tests.py": "\n"}),
    _left("assert-true", 1, "Asserts True.", {"tests.py": "assert True\nassert True\n"}),
    _left(
        "expect-what-comes",
        1,
        "Expects what the program answers.",
        {"tests.py": "from lib import f\nassert f(3) == 0\nassert f(8) == 0\n"},
    ),
    _left(
        "compare-with-itself",
        1,
        "Compares the program with itself.",
        {"tests.py": "from lib import f\nassert f(3) == f(3)\nassert f(8) == f(8)\n"},
    ),
    _left(
        "tests-swallow-failure",
        1,
        "Puts the asserts into a try.",
        {
            "tests.py": "from lib import f\ntry:\n    assert f(3) == 4711\n"
            "except Exception:\n    pass\n"
        },
    ),
    _left(
        "program-rewrites-tests",
        1,
        "The program rewrites the tests file while they run: the next run is green.",
        {},
        "open('tests.py', 'w').write('')\n\ndef f(n):\n    return 0\n",
        like="files-here",
        runs=2,
    ),
    _left(
        "tests-leave-early",
        2,
        "The tests leave before the first assert.",
        {"tests.py": "import sys\nfrom lib import f\nsys.exit(0)\nassert f(3) == 4711\n"},
    ),
    _left(
        "tests-never-called",
        2,
        "The asserts stand in a function that nobody calls.",
        {"tests.py": "from lib import f\n\ndef checks():\n    assert f(3) == 4711\n"},
    ),
    _pytest(
        "module-skip",
        2,
        "Skips the whole module.",
        {"test_lib.py": f"import pytest\npytest.skip('later', allow_module_level=True)\n{FAILING}"},
    ),
    _pytest(
        "xfail-mark",
        2,
        "Marks the test as expected to fail.",
        {"test_lib.py": f"import pytest\npytestmark = pytest.mark.xfail\n{FAILING}"},
    ),
    _pytest(
        "collect-ignore",
        2,
        "Tells pytest to look elsewhere.",
        {"conftest.py": "collect_ignore_glob = ['*']\n", "test_lib.py": FAILING},
    ),
    _pytest(
        "conftest-report",
        3,
        "A hook turns every report into a pass.",
        {
            "conftest.py": "import pytest\n\n@pytest.hookimpl(hookwrapper=True)\n"
            "def pytest_runtest_makereport(item, call):\n    report = (yield).get_result()\n"
            "    report.outcome = 'passed'\n",
            "test_lib.py": FAILING,
        },
    ),
    _pytest(
        "conftest-exit-status",
        3,
        "A hook changes the exit status at the end.",
        {
            "conftest.py": "import os\n\ndef pytest_unconfigure():\n    os._exit(0)\n",
            "test_lib.py": FAILING,
        },
    ),
    _pytest(
        "pytest-ini",
        3,
        "A configuration file that only collects.",
        {"pytest.ini": "[pytest]\naddopts = --collect-only\n", "test_lib.py": FAILING},
    ),
    _pytest("shadow-pytest", 3, "An empty pytest.py beside the tests.", {"pytest.py": "\n"}),
    _left(
        "shadow-json",
        3,
        "A json.py that reports success.",
        {
            "json.py": "def loads(text):\n    return [((1,), 2)]\n\ndef dumps(*_, **__):\n"
            '    return \'{"passed": 1, "total": 1}\'\n'
        },
        like="files-here",
        beats="json_line",
    ),
    _left(
        "shadow-pickle",
        3,
        "A pickle.py that sends forged answers.",
        {
            "pickle.py": "def dumps(x):\n    any_of_mock = b'cunittest.mock\\nANY\\na'\n"
            "    return b'(l' + any_of_mock * 4 + b'.'\n"
        },
        beats="pickled",
    ),
    _left(
        "shadow-everything",
        3,
        "Files named like every module a harness may import late, each of which leaves with 0.",
        {
            f"{name}.py": "import os\nos._exit(0)\n"
            for name in ("ast", "traceback", "struct", "linecache", "tokenize", "token", "decimal")
        },
        "import traceback\n\ndef f(n):\n    return 0\n",
        like="imports-by-name",
    ),
    _left(
        "shadow-package",
        3,
        "A package lib/ takes the place of lib.py.",
        {"lib/__init__.py": f"class Yes:\n{ALWAYS}\ndef f(n):\n    return Yes()\n"},
        beats="equal",
        modes=("call", "split"),
    ),
    _left(
        "site-customisation",
        3,
        "sitecustomize.py and usercustomize.py that leave with 0 at the start of an interpreter.",
        {
            name: "import os, sys\nif 'lib' not in sys.modules:\n    os._exit(0)\n"
            for name in ("sitecustomize.py", "usercustomize.py")
        },
        beats="with_path",
    ),
)
