"""A filter of system calls: which ones a confined run may not make, as a seccomp program.

Stage: sandbox (server side, Linux). A processor's name goes in; the bytes of a classic BPF
program come out, or None where the numbers (`syscalls`) are not known. Threads may be started;
processes, programs, sockets, mounts, namespaces, shared memory outside the address-space limit,
tracing and changes to other processes are refused. Numbers past the last one known are refused too.
Left out: an allow-list, which would be the stronger form.
"""

from __future__ import annotations

import struct

from workbench.sandbox import syscalls

ALLOW, KILL = 0x7FFF0000, 0x80000000
EPERM, ENOSYS = 0x00050000 | 1, 0x00050000 | 38
DECIDED = {
    "clone": "threads only",
    "clone3": ENOSYS,  # it hides its flags behind a pointer; libc falls back to clone
    "prlimit64": ("equal", 0, 0),
    "socketpair": ("equal", 0, 1),
    "sendto": ("equal", 4, 0),
}
NO_OWNER = {"fcntl": ("not", 1, (8, 15)), "ioctl": ("not", 1, (0x8901, 0x8902))}
"""Decided by an argument: clone passes for threads, prlimit64 for the calling process, socketpair
for AF_UNIX and sendto without an address (an asyncio loop wakes itself through such a pair); fcntl
and ioctl pass unless they name a process for a descriptor to signal (with SIGKILL, if asked to),
where others can be seen."""

START_PROGRAM = ("execve",)
START_PROCESSES = (*START_PROGRAM, "fork", "vfork", "clone", "seccomp")
"""What `build` lets through where runs start compilers and interpreters. The last one lets a
process load a further filter, which can only forbid more."""
NO_SHARED_MEMORY, NO_NAMESPACES = ("not all of", 3, 0x21), ("none of", 0, 0x7E020000)
"""Decided by bits of an argument where programs start: mmap without MAP_SHARED | MAP_ANONYMOUS,
which is memory that counts as nobody's data; clone without any CLONE_NEW flag."""

_CLONE_THREAD = 0x00010000


def build(machine, *, own_world, allow=()):
    """The program for `machine` ("x86_64", "aarch64"), or None where the numbers are not known.

    own_world: True where namespaces hide all processes and files but the run's own.
    allow: names of calls that are let through although they are listed: START_PROGRAM, say.
    """
    table = syscalls.find(machine)
    if table is None:
        return None
    numbers = table.refused | ({} if own_world else table.signals | table.metadata)
    actions = dict.fromkeys(numbers, EPERM) | DECIDED | ({} if own_world else NO_OWNER)
    actions |= {name: ALLOW for name in allow if name != "clone"}
    actions |= {"mmap": NO_SHARED_MEMORY} if allow else {}
    actions |= {"clone": NO_NAMESPACES} if "clone" in allow else {}
    numbers |= table.decided
    rules = {numbers[name]: action for name, action in actions.items() if name in numbers}
    check_machine = [
        _load(4),
        _jump(0x15, table.audit, 1, 0),  # equal
        _return(KILL),
        _load(0),
        _jump(0x35, syscalls.LAST + 1, 0, 1),  # greater or equal: new calls, and those of x32
        _return(ENOSYS),
    ]
    return b"".join(check_machine + _tree(_ranges(rules)))


def _ranges(rules):
    """[(first number, action)] in order: each action holds up to the next entry."""
    ranges = [(0, rules.get(0, ALLOW))]
    for number in range(1, syscalls.LAST + 1):
        action = rules.get(number, ALLOW)
        if action != ranges[-1][1]:
            ranges.append((number, action))
    return ranges


def _tree(ranges):
    """A balanced search: the kernel walks it once per known call when the filter is loaded."""
    if len(ranges) == 1:
        return _decide(ranges[0][1])
    middle = len(ranges) // 2
    low, high = _tree(ranges[:middle]), _tree(ranges[middle:])
    assert len(low) < 256, "a jump's length is one byte"
    return [_jump(0x35, ranges[middle][0], len(low), 0)] + low + high


def _decide(action):
    if action == "threads only":
        return [_load(16), _jump(0x45, _CLONE_THREAD, 0, 1), _return(ALLOW), _return(EPERM)]
    if isinstance(action, tuple) and action[0] in ("not all of", "none of"):
        kind, argument, bits = action
        masked = [_load(16 + 8 * argument), _jump(0x54, bits, 0, 0)]  # not a jump: accumulator &=
        if kind == "none of":
            return [*masked, _jump(0x15, 0, 1, 0), _return(EPERM), _return(ALLOW)]
        return [*masked, _jump(0x15, bits, 0, 1), _return(EPERM), _return(ALLOW)]
    if isinstance(action, tuple) and action[0] == "not":
        _, argument, values = action  # commands are 32 bits: the kernel ignores the other word
        jumps = [_jump(0x15, v, len(values) - i, 0) for i, v in enumerate(values)]
        return [_load(16 + 8 * argument), *jumps, _return(ALLOW), _return(EPERM)]
    if isinstance(action, tuple):
        _, argument, value = action
        low, high = 16 + 8 * argument, 20 + 8 * argument  # each argument is two words
        checks = [_load(low), _jump(0x15, value, 0, 3), _load(high), _jump(0x15, 0, 0, 1)]
        return checks + [_return(ALLOW), _return(EPERM)]
    return [_return(action)]


def _load(offset):
    return struct.pack("<HBBI", 0x20, 0, 0, offset)


def _jump(code, value, if_true, if_false):
    return struct.pack("<HBBI", code, if_true, if_false, value)


def _return(action):
    return struct.pack("<HBBI", 0x06, 0, 0, action)
