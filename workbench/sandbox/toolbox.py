"""The walls around runs that start compilers and interpreters (`toolchain`): tiers 3 and 2 again.

Stage: sandbox (server side). The same walls as in `confine`, but for a filter of system calls that
lets processes and programs start; a second filter on top of it takes that back for programs that
do not need it. At tier 1 nothing changes, because nothing stops a run there from starting
programs. CPU time is limited for all processes of a run together, where /proc can be had. Left out:
the same for memory, which needs cgroups; each process has the limit of its request, and a run has a
limited number of them.
"""

from __future__ import annotations

import os
import signal

from workbench.sandbox import accounting, confine, kernel, seccomp


class Filters(confine.Filters):
    """Tier 2. What a run leaves behind stays in its process group, which its filter lets nobody
    leave."""

    allowed = seccomp.START_PROCESSES
    starts_programs = True

    def prepare(self, folder):
        super().prepare(folder)
        self._proc = accounting.open_proc()
        self._alone = confine.make_filter(own_world=False, allow=seccomp.START_PROGRAM)

    def cpu_seconds(self, pid):
        return max(accounting.of_process(pid), accounting.of_descendants(self._proc))

    def forbid_processes(self):
        kernel.load_filter(self._alone)


class Namespaces(confine.Namespaces):
    """Tier 3, where all runs are processes of the server's own world.

    A program that is process 1 of a world gets no signal it has not asked for, its own abort
    included; these runs are not. What they leave behind stays in their process group and becomes
    a child of the server, which is process 1.
    """

    allowed = seccomp.START_PROCESSES
    starts_programs = True

    def prepare(self, folder):
        """As for `confine.Namespaces`; raises OSError, too, where there is no filter."""
        self._proc = accounting.open_proc(new=True)  # while the machine's is there to be compared
        super().prepare(folder)
        self._alone = confine.make_filter(own_world=True, allow=seccomp.START_PROGRAM)
        if self._alone is None:
            raise OSError(f"no table of system calls for {os.uname().machine}")

    def forbid_processes(self):
        kernel.load_filter(self._alone)

    def cpu_seconds(self, pid):
        return max(accounting.of_process(pid), accounting.of_descendants(self._proc))

    def fork(self):
        return os.fork()

    def sweep(self, pid):
        # Never kill(-1) here: the server's parent, whose world is yours, sweeps as well.
        while True:
            try:
                os.killpg(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            try:
                os.waitpid(-1, 0)
            except ChildProcessError:
                return
