"""pytest suites of workspaces: an outcome for every required test, and nothing without one."""

import os

import pytest

from workbench.records import Limits
from workbench.sandbox import open_sandbox, pytest_suites, wire
from workbench.sandbox.responses import Response

PACKAGE = {
    "lib/__init__.py": "",
    "lib/core.py": "def double(x):\n    return 2 * x\n",
    "tests/conftest.py": "import pytest\n@pytest.fixture\ndef five():\n    return 5\n",
    "tests/test_core.py": """
import pytest
from lib.core import double

@pytest.mark.parametrize("x", [1, 2])
def test_double(x):
    assert double(x) == x + x

def test_fixture_of_the_repository(five, tmp_path, monkeypatch, capsys):
    (tmp_path / "deep").mkdir()
    monkeypatch.setenv("FIVE", "5")
    print(double(five))
    assert capsys.readouterr().out == "10\\n"
""",
}
DOUBLES = "tests/test_core.py::test_double[1]", "tests/test_core.py::test_double[2]"
FIXTURE = "tests/test_core.py::test_fixture_of_the_repository"
TESTS = (*DOUBLES, FIXTURE)
QUICK = Limits(cpu_s=0.6, wall_s=120.0)


def with_test(text, **files):
    """The package with one more test file."""
    return {**PACKAGE, **files, "tests/test_more.py": text}


def statuses(result):
    return {name: status for name, status, _ in result.outcomes}


@pytest.fixture(
    scope="module",
    params=[
        "local",
        pytest.param("local:2", marks=pytest.mark.slow),
        pytest.param("docker:2", marks=pytest.mark.slow),
    ],
)
def walls(request):
    """Every kind of walls that can be had here."""
    if request.param.startswith("docker"):
        request.getfixturevalue("docker_engine")
    with open_sandbox(request.param, workers=1) as sandbox:
        if sandbox.tier == 1:
            pytest.skip("no walls on this machine")
        yield sandbox


def test_every_test_of_a_workspace_is_found_and_run(walls):
    result = walls.run_pytest(PACKAGE)
    assert result.status == "ok" and statuses(result) == dict.fromkeys(TESTS, "passed")
    assert result.cpu_s > 0


def test_only_the_required_tests_are_run_and_told_in_their_order(walls):
    files = with_test("def test_other():\n    raise SystemError('nobody asked for this')\n")
    result = walls.run_pytest(files, [FIXTURE, DOUBLES[0]])
    assert [name for name, _, _ in result.outcomes] == [FIXTURE, DOUBLES[0]]
    assert result.status == "ok" and set(statuses(result).values()) == {"passed"}


def test_a_required_test_that_does_not_report_is_missing(walls):
    names = [DOUBLES[0], "tests/test_core.py::test_gone", "tests/test_gone.py::test_a", "x"]
    result = walls.run_pytest(PACKAGE, names)
    assert list(statuses(result).values()) == ["passed", "missing", "missing", "missing"]


def test_what_a_test_can_say(walls):
    files = with_test("""
import pytest
from lib.core import double

def test_passes(): pass
def test_wrong(): assert double(2) == 5
def test_no_raise():
    with pytest.raises(ValueError): double(1)
def test_breaks(): double()
def test_skips(): pytest.skip("not today")
@pytest.mark.xfail
def test_expected_to_fail(): assert False
@pytest.mark.xfail(strict=True)
def test_fails_by_passing(): pass
@pytest.fixture
def broken(): raise RuntimeError("set-up")
def test_set_up_breaks(broken): pass
@pytest.fixture
def leaky():
    yield
    raise RuntimeError("tear-down")
def test_tear_down_breaks(leaky): pass
""")
    result = walls.run_pytest(files)
    said = {name.split("test_more.py::test_")[-1]: rest for name, *rest in result.outcomes}
    assert {name: said[name][0] for name in list(said)[3:]} == {
        "passes": "passed",
        "wrong": "wrong",
        "no_raise": "wrong",
        "breaks": "error",
        "skips": "skipped",
        "expected_to_fail": "skipped",
        "fails_by_passing": "error",
        "set_up_breaks": "error",
        "tear_down_breaks": "error",
    }
    assert said["wrong"][1].startswith("tests/test_more.py:6: ") and "4 == 5" in said["wrong"][1]
    assert said["skips"][1].endswith("not today")


def test_messages_name_no_folder_of_this_machine(walls):
    files = with_test("""
import json
def test_library(): json.loads("")
def test_own(tmp_path): (tmp_path / "gone").read_text()
""")
    said = {name: message for name, _, message in walls.run_pytest(files).outcomes}
    assert said["tests/test_more.py::test_library"].startswith("json/decoder.py:")
    assert said["tests/test_more.py::test_own"].endswith("directory: 'tmp/test_own0/gone'")
    bad = "import pytest\n@pytest.mark.parametrize('n', [1])\ndef test_a(): pass\n"
    (outcome,) = walls.run_pytest({"test_a.py": bad}).outcomes
    assert outcome[2].startswith("_pytest/python.py:") and "no argument 'n'" in outcome[2]


def test_what_pytest_and_the_tests_print_is_kept(walls):
    files = with_test("""
import os
def test_a():
    print("said by the test")
    os.write(2, b"past pytest")
    assert False
""")
    result = walls.run_pytest(files)
    assert "1 failed, 3 passed" in result.stdout and "said by the test" in result.stdout
    assert result.stderr == "past pytest" and not result.stdout_cut
    little = walls.run_pytest(files, None, Limits(cpu_s=10.0, wall_s=60.0, output_kb=0))
    assert (little.stdout, little.stdout_cut) == ("", True)
    assert little.outcomes == result.outcomes


def test_a_file_that_cannot_be_collected_takes_no_other_with_it(walls):
    files = with_test("from lib.core import nothing\ndef test_a(): pass\n")
    names = [*TESTS, "tests/test_more.py::test_a"]
    result = walls.run_pytest(files, names)
    assert list(statuses(result).values()) == ["passed"] * 3 + ["missing"]
    assert "cannot import name 'nothing'" in result.outcomes[-1][2]
    every = walls.run_pytest(files)
    assert statuses(every) == {"tests/test_more.py": "error", **dict.fromkeys(TESTS, "passed")}


def test_a_package_that_is_not_python_says_where(walls):
    result = walls.run_pytest({**PACKAGE, "lib/core.py": "x = 1\ndef double(:\n"}, TESTS)
    assert set(statuses(result).values()) == {"missing"}
    assert result.outcomes[0][2] == "lib/core.py:2: SyntaxError: invalid syntax"


def test_a_conftest_that_fails_is_a_compile_error(walls):
    result = walls.run_pytest({**PACKAGE, "tests/conftest.py": "import nothing_here\n"}, TESTS)
    assert result.status == "compile_error" and "nothing_here" in result.message
    assert "nothing_here" in result.stderr
    assert set(statuses(result).values()) == {"missing"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("import os\nos._exit(0)\n", "crash"),
        ("import os\nos._exit(1)\n", "crash"),
        ("import sys\nsys.exit(0)\n", "crash"),
        ("raise KeyboardInterrupt\n", "crash"),
        ("import pytest\npytest.exit('done', returncode=0)\n", "ok"),
        ("import pytest\npytest.skip('none', allow_module_level=True)\n", "ok"),
        ("while True: pass\n", "timeout"),
        ("x = bytearray(1 << 40)\n", "ok"),
    ],
)
def test_a_run_that_ends_early_confirms_nothing(walls, code, status):
    result = walls.run_pytest({**PACKAGE, "lib/core.py": code}, TESTS, QUICK)
    assert result.status == status
    assert set(statuses(result).values()) == {"missing"}


def test_passes_before_an_early_exit_do_not_count_but_failures_do(walls):
    files = with_test("import os\ndef test_a(): assert False\ndef test_b(): os._exit(1)\n")
    names = [*TESTS, "tests/test_more.py::test_a", "tests/test_more.py::test_b"]
    result = walls.run_pytest(files, names)
    assert result.status == "crash" and result.message.endswith("in tests/test_more.py::test_b")
    assert list(statuses(result).values()) == ["missing"] * 3 + ["wrong", "missing"]


@pytest.mark.slow
def test_passes_before_a_limit_count_and_the_test_that_met_it_is_told(walls):
    files = with_test("def test_a():\n    while True: pass\n")
    result = walls.run_pytest(files, [*TESTS, "tests/test_more.py::test_a"], QUICK)
    assert result.status == "timeout"
    assert list(statuses(result).values()) == ["passed"] * 3 + ["timeout"]


@pytest.mark.slow
def test_passes_before_a_limit_that_no_test_met_do_not_count(walls):
    conftest = PACKAGE["tests/conftest.py"]
    conftest += "def pytest_unconfigure(config):\n    while True: pass\n"
    result = walls.run_pytest({**PACKAGE, "tests/conftest.py": conftest}, TESTS, QUICK)
    assert result.status == "timeout" and set(statuses(result).values()) == {"missing"}


def test_what_is_registered_for_the_end_is_not_run(walls):
    end = "import atexit, os\natexit.register(lambda: os._exit(0))\n"
    files = with_test(end + "def test_a(): assert False\n")
    result = walls.run_pytest(files, ["tests/test_more.py::test_a"])
    assert result.status == "ok" and list(statuses(result).values()) == ["wrong"]


def test_the_repository_s_own_configuration_counts(walls):
    files = {
        "src/lib.py": "def one():\n    return 1\n",
        "checks/check_lib.py": "import lib\ndef check_one():\n    assert lib.one() == 1\n",
        "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["src"]\ntestpaths = '
        '["checks"]\npython_files = "check_*.py"\npython_functions = "check_*"\n',
    }
    assert statuses(walls.run_pytest(files)) == {"checks/check_lib.py::check_one": "passed"}


def test_a_suite_sees_pytest_and_the_standard_library_only(walls):
    files = with_test("""
import pytest
@pytest.mark.parametrize("name", ["numpy", "torch", "workbench", "pip", "setuptools"])
def test_hidden(name):
    with pytest.raises(ImportError): __import__(name)
def test_there(): import _pytest.pytester, pluggy, unittest.mock, json
""")
    found = statuses(walls.run_pytest(files))
    assert len(found) == 9 and set(found.values()) == {"passed"}


def test_a_file_called_like_pytest_takes_no_place(walls):
    files = with_test("def test_a(): assert False\n", **{"pytest.py": "import os\nos._exit(0)\n"})
    result = walls.run_pytest(files, ["tests/test_more.py::test_a"])
    assert list(statuses(result).values()) == ["wrong"]


def test_tests_cannot_start_processes_or_leave_their_folder(walls, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("here")
    os.chmod(tmp_path, 0o755)
    files = with_test(f"""
import os, subprocess, sys, pytest
def test_fork():
    with pytest.raises(OSError): os.fork()
def test_exec():
    with pytest.raises(OSError): subprocess.run([sys.executable, "-c", "1"])
def test_read():
    with pytest.raises(OSError): open({str(secret)!r})
def test_write():
    with pytest.raises(OSError): open(os.path.join(os.path.dirname(pytest.__file__), "x"), "w")
""")
    found = statuses(walls.run_pytest(files))
    assert len(found) == 7 and set(found.values()) == {"passed"}


def test_runs_leave_nothing_to_each_other(walls):
    write = with_test("def test_a():\n    open('left', 'w').write('x')\n    import lib.core as c\n"
                      "    c.double = None\n")  # fmt: skip
    assert set(statuses(walls.run_pytest(write)).values()) == {"passed"}
    look = with_test("import os\ndef test_a():\n    assert not os.path.exists('left')\n")
    assert set(statuses(walls.run_pytest(look)).values()) == {"passed"}


def test_ordinary_runs_have_no_pytest_even_after_a_suite(walls):
    walls.run_pytest(PACKAGE)
    program = "def f(name):\n    try:\n        __import__(name)\n    except ImportError:\n"
    program += "        return 'no'\n    return 'yes'\n"
    result = walls.call({"a.py": program}, "a.py", "f", [("pytest",), ("_pytest",), ("json",)])
    assert [case.value for case in result.results] == ["no", "no", "yes"]


def test_equal_suites_are_run_once_and_counted(walls):
    files = with_test("def test_only_here(): pass\n")
    before = walls.stats
    first, second = walls.run_pytest(files), walls.run_pytest(files)
    assert not first.reused and second.reused and first.outcomes == second.outcomes
    after = walls.stats
    assert (after.executions - before.executions, after.reused - before.reused) == (1, 1)


def test_a_workspace_that_is_too_large_is_not_run(walls):
    huge = walls.run_pytest({**PACKAGE, "big.txt": "x" * (wire.MAX_SOURCE_BYTES + 1)}, TESTS)
    assert huge.status == "compile_error" and set(statuses(huge).values()) == {"missing"}


def test_servers_with_pytest_start_when_first_asked_for_and_end_with_the_sandbox():
    sandbox = open_sandbox("local", workers=1)
    assert sandbox._suites.opened == ()
    sandbox.run_pytest(PACKAGE)
    process = sandbox._suites.opened[0]._keepers[0]._worker.server._process
    sandbox.close()
    assert process.poll() is not None
    with pytest.raises(RuntimeError, match="closed"):
        sandbox.run_pytest(PACKAGE)


STARTED, PASSED = b's["a"]\n', b't["a", "passed", ""]\n'


def read(payload, exit_status=0, ended=wire.EXITED):
    response = Response(ended, exit_status, payload, 0.1, 0.1)
    return pytest_suites.suite_result(response, ["a"], Limits())


def test_a_whole_report_with_the_right_exit_code_passes():
    assert read(STARTED + PASSED + b".[0]\n").outcomes == (("a", "passed", ""),)


@pytest.mark.parametrize(
    ("payload", "exit_status"),
    [
        (STARTED + PASSED + b".[1]\n", 1),  # the exit code says that a test failed
        (STARTED + PASSED + b".[0]\n", 1),
        (STARTED + PASSED + b".[1]\n", 0),
        (STARTED + PASSED + b".[5]\n", 5),
        (STARTED + PASSED, 0),  # no end
        (PASSED + b".[0]\n", 0),  # it was not running
        (STARTED + PASSED + PASSED + b".[0]\n", 0),
        (STARTED + PASSED + STARTED + b't["a", "wrong", ""]\n.[0]\n', 0),
        (STARTED + b't["a", "fine", ""]\n.[0]\n', 0),
        (STARTED + PASSED + b".[0]\n.[0]\n", 0),
        (STARTED + PASSED + b".[0]\nrest", 0),
        (STARTED + PASSED + b'.["0"]\n', 0),
        (STARTED + PASSED + b".0\n", 0),
        (STARTED + PASSED + b"junk\n.[0]\n", 0),
        (STARTED + b't["a", "passed"]\n.[0]\n', 0),
        (STARTED + b"t" + b"[" * 5000 + b"\n.[0]\n", 0),
        (STARTED + b"t\xff\n.[0]\n", 0),
    ],
)
def test_a_report_that_does_not_agree_with_itself_confirms_nothing(payload, exit_status):
    result = read(payload, exit_status)
    assert result.status == "crash" and result.outcomes[0][1] == "missing"


def test_a_fault_of_the_server_is_not_the_candidate_s():
    result = read(b"could not start a run", ended=wire.FAULT)
    assert result.status == "sandbox_error" and result.outcomes[0][1] == "missing"
