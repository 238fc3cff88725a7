"""The Linux calls Python 3.11 has no function for, by ctypes: names, numbers, one error rule.

Stage: sandbox (server side). Each function raises OSError with the call's name when the kernel
refuses. Left out: everything the sandbox does not use. On macOS only `available()` is of use.
"""

from __future__ import annotations

import ctypes
import os
import sys

CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC = 0x00020000, 0x04000000, 0x08000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
MS_RDONLY, MS_NOSUID, MS_NODEV = 1, 2, 4
MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 32, 4096, 16384, 1 << 18
MNT_DETACH = 2
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_CAPBSET_DROP = 1, 4, 24
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 36, 38
SYS_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
SYS_CAPSET = {"x86_64": 126, "aarch64": 91}
SYS_SECCOMP = {"x86_64": 317, "aarch64": 277}
SYS_FSOPEN, SYS_FSCONFIG, SYS_FSMOUNT = 430, 431, 432
SYS_LANDLOCK_CREATE, SYS_LANDLOCK_ADD, SYS_LANDLOCK_RESTRICT = 444, 445, 446

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long
if sys.platform == "linux":
    _libc.prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4
_machine = os.uname().machine


def available():
    """True on Linux."""
    return sys.platform == "linux"


def _check(result, name):
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{name}: {os.strerror(code)}")
    return result


def unshare(flags):
    """Leave the namespaces named by `flags`; CLONE_NEWPID takes effect for the next child."""
    _check(_libc.unshare(flags), "unshare")


def setns(descriptor, flags):
    """Enter the namespace behind a descriptor of /proc/PID/ns/..."""
    _check(_libc.setns(descriptor, flags), "setns")


def mount(source, target, kind, flags, data=""):
    """mount(2); empty strings stand for NULL."""
    texts = [text.encode() if text else None for text in (source, target, kind, data)]
    result = _libc.mount(texts[0], texts[1], texts[2], ctypes.c_ulong(flags), texts[3])
    _check(result, f"mount {target}")


def bind_read_only(source, target):
    """Show `source` at `target`, read-only, keeping the flags it is mounted with."""
    mount(source, target, "", MS_BIND | MS_REC)
    kept = os.statvfs(source).f_flag & ~MS_RDONLY
    flags = kept & (MS_NOSUID | MS_NODEV | 8 | 1024 | 2048)  # noexec, noatime, nodiratime
    flags |= (1 << 21) if kept & 4096 else 0  # relatime has another number in statvfs
    mount("", target, "", MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID | flags)


def pivot_root(new_root):
    """Make `new_root` (a mount point) the root and let go of the old one."""
    os.chdir(new_root)
    _check(_libc.syscall(SYS_PIVOT_ROOT[_machine], b".", b"."), "pivot_root")
    _check(_libc.umount2(b".", MNT_DETACH), "umount old root")
    os.chdir("/")


def new_proc():
    """A descriptor of a /proc for this process's pid namespace, which is mounted nowhere."""
    made = syscall("fsopen", SYS_FSOPEN, b"proc", 1)  # closed when a program starts
    try:
        syscall("fsconfig", SYS_FSCONFIG, made, 6, None, None, 0)  # make it
        return syscall("fsmount", SYS_FSMOUNT, made, 1, 0)
    finally:
        os.close(made)


def prctl(option, value=0):
    """prctl(2) with one argument."""
    _check(_libc.prctl(option, value, 0, 0, 0), f"prctl {option}")


def drop_capability_bounds():
    """Give up every capability for programs started later; stops at the last one there is."""
    for capability in range(64):
        if _libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) < 0:
            return


def drop_capabilities():
    """Give up every capability of this process."""
    _check(_libc.syscall(SYS_CAPSET[_machine], _CAPSET_HEADER, _NO_CAPABILITIES), "capset")


def prepare_filter(program):
    """A seccomp program (bytes) in the form `load_filter` takes; made once, used in each fork."""
    code = ctypes.create_string_buffer(program, len(program))
    prepared = _Filter(len(program) // 8, ctypes.addressof(code))
    prepared.owner = code  # keeps the instructions alive
    return prepared


def load_filter(prepared):
    """Confine this process by a seccomp program, for good; no_new_privs must be set before."""
    _check(_libc.syscall(SYS_SECCOMP[_machine], 1, 0, ctypes.byref(prepared)), "seccomp")


def syscall(name, number, *arguments):
    """A raw system call whose arguments are ints, bytes or ctypes objects."""
    wide = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    return _check(_libc.syscall(ctypes.c_long(number), *wide), name)


class _Filter(ctypes.Structure):
    _fields_ = [("count", ctypes.c_ushort), ("code", ctypes.c_void_p)]


_CAPSET_HEADER = (ctypes.c_uint32 * 2)(0x20080522, 0)
_NO_CAPABILITIES = (ctypes.c_uint32 * 6)()
