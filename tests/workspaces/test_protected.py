"""Which files decide how tests run, and that grading takes them from the start."""

import pytest

from workbench.workspaces import (
    is_runner_file,
    is_test_file,
    manifest,
    tampered_paths,
    with_pristine_tests,
)

START = {
    "README.md": "lib",
    "lib/core.py": "x = 1\n",
    "lib/plugin.py": "",
    "tools/more.py": "",
    "tests/test_core.py": "def test_x(): assert 1\n",
    "tests/conftest.py": "pytest_plugins = ['tools.more']\n",
    "tests/data/table.csv": "1,2\n",
    "pyproject.toml": '[project]\nname = "lib"\n'
    '[tool.pytest.ini_options]\naddopts = "-p lib.plugin"\n',
    "setup.cfg": "[metadata]\nname = lib\n",
}
HIDDEN = {"tests/test_hidden.py": "def test_y(): assert 1\n"}
CODE = {"lib/core.py": "x = 2\n", "lib/new.py": "y = 1\n"}


def graded(changes, removed=()):
    files = {path: text for path, text in {**START, **changes}.items() if path not in removed}
    return with_pristine_tests(files, START, HIDDEN)


def test_the_agent_s_code_is_kept_and_the_hidden_tests_come_in():
    assert graded(CODE) == {**START, **CODE, **HIDDEN}


@pytest.mark.parametrize(
    "path",
    [
        "conftest.py", "lib/conftest.py", "pytest.ini", ".pytest.ini", "tests/pytest.ini",
        "pytest.toml", "tox.ini", "sitecustomize.py", "usercustomize.py", "evil.pth",
        "test_more.py", "lib/core_test.py", "tests/helper.py", "tests/__init__.py",
        "pytest.py", "_pytest/runner.py", "unittest/__init__.py", "json.py", "src/json.py",
        "pluggy/__init__.py", "src/_pytest/__init__.py", "tests", "tests/test_hidden.py/x",
        "evil-1.dist-info/entry_points.txt",
    ],
)  # fmt: skip
def test_what_could_change_how_tests_run_is_left_out(path):
    assert graded({**CODE, path: "evil"}) == {**START, **CODE, **HIDDEN}


@pytest.mark.parametrize(
    "path",
    ["tests/test_core.py", "tests/conftest.py", "tests/data/table.csv", "pyproject.toml",
     "setup.cfg", "lib/plugin.py", "tools/more.py"],
)  # fmt: skip
def test_what_was_changed_or_removed_there_is_put_back(path):
    assert graded({**CODE, path: "evil"}) == {**START, **CODE, **HIDDEN}
    assert graded(CODE, removed=[path]) == {**START, **CODE, **HIDDEN}


def test_a_file_that_was_removed_stays_removed():
    assert "tools/other.py" not in graded({}) and "README.md" not in graded({}, ["README.md"])


def test_hidden_tests_replace_visible_ones_of_the_same_name():
    hidden = {"tests/test_core.py": "new"}
    assert with_pristine_tests(START, START, hidden)["tests/test_core.py"] == "new"


def test_a_package_s_own_modules_may_have_names_of_the_library():
    start = {**START, "json/__init__.py": "", "lib/__init__.py": ""}
    changed = {**start, "json/tool.py": "z = 1\n", "lib/types.py": "z = 1\n"}
    assert with_pristine_tests(changed, start, {}) == changed


def tampered(changes, removed=()):
    files = {path: text for path, text in {**START, **changes}.items() if path not in removed}
    return tampered_paths(files, START)


def test_honest_work_is_no_tampering():
    new_test = {"tests/test_new.py": "def test_z(): pass\n"}
    assert tampered({**CODE, **new_test, "README.md": "better"}) == ()


def test_tests_and_runner_files_that_differ_are_tampered_with():
    changes = {"tests/test_core.py": "", "conftest.py": "", "pytest.py": "", "lib/plugin.py": "x"}
    assert tampered(changes, removed=["tests/data/table.csv"]) == (
        "conftest.py", "lib/plugin.py", "pytest.py", "tests/data/table.csv", "tests/test_core.py",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("path", "text", "counts"),
    [
        ("pyproject.toml", START["pyproject.toml"].replace('"lib"', '"other"'), False),
        ("pyproject.toml", START["pyproject.toml"].replace("-p lib.plugin", "-k none"), True),
        ("pyproject.toml", '[project]\nname = "lib"\n', True),
        ("pyproject.toml", "not toml", True),
        ("pyproject.toml", "tool = 3\n", True),
        ("pyproject.toml", "[[tool]]\npytest = 1\n", True),
        ("pyproject.toml", f"deep = {'[' * 3000}{']' * 3000}\n", True),
        ("pyproject.toml", f"large = {'9' * 5000}\n", True),
        ("setup.cfg", "[metadata]\nname = lib2\n", False),
        ("setup.cfg", "[metadata]\nname = lib\n[tool:pytest]\naddopts = -k none\n", True),
        ("tox.ini", "[tox]\nenvlist = py\n", False),
        ("tox.ini", "[pytest]\naddopts = -k none\n", True),
    ],
)
def test_of_shared_configuration_only_pytest_s_section_counts(path, text, counts):
    assert tampered({path: text}) == ((path,) if counts else ())


def test_the_manifest_names_each_protected_file_once():
    assert set(manifest(START, START)) == {
        "tests/test_core.py", "tests/conftest.py", "tests/data/table.csv", "pyproject.toml",
        "lib/plugin.py", "tools/more.py",
    }  # fmt: skip


def test_names_tell_what_a_file_is():
    tests = ["test_a.py", "a/b_test.py", "tests/x.json", "a/test/b.py"]
    assert all(map(is_test_file, tests))
    assert not any(map(is_test_file, ["a/tester.py", "contest.py", "a/latest.py", "test_a.txt"]))
    assert is_runner_file("a/conftest.py") and not is_runner_file("lib/config.py")
