"""What the sandbox guarantees on this machine, found out by trying to break it from inside.

Stage: sandbox. A probe program runs like any candidate's and reports what it could do; a row of
the table says "stopped" only if the attempt failed. Left out: limits no short probe can show (disk
quota, escape through a kernel fault).
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass

from workbench.records import Limits
from workbench.sandbox.worker import ENVIRONMENT

PROBE_PREFIX = "workbench-probe-"
"""The probe's files for it to break into are in a folder of this name, a process id, "-"..."""
PROBE = '''
import os

def attempt(what, detail):
    """What came of it: "refused: ..." or what could be done."""
    try:
        return ACTIONS[what](detail)
    except MemoryError:
        return "refused: MemoryError"
    except OSError as error:
        return f"refused: {type(error).__name__}"

def fork(_):
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return "a process was started"

def spawn(_):
    os.waitpid(os.posix_spawn("/bin/sh", ["sh", "-c", ":"], {}), 0)
    return "a program was started"

def connect(_):
    import _socket
    _socket.socket().close()
    return "a socket was made"

def signal(pid):
    os.kill(pid, 0)
    return f"process {pid} can be signalled"

def allocate(megabytes):
    bytearray(megabytes << 20)
    return f"{megabytes} MiB were allocated"

def read(path):
    with open(path) as file:
        return "read: " + file.read()

def write(path):
    with open(path, "w") as file:
        file.write("here")
    return f"wrote {path}"

def mode(path):
    os.chmod(path, 0o700)
    return f"changed the permissions of {path}"

def descriptors(_):
    found = []
    for number in range(256):
        try:
            os.fstat(number)
            found.append(number)
        except OSError:
            pass
    return "refused: nothing but 0-3" if set(found) <= {0, 1, 2, 3} else f"open: {found}"

def environment(name):
    return f"${name} is set" if name in os.environ else "refused: not set"

def regain(_):
    os.setuid(0)
    os.chown(".", 1, 1)
    return "user id 0 and its rights"

ACTIONS = dict(fork=fork, spawn=spawn, connect=connect, signal=signal, allocate=allocate, read=read,
               write=write, mode=mode, descriptors=descriptors, environment=environment,
               regain=regain)
'''


@dataclass(frozen=True)
class Guarantee:
    """One row: a limit and whether it holds here."""

    limit: str
    """What a program must not be able to do."""
    holds: bool
    """True if the attempt failed."""
    checked: str
    """How it was checked and what happened."""


@dataclass(frozen=True)
class Guarantees:
    """What holds on this machine; printed as a table."""

    name: str
    """Backend and tier, e.g. "local:3"."""
    layers: tuple[str, ...]
    """What the server put up."""
    declined: tuple[tuple[int, str], ...]
    """Stronger tiers that were tried, and why they do not work here."""
    rows: tuple[Guarantee, ...]
    """One per limit."""

    def __repr__(self) -> str:
        width = max(len(row.limit) for row in self.rows)
        lines = [f"sandbox {self.name}: {'; '.join(self.layers)}"]
        lines += [f"  tier {tier} does not work here: {reason}" for tier, reason in self.declined]
        lines.append(f"  {'':8}  {'a program that tries to':{width}}  what happened")
        for row in self.rows:
            held = "stopped" if row.holds else "NOT HELD"
            lines.append(f"  {held:8}  {row.limit:{width}}  {row.checked}")
        return "\n".join(lines)


def check(sandbox) -> Guarantees:
    """Run the probe in `sandbox` and tabulate what it could not do."""
    with tempfile.TemporaryDirectory(prefix=f"{PROBE_PREFIX}{os.getpid()}-") as folder:
        os.chmod(folder, 0o755)  # the walls must hold, not the folder's permissions
        secret, target = os.path.join(folder, "secret"), os.path.join(folder, "written")
        with open(secret, "w") as file:
            file.write("secret")
        rows = _ask(sandbox, secret, target)
    loop = sandbox.call(
        {"probe.py": "def spin():\n    while True: pass\n"},
        "probe.py", "spin", [()], Limits(cpu_s=0.2),
    )  # fmt: skip
    rows.append(
        Guarantee("use more CPU time", loop.status == "timeout", f"endless loop: {loop.status}")
    )
    return Guarantees(sandbox.name, sandbox.layers, sandbox.declined, tuple(rows))


def _ask(sandbox, secret, target):
    limits = Limits(cpu_s=2.0)
    attempts = (
        ("read a file of yours", "read", secret, "open a file in the temporary folder"),
        ("write a file of yours", "write", target, "create a file in the temporary folder"),
        ("lock you out of a file of yours", "mode", secret, "change its permissions"),
        ("use the network", "connect", None, "make a socket"),
        ("see or signal your processes", "signal", os.getpid(), "signal 0 to this process"),
        ("start processes", "fork", None, "fork"),
        ("start programs", "spawn", None, "spawn /bin/sh"),
        ("use more memory", "allocate", 4 * limits.memory_mb, "allocate four times the limit"),
        ("use open files of the trainer", "descriptors", None, "look at descriptors 0-255"),
        ("read your environment", "environment", _some_variable(), "look for a variable of yours"),
        ("have or regain root's rights", "regain", None, "setuid 0 and give a file away"),
    )
    inputs = [(what, detail) for _, what, detail, _ in attempts]
    result = sandbox.call({"probe.py": PROBE}, "probe.py", "attempt", inputs, limits)
    rows = []
    for (limit, _, _, how), case in zip(attempts, result.results):
        said = case.value if case.status == "value" else f"{case.status}: {case.error}"
        rows.append(Guarantee(limit, str(said).startswith("refused"), f"{how}: {said}"))
    return rows


def _some_variable():
    made_for_it = {*ENVIRONMENT, "HOME", "TMPDIR"}
    return next((name for name in os.environ if name not in made_for_it), "USER")
