"""The walls around a run, in three strengths; the server picks the strongest that works here.

Stage: sandbox (server side). Each class offers the same steps: `prepare` once in the server,
`fork`, `enter` and `seal` for each run (the last two in the child, before anything untrusted
exists), `is_overfull` while it runs, `sweep` and `clean` after it. All three: own session, resource
limits, no descriptor but standard input (/dev/null or a text), the pipes for output and errors, the
result pipe and, in mode "split", the two pipes to the other run. Left out: cgroups; a disk quota at
tiers 1 and 2, where the server looks what was written; runs that start programs have other walls
(`toolbox`).

    tier 3  Namespaces  pid, mount, ipc, net, uts namespaces; own read-only root; seccomp
    tier 2  Filters     Landlock and seccomp, no namespaces (containers, Colab)
    tier 1  Minimal     limits only (macOS): no protection of files, network or other processes
"""

from __future__ import annotations

import os
import resource
import signal
import sys
import time

from workbench.sandbox import accounting, filetree, kernel, landlock, removal, seccomp, wire

PIPE = 3
"""The result pipe's descriptor in a run; besides 0, 1 and 2 nothing else is open."""
FIXED = {"CORE": 0, "FSIZE": 16 << 20, "NOFILE": 64, "MEMLOCK": 0}
"""Resource limits of every run, besides those its request names; inherited from the server."""
OWN_USER = {"NPROC": 64}
"""Threads and processes; counted per user id, so only set where a server has one of its own."""
RUN_UIDS = 40_000, 20_000
"""A root server runs candidates under one of these user ids (first, count), one per server."""


class Minimal:
    """Tier 1: resource limits and an own session."""

    tier = 1
    allowed = ()
    """System calls that the filter of this tier forbids and these walls do not."""
    starts_programs = False
    """Whether programs in the work folder may be started."""

    def __init__(self, reads=()):
        """reads: paths that runs may read besides Python's own."""
        self._reads = reads
        self.layers = ["own session", "resource limits", "scrubbed environment"]
        self.box = ""
        self.uid = None
        self._folder = ""

    def prepare(self, folder):
        """In the server, once: make the work folder's parent; nothing else is needed."""
        os.makedirs(folder, mode=0o711, exist_ok=True)
        self._folder = os.path.realpath(folder)
        self.box = os.path.join(self._folder, "box")
        if kernel.available():  # what a run leaves behind becomes this process's child
            kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
        os.environ.update(HOME=self.box, TMPDIR=self.box)
        _set_limits(FIXED)

    def fork(self):
        """Like os.fork: 0 in the run, its process id in the server."""
        return os.fork()

    def enter(self, *kept):
        """In the run: put up every wall but the filter of system calls and the limits a request
        names; the descriptors it keeps, under their new numbers. Raises OSError if a wall cannot
        be had."""
        os.setsid()
        if kernel.available():
            kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
        os.mkdir(self.box, 0o700)
        os.chdir(self.box)
        return _keep_only(kept)

    def seal(self):
        """In the run, after `enter`: load the filter of system calls, where there is one."""

    def forbid_processes(self):
        """In a run that may start programs: from now on this process stays alone."""

    def sweep(self, pid):
        """In the server, after the run's first process ended: end what it left behind."""
        try:
            os.killpg(pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
        while children := _children():
            for child in children:
                os.kill(child, signal.SIGKILL)
            for child in children:
                os.waitpid(child, 0)

    def cpu_seconds(self, pid):
        """In the server: CPU time that the run, whose first process this is, has used so far."""
        return accounting.of_process(pid)

    def is_overfull(self):
        """In the server: whether the run has written too much, wherever it has moved its folder."""
        return removal.holds_more(self._folder, wire.BOX_FILES + 1, wire.BOX_MB << 20)

    def clean(self):
        """In the server: remove what the run wrote."""
        removal.empty_folder(self._folder)


class Filters(Minimal):
    """Tier 2: Landlock for files and TCP, seccomp for processes, sockets and the rest."""

    tier = 2

    def prepare(self, folder):
        """Raises OSError where seccomp or Landlock is missing."""
        super().prepare(folder)
        self._filter = make_filter(own_world=False, allow=self.allowed)
        if self._filter is None:
            raise OSError(f"no table of system calls for {os.uname().machine}")
        needed = (os.path.dirname(os.__file__), *self._reads)
        if os.geteuid() == 0 and all(map(filetree.readable_by_all, needed)):
            self.uid = _run_uid(os.getppid())
        os.chmod(folder, 0o711)
        kernel.drop_capability_bounds()
        self._ruleset = landlock.build(
            filetree.libraries(self._reads), ["/dev/null"], folder, execute=self.starts_programs
        )
        self.layers += ["no new privileges", "seccomp", "Landlock", "capabilities dropped"]

    def enter(self, *kept):
        os.setsid()
        os.mkdir(self.box, 0o700)
        if self.uid is not None:
            os.chown(self.box, self.uid, self.uid)
        _become(self.uid)
        os.chdir(self.box)
        kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
        landlock.restrict(self._ruleset)
        kept = _keep_only(kept)
        if self.uid is not None:
            _set_limits(OWN_USER)
        return kept

    def seal(self):
        kernel.load_filter(self._filter)


class Namespaces(Minimal):
    """Tier 3: the run sees no file, process, network or user but its own."""

    tier = 3

    def __init__(self, as_root, reads=()):
        super().__init__(reads)
        self._as_root = as_root
        self._filter = None
        self._folder, self.box = "/box", "/box/box"
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
        self._filter = make_filter(own_world=True, allow=self.allowed)
        filetree.make_root(self.box, self._reads)
        if self._as_root:
            self._mount_folder()
        kernel.drop_capability_bounds()
        os.environ.update(HOME=self.box, TMPDIR=self.box)
        self.layers += ["namespaces: pid, mount, ipc, net, uts"]
        self.layers += ["read-only root, tmpfs work folder", "capabilities dropped"]
        self.layers += ["own user id" if self._as_root else "user namespace", "no new privileges"]
        self.layers += ["seccomp"] if self._filter else []
        _set_limits(FIXED)

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

    def enter(self, *kept):
        os.setsid()
        kernel.unshare(kernel.CLONE_NEWIPC)
        if not self._as_root:
            kernel.unshare(kernel.CLONE_NEWNS)
            self._mount_folder()
        os.mkdir(self.box, 0o700)
        if self.uid is not None:
            os.chown(self.box, self.uid, self.uid)
        kept = _keep_only(kept)
        if self.uid is not None or self.starts_programs or not self._filter:
            _set_limits(OWN_USER)
        _become(self.uid)
        os.chdir(self.box)
        kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
        return kept

    def seal(self):
        if self._filter:
            kernel.load_filter(self._filter)

    def sweep(self, pid):
        """Nothing: the namespace's other processes ended with its first."""

    def is_overfull(self):
        """False: its work folder takes no more than it holds."""
        return False

    def clean(self):
        """In the server: remove what the run wrote, if it did not go with its mount namespace."""
        if self._as_root:
            removal.empty_folder(self._folder)

    def _mount_folder(self):
        """A small file system to hold work folders. One for all runs where it is root's and they
        are not root, so that they leave nothing on it; else a new one for each, and to end it the
        kernel waits until no processor can be looking at it."""
        quota = f"size={wire.BOX_MB}m,nr_inodes={wire.BOX_FILES + 1},mode=711"
        kernel.mount("box", self._folder, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, quota)


def make_filter(own_world, allow):
    """The filter of system calls, ready to load; None where their numbers are not known."""
    program = seccomp.build(os.uname().machine, own_world=own_world, allow=allow)
    return kernel.prepare_filter(program) if program else None


def _children():
    """Process ids of this process's children; () where the system does not list them."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/children") as file:
            return [int(pid) for pid in file.read().split()]
    except OSError:
        return []


def _run_uid(number):
    return RUN_UIDS[0] + number % RUN_UIDS[1]


def _become(uid):
    """Give up the user id and every capability, and die with the server."""
    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    kernel.drop_capabilities()
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)  # changing ids would have cleared it
    kernel.prctl(kernel.PR_SET_DUMPABLE, 0)


def _keep_only(kept):
    """Close every descriptor but 0, 1, 2 and these, which become PIPE and those after it."""
    first_free = max(kept) + len(kept) + PIPE
    high = [os.dup2(one, first_free + place) for place, one in enumerate(kept)]  # out of the way
    low = [os.dup2(one, PIPE + place) for place, one in enumerate(high)]
    os.closerange(PIPE + len(kept), 4096)
    return low


def set_limits(cpu_s, memory_mb, reserve_mb=None):
    """The limits a request names; CPU in whole seconds, the server's own clock is finer.

    reserve_mb: address space besides the memory that is written to; None = one limit for both.
    """
    used_s = int(time.process_time())
    _set_limits({"CPU": used_s + int(cpu_s) + 2, "AS": memory_mb + (reserve_mb or 0) << 20})
    if reserve_mb is not None:
        _set_limits({"DATA": memory_mb << 20})


def _set_limits(values):
    for name, value in values.items():
        kind = getattr(resource, f"RLIMIT_{name}", None)
        if kind is None:
            continue
        hard = resource.getrlimit(kind)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        try:
            resource.setrlimit(kind, (value, value))
        except (OSError, ValueError):
            if sys.platform == "linux":  # macOS refuses some, and this tier promises none there
                raise
