"""CPU time that a run has used so far: of one process, or of all that it has started.

Stage: sandbox (server side). Process ids come in, seconds go out. A process's own clock counts its
threads but not its children; what those have used stands in /proc, where the kernel keeps it for
each process and adds it to the parent's when that has waited. Left out: cgroups, which would count
the same and limit memory too, but belong to whoever set up the machine.
"""

from __future__ import annotations

import os
import time

from workbench.sandbox import kernel

_TICKS = os.sysconf("SC_CLK_TCK")


def of_process(pid):
    """CPU seconds a process has used so far; 0 where the kernel does not tell."""
    try:
        return time.clock_gettime(~pid << 3 | 2)  # the kernel's name for that process's clock
    except (OSError, OverflowError):
        return 0.0


def open_proc(new=False):
    """A descriptor of /proc; new: of one for this process's own pid namespace, which is mounted
    nowhere. None where that cannot be had; then children are not counted."""
    try:
        if not new:
            return os.open("/proc", os.O_RDONLY | os.O_CLOEXEC)
        return kernel.new_proc()
    except OSError:
        return None


def of_descendants(proc):
    """CPU seconds of all processes below this one, of those that were waited for, too.

    proc: what `open_proc` gave. What has ended counts until this process waits for it.
    """
    if proc is None:
        return 0.0
    ticks, unseen = 0, _children(proc, os.getpid())
    while unseen:
        pid = unseen.pop()
        unseen += _children(proc, pid)
        fields = _read(proc, f"{pid}/stat").rpartition(")")[2].split()
        ticks += sum(map(int, fields[11:15]))  # user, system; the same of children waited for
    return ticks / _TICKS


def _children(proc, pid):
    return [int(child) for child in _read(proc, f"{pid}/task/{pid}/children").split()]


def _read(proc, path):
    """The text of a file of /proc; "" if its process is gone."""
    try:
        file = os.open(path, os.O_RDONLY, dir_fd=proc)
    except OSError:
        return ""
    try:
        return os.read(file, 1 << 16).decode()
    except OSError:
        return ""
    finally:
        os.close(file)
