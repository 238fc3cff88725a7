"""What is looked at before and after a hostile program: files, processes, sockets, the trainer.

Stage: tests, inside the arena only. In: nothing but the machine as it stands. Out: `Look`, a record
of it, and `changes`, the differences in words ("file: ...", "process: ..."). Left out: effects that
leave no trace (a file that was read): those attacks return what they read, and a right answer shows
it. Standard library only and light: PID 1 of the arena loads it as well.
"""

from __future__ import annotations

import dataclasses
import os
import resource
import signal
import socket
import sys
import threading
from pathlib import Path

PLACE = Path("/canary")
"""World-writable folder of files that nobody may touch."""
WATCHED = (PLACE, Path("/tmp"), Path("/dev/shm"), Path("/user"), Path("/var/tmp"))
PORT = 47011
"""TCP and UDP port of 127.0.0.1 where the canary process listens."""
ABSTRACT = "\0hostile-canary"
"""Abstract unix socket where it listens."""
VISITS = PLACE / "visits"
"""The canary process writes here whom it heard."""


@dataclasses.dataclass(frozen=True)
class Look:
    """The machine at one moment; every field maps a name to what must not change."""

    files: dict[str, tuple]
    """Path -> (mode, size, modification time, text) of everything in the watched folders."""
    processes: dict[int, str]
    """PID -> command of every process of the arena."""
    sockets: dict[str, str]
    """What listens, from /proc/net."""
    ipc: dict[str, str]
    """System V objects."""
    system: dict[str, str]
    """Host name, mounts."""


def look(canary: int | None = None) -> Look:
    """The machine now. canary: PID of the canary process, whose loss is told by name."""
    found = processes()
    if canary is not None and found.get(canary):
        found[canary] = "canary"
    return Look(files(), found, sockets(), ipc(), system())


def files() -> dict[str, tuple]:
    """Everything in the watched folders; a folder's own mode counts, its time does not."""
    found: dict[str, tuple] = {}
    for top in WATCHED:
        for folder, folders, names in os.walk(top):
            for path in (folder, *(os.path.join(folder, name) for name in folders + names)):
                try:
                    info = os.lstat(path)
                    is_file = os.path.isfile(path) and not os.path.islink(path)
                    text = Path(path).read_bytes()[:200] if is_file else b""
                except OSError:
                    continue
                times = info.st_mtime_ns if is_file else 0
                found[path] = (info.st_mode, info.st_size if is_file else 0, times, text)
    return found


def processes() -> dict[int, str]:
    """PID -> command of every process that still lives (a zombie does not)."""
    found = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            state = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()[0]
            command = Path(f"/proc/{name}/comm").read_text().strip()
        except OSError:
            continue
        if state not in "ZX":
            found[int(name)] = command
    return found


def sockets() -> dict[str, str]:
    """TCP and UDP sockets that wait for anyone, and unix sockets with a name."""
    found = {}
    for kind in ("tcp", "tcp6", "udp", "udp6"):
        for line in _lines(f"/proc/self/net/{kind}")[1:]:
            words = line.split()
            if words[3] in ("0A", "07"):
                found[f"{kind} {words[1]}"] = "listening"
    for line in _lines("/proc/self/net/unix")[1:]:
        if len(words := line.split()) == 8:
            found[f"unix {words[7]}"] = "bound"
    return found


def ipc() -> dict[str, str]:
    """System V shared memory, semaphores and message queues."""
    return {
        f"{kind} {line.split()[1]}": "there"
        for kind in ("shm", "sem", "msg")
        for line in _lines(f"/proc/sysvipc/{kind}")[1:]
    }


def system() -> dict[str, str]:
    """Host name and mounts as this process sees them."""
    mounts = [line.split()[4] for line in _lines("/proc/self/mountinfo")]
    return {"host name": socket.gethostname(), "mounts": " ".join(mounts)}


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text("utf-8", "replace").splitlines() or [""]
    except OSError:
        return [""]


def changes(before: Look, after: Look) -> list[str]:
    """What is different, one line each: its kind, a colon, what happened."""
    found = []
    labels = {"files": "file", "sockets": "socket", "ipc": "ipc", "system": "system"}
    for field, label in labels.items():
        old, new = getattr(before, field), getattr(after, field)
        for name in sorted(old.keys() | new.keys()):
            if old.get(name) != new.get(name):
                what = "appeared" if name not in old else "gone" if name not in new else "changed"
                name = name.replace("@", "").replace("\0", "")
                kind = "network" if name == str(VISITS) else label
                found.append(f"{kind}: {name[:60]} {what}")
    for pid, command in before.processes.items():
        if command == "canary" and pid not in after.processes:
            found.append("process: the canary was killed")
    if extra := len(after.processes) - len(before.processes):
        if extra > 0:
            found.append(f"process: {extra} left over")
    return found


def trainer() -> dict[str, object]:
    """The state of this very process that a program run inside it could change."""
    import builtins
    import json
    import time

    limits = [resource.getrlimit(n) for n in range(16)]
    umask = os.umask(0)
    os.umask(umask)
    return {
        "environment": dict(os.environ),
        "folder": _folder(),
        "umask": umask,
        "signals": {n: str(signal.getsignal(n)) for n in sorted(signal.valid_signals())},
        "limits": limits,
        "timers": signal.getitimer(signal.ITIMER_REAL) != (0.0, 0.0),
        "priority": os.getpriority(os.PRIO_PROCESS, 0),
        "descriptors": len(os.listdir("/proc/self/fd")),
        "threads": threading.active_count(),
        "path": list(sys.path),
        "tracing": (sys.gettrace() is None, sys.getprofile() is None),
        "names": [id(vars(builtins)[n]) for n in sorted(vars(builtins)) if n != "_"]
        + [id(json.dumps), id(json.loads), id(time.time), id(time.perf_counter), id(os._exit)],
    }


def _folder() -> str:
    try:
        return os.getcwd()
    except OSError:
        return "deleted"


def trainer_changes(before: dict[str, object], after: dict[str, object]) -> list[str]:
    """What is different in the trainer's own process."""
    return [f"trainer: its {name} changed" for name in before if before[name] != after[name]]


def plant(secret: str, owner: int) -> None:
    """Put down the canary files, owned by user `owner`; `secret` is what nobody may read."""
    PLACE.joinpath("folder").mkdir()
    for name, text in (("secret.txt", secret), ("keep.txt", "keep me\n"), ("folder/in.txt", "x")):
        PLACE.joinpath(name).write_text(text)
        PLACE.joinpath(name).chmod(0o666)
    PLACE.joinpath("folder").chmod(0o777)
    VISITS.write_text("")
    for path in (PLACE, *PLACE.rglob("*")):
        os.chown(path, owner, owner)


def stand_guard(ready: int) -> None:
    """The canary process: listens, writes down every visit, never returns; ready: a pipe."""
    import select

    tcp, udp = socket.socket(), socket.socket(type=socket.SOCK_DGRAM)
    abstract = socket.socket(socket.AF_UNIX)
    tcp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    tcp.bind(("127.0.0.1", PORT))
    udp.bind(("127.0.0.1", PORT))
    abstract.bind(ABSTRACT)
    tcp.listen()
    abstract.listen()
    os.write(ready, b"%d" % os.getpid())
    os.close(ready)
    while True:
        for heard in select.select([tcp, udp, abstract], [], [])[0]:
            if heard is udp:
                udp.recv(100)
            else:
                heard.accept()[0].close()
            with VISITS.open("a") as log:
                log.write(f"{heard.family.name} {heard.type.name}\n")
