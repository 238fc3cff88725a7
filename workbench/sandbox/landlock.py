"""Landlock rules: which folders a confined run may read, and which one it may write.

Stage: sandbox (server side, Linux >= 5.13, no privilege needed). Used where no namespace hides
the machine's files. The ruleset is built once in the server; each run only applies it.
Left out: nothing this kernel's version offers is switched off (TCP, abstract sockets and signals
are refused from versions 4 and 6 on).
"""

from __future__ import annotations

import ctypes
import os

from workbench.sandbox import kernel

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_READ = _READ_FILE | _READ_DIR | _EXECUTE


def version():
    """The kernel's Landlock version, 0 if it has none."""
    try:
        return kernel.syscall("landlock", kernel.SYS_LANDLOCK_CREATE, None, 0, 1)
    except OSError:
        return 0


def build(readable, writable, scratch, execute=False):
    """A ruleset descriptor: read below `readable` folders, write `writable` files, own `scratch`.

    execute: whether programs that lie in `scratch` may be started.
    Raises OSError if the kernel has no Landlock.
    """
    abi = version()
    if abi < 1:
        raise OSError("this kernel has no Landlock (needs Linux 5.13 or later, switched on)")
    files = (1 << (13 if abi < 2 else 14 if abi < 3 else 15 if abi < 5 else 16)) - 1
    handled = [files, 3 if abi >= 4 else 0, 3 if abi >= 6 else 0]  # files, TCP, scopes
    attributes = (ctypes.c_uint64 * 3)(*handled)
    size = 8 if abi < 4 else 16 if abi < 6 else 24
    ruleset = kernel.syscall("landlock", kernel.SYS_LANDLOCK_CREATE, attributes, size, 0)
    for path in readable:
        _add(ruleset, path, _READ if os.path.isdir(path) else _READ_FILE | _EXECUTE)
    for path in writable:
        _add(ruleset, path, _READ_FILE | _WRITE_FILE)
    _add(ruleset, scratch, files if execute else files & ~_EXECUTE)
    return ruleset


def _add(ruleset, path, allowed):
    descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    rule = ctypes.create_string_buffer(
        allowed.to_bytes(8, "little") + descriptor.to_bytes(4, "little"), 12
    )
    kernel.syscall("landlock_add_rule", kernel.SYS_LANDLOCK_ADD, ruleset, 1, rule, 0)
    os.close(descriptor)


def restrict(ruleset):
    """Apply a ruleset to this process, for good; no_new_privs must be set before."""
    kernel.syscall("landlock_restrict_self", kernel.SYS_LANDLOCK_RESTRICT, ruleset, 0)
