"""The throw-away arena: fresh namespaces in which hostile programs may do what they can.

Stage: tests. In: commands and what they read. Out: `Seen`: what a command reported, and what it did
to the canaries. Nothing outside changes: files of the machine are read-only binds or absent,
processes, network, ipc and users are its own, memory and processes are limited, and the end of
PID 1 takes all with it. The inside is in `arena_inside.py`. An arena with an engine is for programs
that run in that engine's containers and nowhere else: its trainer is the machine's root, as an
engine must be, but sees no folder, process or network of the machine. Left out: other systems than
Linux, and machines without root or user namespaces: `why_not` says so, and the tests skip.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
REPORT_FD = 200
"""Where the command writes its report inside: lines of JSON."""
READ_ONLY = ("/usr", "/etc/ld.so.cache", "/etc/passwd", "/etc/group", "/etc/nsswitch.conf")
PROJECT = "/project"
"""Where this repository lies inside."""
PYTHON = "/venv/bin/python" if sys.prefix != sys.base_prefix else os.path.realpath(sys.executable)
"""The interpreter with our packages, as it is called inside."""
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")


@dataclasses.dataclass(frozen=True)
class Seen:
    """What one command did in an arena."""

    ended: str
    """"exit N" (negative: a signal) or "deadline"."""
    reports: tuple
    """The lines it wrote to REPORT_FD, decoded; {"junk": text} for one that is not JSON."""
    effects: tuple[str, ...]
    """What happened to canaries and trainer, see `canaries.changes`."""
    output: str
    """The end of its standard output and error."""


def binds() -> list[tuple[str, str]]:
    """(path on the machine, path inside) of everything that is seen inside, read-only."""
    found = [(path, path) for path in (*READ_ONLY, *DEVICES) if os.path.exists(path)]
    found += [(f"/{n}", f"/{n}") for n in ("bin", "sbin", "lib", "lib64") if real_folder(f"/{n}")]
    found += [(str(TOP), PROJECT)]
    base = os.path.realpath(sys.base_prefix)
    if not base.startswith("/usr"):
        found.append((base, base))
    if sys.prefix != sys.base_prefix:
        found.append((os.path.realpath(sys.prefix), "/venv"))
    return found


def real_folder(path: str) -> bool:
    """Is it a folder and no link (links are made anew)?"""
    return os.path.isdir(path) and not os.path.islink(path)


@dataclasses.dataclass(frozen=True)
class Job:
    """One command to run inside."""

    command: Sequence[str]
    """What to execute, with paths of the inside (PYTHON, PROJECT)."""
    stdin: str = ""
    """What it reads."""
    secret: str = dataclasses.field(default_factory=lambda: secrets.token_hex(8))
    """Text of the canary file that nobody may read, and of $HOSTILE_SECRET."""
    deadline_s: float = 20.0
    """Seconds from its first report until it is killed."""
    settle_s: float = 0.1
    """Pause before the canaries are looked at, for what comes late."""
    peak_mb: int = 700
    """A process that used more memory is told as an effect."""


def run_all(jobs: Sequence[Job], memory_mb: int = 3000, engine: bool = False) -> list[Seen]:
    """What happens when each job runs, one after the other, in fresh namespaces and folders.

    Args:
        memory_mb: address space of one process, and of all together where cgroups are to be had.
        engine: whether the commands start a Docker engine; they can, and are bounded as a whole.
    Raises:
        RuntimeError: no arena can be had here (see `why_not`).
    """
    with tempfile.TemporaryDirectory(prefix="arena-") as top:
        plan = {"binds": binds(), "memory_mb": memory_mb, "engine": engine, "jobs": [], "top": top}
        for job in jobs:
            env = {"PATH": "/usr/bin:/bin", "HOME": "/user", "HOSTILE_SECRET": job.secret}
            env |= {"PYTHONPATH": PROJECT, "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
            if engine:
                env |= {"TMPDIR": "/engine", "PATH": "/usr/sbin:/usr/bin:/bin"}
                env |= {"CGROUP_PARENT": f"/{os.path.basename(top)}-containers"}
            more = {"env": env, "start_s": 60.0, "memory_mb": memory_mb}
            plan["jobs"].append(dataclasses.asdict(job) | more)
        latest_s = sum(job.deadline_s + 60 for job in jobs)
        code, stdout, stderr = _run(json.dumps(plan), latest_s)
    answers = [json.loads(line) for line in stdout.splitlines()]
    failed = next((answer["no_arena"] for answer in answers if "no_arena" in answer), None)
    if failed or len(answers) != len(jobs):
        raise RuntimeError(f"no arena: {failed or stderr[-400:] or code}")
    return [
        Seen(a["ended"], tuple(a["reports"]), tuple(a["effects"]), a["output"]) for a in answers
    ]


def _run(text: str, latest_s: float) -> tuple[int, str, str]:
    """(exit code, output, errors) of the inside; interrupted, it clears up before we go on."""
    script = str(Path(__file__).with_name("arena_inside.py"))
    with subprocess.Popen(
        [sys.executable, "-I", "-S", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # the keyboard's Ctrl-C is for this process
    ) as inside:
        try:
            stdout, stderr = inside.communicate(text, timeout=latest_s)
        except BaseException:
            inside.send_signal(signal.SIGTERM)
            raise
        return inside.returncode, stdout, stderr


@functools.cache
def why_not() -> str:
    """Why no arena can be had on this machine, or "" if one can."""
    if sys.platform != "linux":
        return f"needs Linux namespaces, this is {sys.platform}"
    try:
        seen = run_all([Job([PYTHON, "-c", "import os; os.write(200, b'1')"])])[0]
    except (RuntimeError, OSError, subprocess.SubprocessError) as error:
        return str(error)
    return "" if seen.reports == (1,) else f"an arena ran nothing: {seen}"
