"""The throw-away arena: fresh namespaces in which hostile programs may do what they can.

Stage: tests. In: a command and what it reads. Out: `Seen`: what it reported, and what it did to the
canaries. Nothing outside changes: files of the machine are read-only binds or absent, processes,
network, ipc and users are its own, memory and processes are limited, and the end of PID 1 takes
all with it. What is inside is in `arena_inside.py`. Left out: other systems than Linux, and machines
without root or user namespaces: `why_not` says so, and the tests skip.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import os
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
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


def run(
    command: Sequence[str],
    *,
    stdin: str = "",
    env: Mapping[str, str] | None = None,
    deadline_s: float = 20.0,
    settle_s: float = 0.1,
    secret: str = "",
    memory_mb: int = 3000,
    peak_mb: int = 700,
) -> Seen:
    """What happens when `command` runs in a new arena.

    Args:
        stdin: what it reads.
        env: more variables; it inherits none but PATH.
        deadline_s: seconds from its first report until it is killed.
        settle_s: pause before the canaries are looked at, for what comes late.
        secret: text of the canary file that nobody may read; "" = drawn at random.
        memory_mb: address space of one process, and of all together where cgroups are to be had.
        peak_mb: a process that used more is told as an effect.
    Raises:
        RuntimeError: no arena can be had here (see `why_not`).
    """
    secret = secret or secrets.token_hex(8)
    inside = {"PATH": "/usr/bin:/bin", "HOME": "/home/user", "HOSTILE_SECRET": secret}
    job = {
        "command": list(command),
        "stdin": stdin,
        "env": inside | {"PYTHONPATH": PROJECT, "PYTHONDONTWRITEBYTECODE": "1"} | dict(env or {}),
        "binds": binds(),
        "deadline_s": deadline_s,
        "start_s": 60.0,
        "settle_s": settle_s,
        "secret": secret,
        "memory_mb": memory_mb,
        "peak_mb": peak_mb,
    }
    with tempfile.TemporaryDirectory(prefix="arena-") as top:
        script = str(Path(__file__).with_name("arena_inside.py"))
        done = subprocess.run(
            [sys.executable, "-I", "-S", script],
            input=json.dumps(job | {"top": top}),
            capture_output=True,
            text=True,
            timeout=deadline_s + 90,
        )
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        raise RuntimeError(f"no arena: {done.stderr.strip()[-400:] or done.returncode}")
    if "no_arena" in answer:
        raise RuntimeError(f"no arena: {answer['no_arena']}")
    return Seen(
        answer["ended"], tuple(answer["reports"]), tuple(answer["effects"]), answer["output"]
    )


@functools.cache
def why_not() -> str:
    """Why no arena can be had on this machine, or "" if one can."""
    if sys.platform != "linux":
        return f"needs Linux namespaces, this is {sys.platform}"
    try:
        seen = run([PYTHON, "-c", "import os; os.write(200, b'1')"])
    except (RuntimeError, OSError, subprocess.SubprocessError) as error:
        return str(error)
    return "" if seen.reports == (1,) else f"an arena ran nothing: {seen}"
