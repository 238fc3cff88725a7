"""The walls of the arena: mounts, users, loopback, limits.

Stage: tests, loaded by `arena_inside` alone, in a fresh process that is about to become PID 1.
Thin wrappers of system calls that Python does not offer before 3.12. Linux on x86-64 and arm64.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import resource
import socket
import struct
import time
from pathlib import Path

NEWNS, NEWCGROUP, NEWUTS, NEWIPC = 0x20000, 0x2000000, 0x4000000, 0x8000000
NEWUSER, NEWPID, NEWNET = 0x10000000, 0x20000000, 0x40000000
RDONLY, REMOUNT, BIND, REC, PRIVATE, DETACH = 1, 32, 4096, 16384, 1 << 18, 2
PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
OUTER_ID, IDS = 1_000_000, 65_536
"""Root starts here: the arena's users 0..65535 are users of the machine that own nothing."""
FOLDERS = ("/tmp", "/dev/shm", "/user", "/var/tmp", "/canary", "/attempt")
libc = ctypes.CDLL(None, use_errno=True)


def must(result: int, what: str) -> None:
    """Raise OSError naming `what` if a libc call failed."""
    if result != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")


def mount(source: str, target: str, kind: str | None, flags: int = 0, data: str = "") -> None:
    """mount(2), with OSError."""
    kind_bytes = kind.encode() if kind else None
    done = libc.mount(source.encode(), target.encode(), kind_bytes, flags, data.encode() or None)
    must(done, f"mount {target}")


def fresh_folders(top: str = "") -> None:
    """An empty, small file system in the place of every folder that may be written."""
    for path in FOLDERS:
        mount("tmpfs", top + path, "tmpfs", 0, "size=48m,nr_inodes=6000,mode=777")


def build_root(top: str, binds: list[list[str]], engine: bool) -> None:
    """A root of tmpfs with read-only binds, made in the mount namespace of PID 1.

    engine: add what an engine writes to besides its own folder.
    """
    mount("none", "/", None, REC | PRIVATE)
    mount("tmpfs", top, "tmpfs", 0, "size=1m,mode=755")
    for path, size in (("/engine", "300m"), ("/run", "10m"), ("/etc/docker", "1m")) * engine:
        os.makedirs(top + path)
        mount("tmpfs", top + path, "tmpfs", 0, f"size={size},mode=755")
    if engine:
        os.mkdir(top + "/sys")
        mount("/sys", top + "/sys", None, BIND | REC)  # control groups for its containers
    for path in ("/proc", *FOLDERS):
        os.makedirs(top + path, exist_ok=True)
    fresh_folders(top)
    for path, inside in binds:
        target = top + inside
        if os.path.isdir(path):
            os.makedirs(target, exist_ok=True)
        else:
            os.makedirs(os.path.dirname(target), exist_ok=True)
            Path(target).touch()
        mount(path, target, None, BIND)
        if not path.startswith("/dev/"):
            kept = os.statvfs(target).f_flag & (2 | 4 | 8)  # nosuid, nodev, noexec are locked
            mount("none", target, None, BIND | REMOUNT | RDONLY | kept)
    for link in ("bin", "sbin", "lib", "lib64"):
        if os.path.islink("/" + link):
            os.symlink(os.readlink("/" + link), f"{top}/{link}")
    os.symlink("/proc/self/fd", top + "/dev/fd")
    mount("proc", top + "/proc", "proc")
    os.chdir(top)
    must(libc.syscall(PIVOT_ROOT[os.uname().machine], b".", b"."), "pivot_root")
    must(libc.umount2(b".", DETACH), "umount the old root")
    os.chdir("/")


def write_maps(pid: int, inner: int, outer: int, count: int) -> None:
    """Say which users a process's new user namespace has."""
    if count == 1:
        Path(f"/proc/{pid}/setgroups").write_text("deny")
    for name in ("gid_map", "uid_map"):
        Path(f"/proc/{pid}/{name}").write_text(f"{inner} {outer} {count}")


def loopback_up() -> None:
    """Switch on lo of a fresh network namespace."""
    with socket.socket(type=socket.SOCK_DGRAM) as control:
        request = struct.pack("16sh14x", b"lo", 1 | 64)  # IFF_UP | IFF_RUNNING
        fcntl.ioctl(control, 0x8914, request)  # SIOCSIFFLAGS


def limit(memory_mb: int) -> None:
    """Rlimits of everything inside; hard ones, and nobody inside may raise them."""
    for kind, most in (
        (resource.RLIMIT_AS, memory_mb << 20),
        (resource.RLIMIT_NPROC, 160),
        (resource.RLIMIT_FSIZE, 256 << 20),
        (resource.RLIMIT_NOFILE, 512),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(kind)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (most, most))


CGROUPS = Path("/sys/fs/cgroup")


def cgroups(name: str, pid: int, memory_mb: int) -> None:
    """Put a process, and who comes of it, into groups with limits of memory and processes, where
    such can be made."""
    most, number = str(memory_mb << 20), "200"
    for top, limited, value in (
        ("memory", "memory.limit_in_bytes", most),
        ("pids", "pids.max", number),
        (".", "memory.max", most),
    ):
        group = CGROUPS / top / name
        try:
            if not (group.parent / "cgroup.procs").exists():
                continue
            group.mkdir()
            (group / limited).write_text(value)
            (group / "cgroup.procs").write_text(str(pid))
        except OSError:
            continue


def remove_cgroups(name: str) -> None:
    """Remove groups whose names begin so: these, and those an engine made for its containers."""
    for top in (*CGROUPS.glob(f"{name}*"), *CGROUPS.glob(f"*/{name}*")):
        for folder, _, _ in os.walk(top, topdown=False):
            for _ in range(50):
                try:
                    os.rmdir(folder)
                    break
                except OSError:  # whoever was in it is just ending
                    time.sleep(0.02)
