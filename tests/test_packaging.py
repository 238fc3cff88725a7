"""Set-up: the four files that name packages agree, and failures say what to do."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

from workbench import bootstrap, commands
from workbench.__main__ import parser

TOP = Path(__file__).resolve().parent.parent
CONDA_NAMES = {
    "docker-py": "docker",
    "pytorch": "torch",
    "matplotlib-base": "matplotlib",
    "playwright-python": "playwright",
}


def in_pyproject():
    wanted = [Requirement(text) for text in bootstrap.requirements(("test",))]
    return {requirement.name: str(requirement.specifier) for requirement in wanted}


def locked():
    pins = {}
    for name in ("torch.lock", "requirements.lock"):
        for line in (TOP / name).read_text("utf-8").splitlines():
            if line and not line.startswith("#"):
                package, version = line.split("==")
                pins[package.lower().replace("_", "-")] = version
    return pins


def tracked_files():
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=TOP, capture_output=True, text=True,
    )  # fmt: skip
    if listed.returncode != 0:
        pytest.skip("not a git checkout, so there is no list of files to look at")
    return [TOP / name for name in listed.stdout.splitlines() if (TOP / name).is_file()]


def test_environment_yml_and_pyproject_ask_for_the_same_packages():
    rows = yaml.safe_load((TOP / "environment.yml").read_text("utf-8"))["dependencies"]
    pip_rows = next(row["pip"] for row in rows if isinstance(row, dict))
    assert pip_rows[-1] == "-e ."
    wanted = {}
    for text in [row for row in rows if isinstance(row, str)] + pip_rows[:-1]:
        requirement = Requirement(text)
        name = CONDA_NAMES.get(requirement.name, requirement.name)
        wanted[name] = str(requirement.specifier)
    assert wanted.pop("python") == ">=3.11" and wanted.pop("pip") == ""
    assert wanted == in_pyproject()


def test_the_locks_pin_every_package_pyproject_asks_for_within_its_range():
    pins = locked()
    for text in bootstrap.requirements(("test",)):
        requirement = Requirement(text)
        assert requirement.specifier.contains(pins[requirement.name]), requirement


def test_torch_is_pinned_apart_and_the_build_tool_is_pinned_too():
    assert "\ntorch==" not in (TOP / "requirements.lock").read_text("utf-8")
    assert "torch==" in (TOP / "torch.lock").read_text("utf-8")
    assert {"hatchling", "setuptools"} <= set(locked())


def test_our_specifier_reader_agrees_with_packaging_on_pyproject():
    for text in bootstrap.requirements(("test",)):
        specifier = Requirement(text).specifier
        for version in ("0.1", "2", "2.9", "2.8.9", "2.13.0+cpu", "3.0", "8.3", "5.15.1"):
            ours = all(bootstrap._holds(version, str(part)) for part in specifier)
            assert ours == specifier.contains(version), (text, version)


def test_unmet_names_the_package_and_what_was_found():
    assert bootstrap.unmet(["numpy>=2,<3"]) == []
    assert bootstrap.unmet(["numpy>=99"])[0].startswith("numpy>=99 (found ")
    assert bootstrap.unmet(["no-such-package>=1"]) == ["no-such-package>=1 (not installed)"]


def test_an_old_python_is_told_which_one_is_needed():
    with pytest.raises(bootstrap.SetupError, match=r"3\.11 or newer is needed; this is 3\.9"):
        bootstrap.check_python((3, 9, 6))


def test_a_full_disk_is_told_before_anything_is_made(tmp_path):
    with pytest.raises(bootstrap.SetupError, match="needs 4 GB of free disk; .* has 1.0 GB"):
        bootstrap.check_room(tmp_path, free_bytes=10**9)


def test_a_python_without_ensurepip_is_told_which_package_to_install(tmp_path):
    (tmp_path / "ensurepip").mkdir()  # importable and empty, as Debian leaves it
    (tmp_path / "ensurepip" / "__init__.py").write_text("")
    code = "from workbench import bootstrap as b\nb.check_venv_module()"
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{TOP}"}
    run = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True
    )
    assert "sudo apt install python3-venv" in run.stderr


def test_a_taken_port_is_told_with_another_to_try():
    import socket

    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]
        with pytest.raises(bootstrap.SetupError, match=f"Port {port} is taken") as told:
            commands.check_port(port)
        assert f"--port {port + 1}" in str(told.value)


def test_all_tests_run_in_two_processes_and_chosen_ones_in_one():
    two, chosen = ["-n", "2", "--dist", "worksteal"], ["tests/plots", "-k", "curve"]
    assert commands.pytest_command([], fast=False)[1:] == ["-m", "pytest", *two]
    assert commands.pytest_command([], fast=True)[1:] == ["-m", "pytest", *two, "-m", "not slow"]
    assert commands.pytest_command(chosen, fast=False)[1:] == ["-m", "pytest", *chosen]


def test_a_changed_lock_changes_the_stamp(tmp_path):
    for name in ("torch.lock", "requirements.lock", "pyproject.toml"):
        (tmp_path / name).write_text((TOP / name).read_text("utf-8"))
    before = bootstrap.fingerprint(tmp_path)
    (tmp_path / "torch.lock").write_text("torch==2.14.0\n")
    assert bootstrap.fingerprint(tmp_path) != before


@pytest.mark.parametrize(
    "words, told",
    [
        (("demo", "--seed", "-1"), "expected a seed from 0 to"),
        (("pretrain", "--seed", "-1"), "expected a seed from 0 to"),
        (("demo", "--seed", "abc"), "expected a seed from 0 to 2**32 - 1, got abc"),
        (("demo", "--minutes", "abc"), "expected 1 to 10000 minutes, got abc"),
        (("demo", "--minutes", "nan"), "expected 1 to 10000 minutes, got nan"),
        (("lab", "--port", "abc"), "expected a port from 1 to 65535, got abc"),
        (("demo", "--out", "pyproject.toml"), "expected a folder, but pyproject.toml is a file"),
        (("reproduce", "six-designs", "--out", "pyproject.toml/x"), "pyproject.toml is a file"),
        (("nbgrader", "pyproject.toml"), "expected a folder, but pyproject.toml is a file"),
        (("nbgrader",), "the following arguments are required: out\n"),
    ],
)
def test_options_that_cannot_be_are_refused_before_anything_runs(words, told, monkeypatch, capsys):
    monkeypatch.chdir(TOP)
    with pytest.raises(SystemExit) as refused:
        parser().parse_args(words)
    assert refused.value.code == 2 and told in capsys.readouterr().err


def test_every_option_says_what_it_is_for():
    (commands_,) = (a for a in parser()._actions if isinstance(a.choices, dict))
    silent = [
        f"{name} {action.dest}"
        for name, command in commands_.choices.items()
        for action in command._actions
        if not action.help
    ]
    assert len(commands_.choices) > 8 and silent == []


@pytest.fixture
def small_project(tmp_path):
    """A project that needs one package nobody has, with locks that ask for nothing."""
    (tmp_path / "torch.lock").write_text("no-such-torch==1.0\n")
    (tmp_path / "requirements.lock").write_text("")
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nname = "small"\ndependencies = ["no-such-torch>=1"]\n'
        "[project.optional-dependencies]\ntest = []\n"
    )
    return tmp_path


def test_an_environment_somebody_else_made_is_never_removed(small_project):
    (small_project / ".venv").mkdir()
    (small_project / ".venv" / "precious").write_text("kept")
    with pytest.raises(bootstrap.SetupError, match="was not made by this program"):
        bootstrap.ensure_environment((), small_project)
    assert (small_project / ".venv" / "precious").read_text() == "kept"


@pytest.mark.slow
def test_a_failed_installation_names_its_log_and_is_made_anew_next_time(small_project, monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setattr(bootstrap, "MIN_FREE_GB", 0)
    for _ in range(2):  # the second run finds a half-made environment of ours
        with pytest.raises(bootstrap.SetupError, match=r"torch failed(.|\n)*\.venv/setup\.log"):
            bootstrap.ensure_environment((), small_project)
        assert "not finished" in (small_project / ".venv" / "workbench-setup").read_text()


def test_two_first_runs_at_once_take_turns(tmp_path):
    lock = tmp_path / ".venv.lock"
    code = (
        "from pathlib import Path; from workbench import bootstrap as b\n"
        f"with b._only_one(Path({str(lock)!r})): print('mine', flush=True)"
    )
    with bootstrap._only_one(lock):
        second = subprocess.Popen(
            [sys.executable, "-c", code], cwd=TOP, stdout=subprocess.PIPE, text=True
        )
        assert second.stdout.readline() == "Another run is making .venv; waiting for it.\n"
    assert second.communicate()[0] == "mine\n"


def test_links_between_our_pages_lead_somewhere():
    for page in [*TOP.glob("*.md"), *(TOP / "docs").glob("*.md"), *(TOP / "data").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)", page.read_text("utf-8")):
            assert "://" in target or (page.parent / target).exists(), f"{page.name}: {target}"


def test_no_tracked_text_names_an_absolute_path_of_somebody_s_machine():
    pattern = re.compile(r"(?<![\w.])/(home|Users|root|work)/\w")
    for path in tracked_files():
        if path.suffix in {".py", ".md", ".toml", ".yml", ".ipynb", ".lock", ".json", ""}:
            text = path.read_text("utf-8", "replace")
            if path != Path(__file__).resolve():
                assert not pattern.search(text), f"{path.name}: {pattern.search(text)}"


def test_the_package_carries_what_the_first_command_needs():
    project = tomllib.loads((TOP / "pyproject.toml").read_text("utf-8"))
    assert project["project"]["license"] == "Apache-2.0"
    assert "Apache License" in (TOP / "LICENSE").read_text("utf-8")
    assert "torch" not in " ".join(project["build-system"]["requires"])
