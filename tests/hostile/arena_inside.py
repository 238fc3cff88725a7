"""The inside of the arena: PID 1 builds walls, plants canaries, runs commands, looks.

Stage: tests. Started by `arena.run_all` as `python -I -S arena_inside.py`, with the plan as JSON on
standard input; writes what it saw to standard output, a line for each job. Two layers, because a
mount made by more privileged hands cannot be undone by less privileged ones: PID 1 (root, or root
of a user namespace) makes pid and mount namespaces and a root of tmpfs and read-only binds; each
command runs in a further user namespace made for it, with network, ipc and host name of its own,
as root of nothing. A command that starts an engine stays in the outer user namespace: what is
hostile then has the walls of containers. Left out: seccomp. Kernel bugs are not what these programs
are about.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import canaries  # noqa: E402  (found beside this file: the interpreter runs isolated)
from arena_walls import (  # noqa: E402
    DETACH,
    FOLDERS,
    IDS,
    NEWCGROUP,
    NEWIPC,
    NEWNET,
    NEWNS,
    NEWPID,
    NEWUSER,
    NEWUTS,
    OUTER_ID,
    build_root,
    cgroups,
    fresh_folders,
    libc,
    limit,
    loopback_up,
    must,
    remove_cgroups,
    write_maps,
)

ROOT, USER, ENGINE = "root", "user", "engine"
"""What the commands are: root of nothing, a user, or the machine's root (in namespaces)."""
OUTPUT_CAP = 200_000
"""Bytes of a command's output that are read; then its pipe fills."""


def become_trainer(job: dict, pipes: dict[str, int], kind: str) -> None:
    """The child of PID 1: own namespaces, the canary process, then the command. Never returns."""
    more = 0 if kind == ENGINE else NEWUSER | NEWCGROUP
    must(libc.unshare(NEWNS | NEWNET | NEWIPC | NEWUTS | more), "unshare")
    os.write(pipes["unshared"], b"!")
    os.read(pipes["mapped"], 1)
    if kind != USER:
        os.setgroups([])
    inner = 1000 if kind == USER else 0
    os.setresgid(inner, inner, inner)
    os.setresuid(inner, inner, inner)
    loopback_up()
    if os.fork() == 0:
        if os.fork() == 0:
            os.setsid()
            libc.prctl(4, 1, 0, 0, 0)  # PR_SET_DUMPABLE: as open to others as any process
            for fd in (0, 1, 2, *pipes.values()):
                if fd != pipes["guard"]:
                    os.close(fd)
            canaries.stand_guard(pipes["guard"])
        os._exit(0)
    os.wait()
    os.read(pipes["go"], 1)
    if kind != ENGINE:
        limit(job["memory_mb"])
    os.dup2(pipes["stdin"], 0)
    os.dup2(pipes["output"], 1)
    os.dup2(pipes["output"], 2)
    os.dup2(pipes["report"], 200)
    os.closerange(3, 200)
    os.set_inheritable(200, True)
    os.chdir("/attempt")
    os.execve(job["command"][0], job["command"], job["env"])


def start(job: dict, kind: str) -> tuple[int, int, dict[str, int]]:
    """(PID of the trainer, PID of the canary, our ends of its pipes); it waits for "go"."""
    theirs, ours = {}, {}
    for name in ("unshared", "guard", "output", "report"):
        ours[name], theirs[name] = os.pipe()
    for name in ("mapped", "go", "stdin"):
        theirs[name], ours[name] = os.pipe()
    trainer = os.fork()
    if trainer == 0:
        for fd in ours.values():
            os.close(fd)
        try:
            become_trainer(job, theirs, kind)
        except BaseException as error:
            os.write(2, f"no command: {error!r}".encode())
        os._exit(99)
    for fd in theirs.values():
        os.close(fd)
    if os.read(ours["unshared"], 1):
        if kind != ENGINE:
            write_maps(trainer, *((0, OUTER_ID, IDS) if kind == ROOT else (1000, 0, 1)))
        os.write(ours["mapped"], b"!")
    canary = int(os.read(ours["guard"], 20) or b"0")
    return trainer, canary, ours


def watch(job: dict, trainer: int, ours: dict[str, int]) -> tuple[str, list, bytes, int]:
    """(how the trainer ended, its reports, its output, peak memory in MB); it is gone afterwards.

    The clock of `deadline_s` starts at the first report: an interpreter starts slowly now and then.
    """
    os.write(ours["go"], b"!")
    feed, text = ours["stdin"], job["stdin"].encode()
    os.set_blocking(feed, False)
    reports, output = b"", b""
    latest = time.monotonic() + job["start_s"]
    started, status = False, None
    while status is None and time.monotonic() < latest:
        writers = [feed] if feed is not None else []
        readers = [ours["output"], ours["report"]]
        ready, writable, _ = select.select(readers, writers, [], 0.02)
        if writable:
            try:
                text = text[os.write(feed, text[:60_000]) :]
            except BrokenPipeError:
                text = b""
            if not text:
                os.close(feed)
                feed = None
        if ours["output"] in ready and len(output) < OUTPUT_CAP:
            output += os.read(ours["output"], 65_536)
        if ours["report"] in ready:
            reports += os.read(ours["report"], 65_536)
            if not started and reports:
                started, latest = True, time.monotonic() + job["deadline_s"]
        pid, code, used = os.wait4(trainer, os.WNOHANG)
        status = code if pid else None
    ended = "deadline" if status is None else f"exit {os.waitstatus_to_exitcode(status)}"
    if status is None:
        os.kill(trainer, signal.SIGKILL)
        used = os.wait4(trainer, 0)[2]
    for name in ("output", "report"):
        os.set_blocking(ours[name], False)
    try:
        while chunk := os.read(ours["report"], 65_536):
            reports += chunk
    except BlockingIOError:
        pass
    try:
        output += os.read(ours["output"], 65_536)
    except BlockingIOError:
        pass
    return ended, [decoded(line) for line in reports.splitlines()], output, used.ru_maxrss >> 10


def decoded(line: bytes) -> object:
    """A line of the report; junk stays text."""
    try:
        return json.loads(line)
    except ValueError:
        return {"junk": line[:200].decode("utf-8", "replace")}


def look_inside(namespaces: list[int], canary: int) -> canaries.Look:
    """`canaries.look` from PID 1, with sockets and ipc of the trainer's namespaces."""
    import pickle

    out, into = os.pipe()
    if (child := os.fork()) == 0:
        for fd in namespaces:
            must(libc.setns(fd, 0), "setns")
        found = canaries.sockets(), canaries.ipc(), canaries.system()
        os.write(into, pickle.dumps(found))
        os._exit(0)
    os.close(into)
    os.waitpid(child, 0)
    with os.fdopen(out, "rb") as pipe:
        sockets, ipc, system = pickle.loads(pipe.read())  # from our own child
    seen = canaries.look(canary)
    return canaries.Look(seen.files, seen.processes, sockets, ipc, system)


def one_job(job: dict, kind: str) -> dict:
    """Fresh folders and canaries, the command, what it did; then an end to all it left."""
    fresh_folders()
    canaries.plant(job["secret"], OUTER_ID if kind == ROOT else 0)
    libc.prctl(4, 1, 0, 0, 0)  # PR_SET_DUMPABLE, inherited by the child whose maps we write
    trainer, canary, ours = start(job, kind)
    libc.prctl(4, 0, 0, 0, 0)  # nobody inside reads or traces PID 1
    if not canary:
        raise OSError(f"the namespaces could not be made: {os.read(ours['output'], 500)!r}")
    namespaces = [os.open(f"/proc/{trainer}/ns/{name}", 0) for name in ("ipc", "net", "uts")]
    before = look_inside(namespaces, canary)
    ended, reports, output, peak_mb = watch(job, trainer, ours)
    effects = []
    if ended == "deadline":
        effects.append("hang: the trainer still waited at the deadline")
    elif ended != "exit 0":
        effects.append(f"trainer: died ({ended})")
    time.sleep(job["settle_s"])
    after = look_inside(namespaces, canary)
    before.processes.pop(trainer)  # it has ended; whoever is left is not welcome
    effects += canaries.changes(before, after)
    if peak_mb > job["peak_mb"]:
        effects.append(f"memory: peak of {peak_mb} MB")
    if b"\x1b" in output:
        effects.append("terminal: escape codes in the trainer's output")
    for fd in (*namespaces, *(ours[name] for name in ("output", "report", "mapped", "go"))):
        os.close(fd)
    end_all()
    text = output[-20_000:].decode("utf-8", "replace")
    return {"ended": ended, "reports": reports, "output": text, "effects": effects}


def end_all() -> None:
    """Kill and reap every process of the arena but PID 1; take the folders down."""
    try:
        while True:
            os.kill(-1, signal.SIGKILL)
            os.waitpid(-1, 0)
    except (ChildProcessError, ProcessLookupError):
        pass
    for path in FOLDERS:
        must(libc.umount2(path.encode(), DETACH), f"umount {path}")


def as_init(plan: dict, kind: str) -> None:
    """PID 1: build the root, then one job after the other; an answer is a line."""
    libc.prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    must(libc.unshare(NEWNS), "unshare mounts")
    build_root(plan["top"], plan["binds"], kind == ENGINE)
    for job in plan["jobs"]:
        print(json.dumps(one_job(job, kind)), flush=True)


def main() -> None:
    """Make the outer namespaces, become PID 1 in a child, clean up after it."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("interrupted"))
    libc.prctl(1, signal.SIGTERM, 0, 0, 0)  # PR_SET_PDEATHSIG: no arena outlives its tests
    plan = json.load(sys.stdin)
    uid, gid = os.getuid(), os.getgid()
    kind = ENGINE if plan["engine"] else ROOT if uid == 0 else USER
    if kind == ENGINE and uid != 0:
        sys.exit("an arena with an engine needs root")
    if kind == USER:
        must(libc.unshare(NEWUSER), "unshare user")
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/gid_map").write_text(f"0 {gid} 1")
        Path("/proc/self/uid_map").write_text(f"0 {uid} 1")
    must(libc.unshare(NEWPID), "unshare pid")
    waits, tells = os.pipe()
    init = os.fork()
    if init == 0:
        os.read(waits, 1)
        try:
            as_init(plan, kind)
        except BaseException as error:
            print(json.dumps({"no_arena": repr(error)}), flush=True)
        os._exit(0)
    group = os.path.basename(plan["top"])
    try:
        cgroups(group, init, plan["memory_mb"])
        os.write(tells, b"!")
        os.waitpid(init, 0)
    except BaseException:  # told to end; with PID 1 go all others inside
        os.kill(init, signal.SIGKILL)
        os.waitpid(init, 0)
        raise
    finally:
        remove_cgroups(group)
        os.rmdir(plan["top"])  # empty again: what was mounted there went with PID 1


if __name__ == "__main__":
    main()
