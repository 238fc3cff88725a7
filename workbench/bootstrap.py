"""Make the environment the workbench runs in: `.venv` at the repository's top, on first use.

Stage: before all of them. What comes in: torch.lock, requirements.lock and pyproject.toml. What
goes out: a Python that has everything, and the command line run again with it. Only the standard
library is imported, because nothing else exists yet; the syntax stays readable to old Pythons, so
that they can say what is wrong. Left out: GPU drivers, conda (environment.yml is another way to
the same packages), resolving versions (the locks are written by hand from a tested environment).
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

MIN_PYTHON = (3, 11)
MIN_FREE_GB = 4
TORCH_CPU_INDEX = "https://download.pytorch.org/whl/cpu"
TOP = Path(__file__).resolve().parent.parent
"""The repository's top folder (of an editable install or a clone)."""


class SetupError(ValueError):
    """A command cannot go on; the text says why and what to do. The program exits with status 2."""


def check_python(version: tuple = sys.version_info) -> None:
    """Nothing, or SetupError if this Python is too old for the workbench."""
    if tuple(version[:2]) < MIN_PYTHON:
        raise SetupError(
            f"Python {MIN_PYTHON[0]}.{MIN_PYTHON[1]} or newer is needed; "
            f"this is {version[0]}.{version[1]} ({sys.executable}).\n"
            "Run the same command with a newer one, e.g. python3.12 -m workbench ..."
        )


def requirements(extras: tuple[str, ...] = (), top: Path = TOP) -> list[str]:
    """What pyproject.toml asks for, e.g. ["numpy>=2,<3", ...], with the named extras."""
    import tomllib  # here and not above: an old Python has no tomllib and must get as far as main

    project = tomllib.loads((top / "pyproject.toml").read_text("utf-8"))["project"]
    wanted = list(project["dependencies"])
    for extra in extras:
        wanted += project["optional-dependencies"][extra]
    return wanted


def unmet(wanted: list[str]) -> list[str]:
    """The requirements that the running Python does not satisfy, with what was found instead."""
    found = []
    for requirement in wanted:
        name, specifiers = re.fullmatch(r"([\w.-]+)\s*(.*)", requirement).groups()
        try:
            version = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found.append(f"{requirement} (not installed)")
            continue
        if not all(_holds(version, part) for part in specifiers.split(",") if part):
            found.append(f"{requirement} (found {version})")
    return found


def _holds(version: str, specifier: str) -> bool:
    """Whether "2.13.0+cpu" satisfies ">=2.9"; knows the three operators pyproject.toml uses."""
    operator, bound = re.fullmatch(r"\s*(>=|==|<)\s*([\d.]+)\s*", specifier).groups()
    have, want = (_release(text) for text in (version, bound))
    length = max(len(have), len(want))
    have, want = (numbers + (0,) * (length - len(numbers)) for numbers in (have, want))
    return {">=": have >= want, "==": have == want, "<": have < want}[operator]


def _release(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.match(r"\d+(\.\d+)*", version)[0].split("."))


def fingerprint(top: Path = TOP) -> str:
    """A hash of the lock files, pyproject.toml and the Python version: the environment's stamp."""
    digest = hashlib.sha256(repr(sys.version_info[:2]).encode())
    for name in ("torch.lock", "requirements.lock", "pyproject.toml"):
        digest.update((top / name).read_bytes())
    return digest.hexdigest()[:16]


def venv_python(top: Path = TOP) -> Path:
    """Where `.venv` keeps its interpreter."""
    inside = ("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")
    return top.joinpath(".venv", *inside)


def ensure_environment(extras: tuple[str, ...] = (), top: Path = TOP) -> Path:
    """The interpreter to use: the running one if it has everything, else `.venv`'s, made if needed.

    Raises SetupError. A `.venv` that this program did not make is used if it has everything and
    is otherwise left alone; one of ours that is half made or older than the locks is made anew.
    """
    missing = unmet(requirements(extras, top))
    if not missing:
        return Path(sys.executable)
    if Path(sys.prefix).resolve() == (top / ".venv").resolve():
        raise SetupError(
            f".venv lacks {', '.join(missing)}.\nLeave it (deactivate), remove the folder, and run "
            "the same command again: it will be made anew."
        )
    if _stamp(top) == fingerprint(top):
        return venv_python(top)
    with _only_one(top / ".venv.lock"):
        if _stamp(top) == fingerprint(top):  # another first run made it while we waited
            return venv_python(top)
        if (top / ".venv").exists() and not (top / ".venv" / "workbench-setup").exists():
            return _foreign_environment(extras, top)
        make_environment(top)
    return venv_python(top)


def become(command: list[str], top: Path = TOP) -> int:
    """Run `command` in the place of this process (Ctrl-C is its own affair); its exit status."""
    if os.name != "nt":
        os.chdir(top)
        os.execv(command[0], command)
    process = subprocess.Popen(command, cwd=top)
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            continue  # the child got it too and decides


def make_environment(top: Path = TOP) -> None:
    """Make `.venv` from the lock files. Raises SetupError naming the log if a step fails."""
    check_room(top)
    check_venv_module()
    shutil.rmtree(top / ".venv", ignore_errors=True)
    (top / ".venv").mkdir()
    (top / ".venv" / "workbench-setup").write_text("not finished\n")
    print("Making .venv (once; a few minutes). Log: .venv/setup.log", flush=True)
    python = str(venv_python(top))
    _step(top, "environment", [[sys.executable, "-m", "venv", str(top / ".venv")]])
    pip = [python, "-m", "pip", "install", "--disable-pip-version-check"]
    _step(top, "torch", [pip + choice for choice in _torch_choices(top)])
    _step(top, "everything else", [pip + ["-r", str(top / "requirements.lock")]])
    install = ["--no-deps", "--no-build-isolation", "-e", str(top)]
    _step(top, "the workbench itself", [pip + install])
    _silence_jupyterlab(top)
    (top / ".venv" / "workbench-setup").write_text(fingerprint(top) + "\n")


def check_room(top: Path, free_bytes: int | None = None) -> None:
    """Nothing, or SetupError if the disk is too full for an environment."""
    free_gb = (shutil.disk_usage(top).free if free_bytes is None else free_bytes) / 1e9
    if free_gb < MIN_FREE_GB:
        raise SetupError(
            f"The environment needs {MIN_FREE_GB} GB of free disk; {top} has {free_gb:.1f} GB.\n"
            "Free some space, or clone to another disk, then run the same command again."
        )


def check_venv_module() -> None:
    """Nothing, or SetupError if this Python cannot make environments (Debian's python3-venv)."""
    try:
        import ensurepip

        ensurepip.version()  # the import alone may succeed as an empty namespace package
    except (ImportError, AttributeError, OSError):
        raise SetupError(
            "This Python has no ensurepip, so it cannot make an environment.\n"
            "On Debian or Ubuntu: sudo apt install python3-venv, then the same command again."
        )


def _torch_choices(top: Path) -> list[list[str]]:
    """Ways to install torch, to be tried in order: small CPU builds first where there is no GPU."""
    pins = (top / "torch.lock").read_text("utf-8").split("\n")
    pin = next(line.strip() for line in pins if line.strip() and not line.startswith("#"))
    x86_linux = sys.platform == "linux" and platform.machine() == "x86_64"
    if not x86_linux or shutil.which("nvidia-smi"):
        return [[pin]]
    quick = ["--retries", "1", "--timeout", "15"]
    return [[pin + "+cpu"], [pin + "+cpu", "--index-url", TORCH_CPU_INDEX, *quick], [pin]]


def _step(top: Path, name: str, choices: list[list[str]]) -> None:
    """Run the first of `choices` that succeeds, its output in the log; SetupError if none does."""
    log_path = top / ".venv" / "setup.log"
    start = time.monotonic()
    print(f"  {name} ...", end="", flush=True)
    for number, command in enumerate(choices):
        if name == "torch" and 0 < number == len(choices) - 1:
            print(" no CPU-only build on offer, taking the full one (several GB) ...", end="")
            sys.stdout.flush()
        with log_path.open("ab") as log:
            log.write(("\n$ " + " ".join(command) + "\n").encode())
            log.flush()
            if subprocess.run(command, stdout=log, stderr=log, cwd=top).returncode == 0:
                print(f" {time.monotonic() - start:.0f} s", flush=True)
                return
    print(" failed", flush=True)
    lines = log_path.read_text("utf-8", "replace").strip().split("\n")
    raise SetupError(
        f"Installing {name} failed. The end of .venv/setup.log:\n  "
        + "\n  ".join(lines[-6:])
        + "\nIf the network was the reason, run the same command again."
    )


def _stamp(top: Path) -> str:
    try:
        return (top / ".venv" / "workbench-setup").read_text("utf-8").strip()
    except OSError:
        return ""


def _foreign_environment(extras: tuple[str, ...], top: Path) -> Path:
    """`.venv`'s interpreter if that environment, not made here, has everything; else SetupError."""
    code = (
        "import sys; from workbench import bootstrap as b; "
        f"print('; '.join(b.unmet(b.requirements({extras!r}))))"
    )
    python = venv_python(top)
    if python.exists():
        asked = subprocess.run([str(python), "-c", code], cwd=top, capture_output=True, text=True)
        missing = asked.stdout.strip() if asked.returncode == 0 else asked.stderr.strip()[-300:]
        if asked.returncode == 0 and not missing:
            return python
    else:
        missing = "it has no Python"
    raise SetupError(
        f".venv exists, was not made by this program and does not fit: {missing}.\n"
        'Either install into it (pip install -e ".[test]") or remove it, then try again.'
    )


@contextlib.contextmanager
def _only_one(path: Path):
    """Hold a lock on `path`, so that two first runs do not destroy each other's environment."""
    with path.open("a+") as handle:
        if os.name == "nt":
            import msvcrt

            while True:  # locking() gives up after ten seconds
                with contextlib.suppress(OSError):
                    msvcrt.locking(handle.fileno(), msvcrt.LK_LOCK, 1)
                    break
        else:
            import fcntl

            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                print("Another run is making .venv; waiting for it.", flush=True)
                fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _silence_jupyterlab(top: Path) -> None:
    """Switch off JupyterLab's news and update pop-ups in our own environment."""
    folder = top / ".venv" / "share" / "jupyter" / "lab" / "settings"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "overrides.json").write_text(
        '{"@jupyterlab/apputils-extension:notification":'
        ' {"fetchNews": "false", "checkForUpdates": false, "doNotDisturbMode": true}}\n'
    )
