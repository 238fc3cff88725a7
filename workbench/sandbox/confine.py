"""The walls around a run, in three strengths; the server picks the strongest that works here.

Stage: sandbox (server side). Each class offers the same five steps: `prepare` once in the server,
`fork` and `enter` for each run (`enter` in the child, before anything untrusted exists), `sweep`
and `clean` after it. All three: own session, resource limits, no descriptor but /dev/null and the
result pipe. Left out: cgroups, a disk quota at tiers 1 and 2.

    tier 3  Namespaces  pid, mount, ipc, net, uts namespaces; own read-only root; seccomp
    tier 2  Filters     Landlock and seccomp, no namespaces (containers, Colab)
    tier 1  Minimal     limits only (macOS): no protection of files, network or other processes
"""

from __future__ import annotations

import os
import resource
import shutil
import signal
import sys

from workbench.sandbox import kernel, landlock, seccomp

PIPE = 3
"""The result pipe's descriptor in a run; 0, 1 and 2 are /dev/null and nothing else is open."""
FILE_MB, BOX_MB, BOX_FILES, THREADS, DESCRIPTORS = 16, 16, 1000, 64, 64
_RUN_UIDS = 40_000, 20_000
"""A root server runs candidates under one of these user ids (first, count), one per server."""


class Minimal:
    """Tier 1: resource limits and an own session."""

    tier = 1

    def __init__(self):
        self.layers = ["own session", "resource limits", "scrubbed environment"]
        self.box = ""
        self.uid = None
        self._folder = ""

    def prepare(self, folder):
        """In the server, once: make the work folder's parent; nothing else is needed."""
        os.makedirs(folder, mode=0o711, exist_ok=True)
        self._folder = os.path.realpath(folder)
        self.box = os.path.join(self._folder, "box")
        os.environ.update(HOME=self.box, TMPDIR=self.box)

    def fork(self):
        """Like os.fork: 0 in the run, its process id in the server."""
        return os.fork()

    def enter(self, cpu_s, memory_mb, pipe):
        """In the run: put up every wall. Raises OSError if one cannot be had."""
        os.setsid()
        os.mkdir(self.box, 0o700)
        os.chdir(self.box)
        _keep_only(pipe)
        _set_limits(cpu_s, memory_mb, None)

    def sweep(self, pid):
        """In the server, after the run's first process ended: end what it left behind."""
        try:
            os.killpg(pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass

    def clean(self):
        """In the server: remove what the run wrote."""
        for name in os.listdir(self._folder):
            shutil.rmtree(os.path.join(self._folder, name), onerror=_open_and_retry)


class Filters(Minimal):
    """Tier 2: Landlock for files and TCP, seccomp for processes, sockets and the rest."""

    tier = 2

    def prepare(self, folder):
        """Raises OSError where seccomp or Landlock is missing."""
        super().prepare(folder)
        self._program = seccomp.build(os.uname().machine, allow_signals=False)
        if self._program is None:
            raise OSError(f"no table of system calls for {os.uname().machine}")
        if os.geteuid() == 0 and _readable_by_all(os.path.dirname(os.__file__)):
            self.uid = _run_uid(os.getppid())
        os.chmod(folder, 0o711)
        kernel.drop_capability_bounds()
        readable = [p for p in _libraries() if os.path.exists(p)]
        devices = [p for p in ("/dev/null", "/dev/urandom") if os.path.exists(p)]
        self._ruleset = landlock.build(readable, devices, folder)
        self.layers += ["no new privileges", "seccomp", "Landlock", "capabilities dropped"]

    def enter(self, cpu_s, memory_mb, pipe):
        os.setsid()
        os.mkdir(self.box, 0o700)
        if self.uid is not None:
            os.chown(self.box, self.uid, self.uid)
        _become(self.uid)
        os.chdir(self.box)
        kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
        landlock.restrict(self._ruleset)
        _keep_only(pipe)
        _set_limits(cpu_s, memory_mb, THREADS if self.uid is not None else None)
        kernel.load_filter(self._program)


class Namespaces(Minimal):
    """Tier 3: the run sees no file, process, network or user but its own."""

    tier = 3

    def __init__(self, as_root):
        super().__init__()
        self._as_root = as_root
        self._program = None
        self.box = "/box"
        self.uid = _run_uid(os.getpid()) if as_root else None

    def unshare(self):
        """In the server's parent: the next child is process 1 of a world of its own."""
        uid, gid = os.geteuid(), os.getegid()
        flags = kernel.CLONE_NEWNS | kernel.CLONE_NEWPID | kernel.CLONE_NEWIPC
        flags |= kernel.CLONE_NEWNET | kernel.CLONE_NEWUTS
        kernel.unshare(flags if self._as_root else flags | kernel.CLONE_NEWUSER)
        if not self._as_root:
            for name, text in (("setgroups", "deny"), ("uid_map", f"0 {uid} 1"),
                               ("gid_map", f"0 {gid} 1")):  # fmt: skip
                with open(f"/proc/self/{name}", "w") as file:
                    file.write(text)

    def prepare(self, folder):
        """In the server: leave the machine's file tree for a read-only one of libraries."""
        self._pid_namespace = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
        self._program = seccomp.build(os.uname().machine, allow_signals=True)
        _own_root(self.box)
        kernel.drop_capability_bounds()
        os.environ.update(HOME=self.box, TMPDIR=self.box)
        self.layers += ["namespaces: pid, mount, ipc, net, uts", "read-only root, tmpfs work folder"]
        self.layers += ["user namespace"] if not self._as_root else ["own user id"]
        self.layers += ["capabilities dropped", "no new privileges"]
        self.layers += ["seccomp"] if self._program else []

    def fork(self):
        kernel.unshare(kernel.CLONE_NEWPID)
        try:
            pid = os.fork()
        except OSError:
            kernel.setns(self._pid_namespace, kernel.CLONE_NEWPID)
            raise
        if pid:  # back, or the next run could not have a namespace of its own
            kernel.setns(self._pid_namespace, kernel.CLONE_NEWPID)
        return pid

    def enter(self, cpu_s, memory_mb, pipe):
        os.setsid()
        kernel.unshare(kernel.CLONE_NEWNS | kernel.CLONE_NEWIPC)
        owner = f",uid={self.uid},gid={self.uid}" if self.uid is not None else ""
        quota = f"size={BOX_MB}m,nr_inodes={BOX_FILES},mode=700{owner}"
        kernel.mount("box", self.box, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, quota)
        _keep_only(pipe)
        processes = THREADS if self.uid is not None or not self._program else None
        _set_limits(cpu_s, memory_mb, processes)
        _become(self.uid)
        os.chdir(self.box)
        kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
        if self._program:
            kernel.load_filter(self._program)

    def sweep(self, pid):
        """Nothing: the namespace's other processes ended with its first."""

    def clean(self):
        """Nothing: the work folder went with the run's mount namespace."""

def _open_and_retry(remove, path, _):
    """A run may take away its own folders' permissions."""
    os.chmod(os.path.dirname(path), 0o700)
    if os.path.isdir(path) and not os.path.islink(path):
        os.chmod(path, 0o700)
    shutil.rmtree(path, ignore_errors=True) if remove is not os.unlink else os.unlink(path)


def _run_uid(number):
    first, count = _RUN_UIDS
    return first + number % count


def _become(uid):
    """Give up the user id and every capability, and die with the server."""
    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    kernel.drop_capabilities()
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)  # changing ids would have cleared it
    kernel.prctl(kernel.PR_SET_DUMPABLE, 0)


def _keep_only(pipe):
    if pipe != PIPE:
        os.dup2(pipe, PIPE)
    os.closerange(PIPE + 1, 4096)


def _set_limits(cpu_s, memory_mb, processes):
    megabyte = 1 << 20
    wanted = {
        "CORE": 0,
        "CPU": int(cpu_s) + 2,  # whole seconds; the server's own clock is the finer one
        "FSIZE": FILE_MB * megabyte,
        "NOFILE": DESCRIPTORS,
        "AS": memory_mb * megabyte,
        "MEMLOCK": 0,
        "NPROC": processes,
    }
    for name, value in wanted.items():
        kind = getattr(resource, f"RLIMIT_{name}", None)
        if kind is None or value is None:
            continue
        hard = resource.getrlimit(kind)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        try:
            resource.setrlimit(kind, (value, value))
        except (OSError, ValueError):
            if sys.platform == "linux":
                raise


def _libraries():
    """Folders a Python program needs to read: the interpreter's and the system's libraries."""
    found = [os.path.dirname(os.__file__), os.path.join(sys.base_prefix, "lib")]
    found += ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/share/zoneinfo"]
    return found + ["/etc/ld.so.cache", "/etc/localtime", "/dev/null", "/dev/urandom"]


def _readable_by_all(path):
    while path != "/":
        if not os.stat(path).st_mode & 0o001:
            return False
        path = os.path.dirname(path)
    return True


def _own_root(box):
    """Leave the machine's file tree for a new one: libraries, read-only, and an empty `box`."""
    sources = [path for path in _libraries() if os.path.exists(path)]
    spots = ("/tmp", "/mnt", "/media", "/srv", "/opt", "/home", "/var/tmp")
    spot = next(
        (s for s in spots if os.path.isdir(s) and not any(p.startswith(s + "/") for p in sources)),
        None,
    )
    if spot is None:
        raise OSError(f"no folder to build a file tree on; tried {', '.join(spots)}")
    kernel.mount("", "/", "", kernel.MS_REC | kernel.MS_PRIVATE)
    kernel.mount("root", spot, "tmpfs", kernel.MS_NOSUID, "size=1m,nr_inodes=500,mode=755")
    for source in sources:
        _show(source, spot)
    os.mkdir(spot + box, 0o755)
    kernel.pivot_root(spot)
    kernel.mount("", "/", "", kernel.MS_BIND | kernel.MS_REMOUNT | kernel.MS_RDONLY)


def _show(source, root):
    target = root + source
    if os.path.lexists(target):  # below a folder that is shown already
        return
    os.makedirs(os.path.dirname(target), mode=0o755, exist_ok=True)
    if os.path.islink(source):  # /lib -> usr/lib on most systems
        os.symlink(os.readlink(source), target)
    elif os.path.isdir(source):
        os.mkdir(target)
        kernel.bind_read_only(source, target)
    else:
        open(target, "w").close()
        kernel.bind_read_only(source, target)
