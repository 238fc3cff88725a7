"""Class 18: doors of the kernel that an ordinary program never needs.

Each program answers "open" if the door let it through: a pass is the effect. Numbers of system
calls are those of x86-64 and arm64.
"""

from __future__ import annotations

from tests.hostile.record import Attack
from tests.hostile.twins import twin

HERE = ("call", "split")
"""Two modes of three: walls do not depend on how values are compared."""

HEAD = (
    "import ctypes, os, struct, sys\nlibc = ctypes.CDLL(None, use_errno=True)\n"
    "x86 = os.uname().machine == 'x86_64'\nNEWUSER, NEWNS, NEWUTS = 1 << 28, 1 << 17, 1 << 26\n\n"
)
ANOTHER = (
    "for pid in map(int, filter(str.isdigit, os.listdir('/proc'))):\n"
    "    if pid not in (1, os.getpid()):\n        break\n"
)


def _door(name, tries, test, setup="", like="ctypes", modes=HERE, fast=False):
    """test: an expression that is true if the door was open."""
    lines = "".join(f"    {line}\n" for line in setup.splitlines())
    program = f"{HEAD}def f(n):\n{lines}    return 'open' if {test} else 'shut'\n"
    cases = (((3,), "open"),)
    return Attack(
        name, 18, tries, program, "equal", twin(like), cases=cases, modes=modes, fast=fast
    )


ATTACKS = (
    _door(
        "user-namespace",
        "Makes itself root of a new user namespace.",
        "libc.unshare(NEWUSER) == 0 or libc.unshare(NEWNS) == 0",
        fast=True,
    ),
    _door(
        "mount",
        "Mounts an empty file system over what others see.",
        "libc.mount(b'none', b'/dev/shm', b'tmpfs', 0, None) == 0",
        "libc.unshare(NEWUSER | NEWNS)",
    ),
    _door(
        "bind-mount",
        "Mounts the canary folder into the work folder.",
        "libc.mount(b'/canary', b'here', None, 4096, None) == 0",
        "libc.unshare(NEWUSER | NEWNS)\nos.makedirs('here', exist_ok=True)",
        modes=("call",),
    ),
    _door("chroot", "Changes its root.", "libc.chroot(b'/') == 0", "libc.unshare(NEWUSER)"),
    _door(
        "host-name",
        "Renames the machine.",
        "libc.sethostname(b'mine', 4) == 0",
        "libc.unshare(NEWUSER | NEWUTS)",
    ),
    _door(
        "capabilities",
        "Looks whether it holds a capability, or gets one by a user namespace.",
        "libc.capget(head, data) == 0 and any(data.raw[:4])",
        "libc.unshare(NEWUSER)\n"
        "head = ctypes.create_string_buffer(struct.pack('Ii', 0x20080522, 0))"
        "\ndata = ctypes.create_string_buffer(24)",
    ),
    _door(
        "trace-another",
        "Attaches to another process as its debugger.",
        "libc.ptrace(0x4206, pid, 0, 0) == 0",
        ANOTHER,
    ),
    _door("trace-me", "Asks its parent to trace it.", "libc.ptrace(0, 0, 0, 0) == 0"),
    _door(
        "read-other-memory",
        "Reads the memory of another process.",
        "libc.process_vm_readv(pid, ours, 1, theirs, 1, 0) > 0",
        ANOTHER + "here = ctypes.create_string_buffer(8)\n"
        "at = int(open('/proc/%d/maps' % pid).readline().split('-')[0], 16)\n"
        "ours = struct.pack('QQ', ctypes.addressof(here), 8)\ntheirs = struct.pack('QQ', at, 8)",
    ),
    _door(
        "read-memory-by-number",
        "Uses the same door on itself.",
        "libc.process_vm_readv(os.getpid(), ours, 1, theirs, 1, 0) == 8",
        "here, there = (ctypes.create_string_buffer(8) for _ in range(2))\n"
        "ours = struct.pack('QQ', ctypes.addressof(here), 8)\n"
        "theirs = struct.pack('QQ', ctypes.addressof(there), 8)",
    ),
    _door(
        "process-descriptor",
        "Opens a descriptor of a process.",
        "libc.syscall(434, os.getpid(), 0) >= 0",
    ),
    _door(
        "ring",
        "Sets up io_uring, which opens files without the usual system calls.",
        "libc.syscall(425, 4, ctypes.create_string_buffer(120)) >= 0",
    ),
    _door(
        "key-ring",
        "Keeps a key in the kernel for the next run.",
        "libc.syscall(248 if x86 else 217, b'user', b'mine', b'x', 1, -4) >= 0",
    ),
    _door(
        "page-faults",
        "Opens userfaultfd, which stops the kernel wherever it touches memory.",
        "libc.syscall(323 if x86 else 282, 1) >= 0",
    ),
    _door(
        "performance-events",
        "Opens performance counters.",
        "libc.syscall(298 if x86 else 241, what, 0, -1, -1, 0) >= 0",
        "what = struct.pack('IIQQQQQ', 1, 112, 0, 0, 0, 0, 0x63).ljust(112, b'\\0')",
    ),
    _door(
        "file-handles",
        "Asks for a handle that opens a file past every folder's rights.",
        "libc.syscall(303 if x86 else 264, -100, b'/', handle, number, 0) == 0",
        "handle = ctypes.create_string_buffer(struct.pack('Ii', 128, 0), 200)\n"
        "number = ctypes.create_string_buffer(4)",
    ),
    _door(
        "old-system-calls",
        "Forks by the 32-bit gate, whose numbers a filter may not know.",
        "pid > 0",
        "import mmap\ncode = mmap.mmap(-1, 4096, prot=7)\n"
        "code.write(b'\\x53\\xb8\\x02\\x00\\x00\\x00\\xcd\\x80\\x5b\\xc3')\n"
        "start = ctypes.addressof(ctypes.c_char.from_buffer(code))\n"
        "pid = ctypes.CFUNCTYPE(ctypes.c_int)(start)() if x86 else libc.fork()\n"
        "if pid == 0:\n    os._exit(0)",
    ),
    _door(
        "clone",
        "A new process by clone, with no flag but the signal.",
        "pid > 0",
        "pid = libc.syscall(56 if x86 else 220, 17, 0, 0, 0, 0)\nif pid == 0:\n    os._exit(0)",
    ),
    _door(
        "clone3",
        "A new process by clone3, whose flags a filter cannot read.",
        "pid > 0",
        "what = struct.pack('8Q', 0, 0, 0, 0, 17, 0, 0, 0)\npid = libc.syscall(435, what, 64)\n"
        "if pid == 0:\n    os._exit(0)",
    ),
    _door(
        "enter-namespace",
        "Enters a namespace through /proc.",
        "libc.setns(os.open('/proc/self/ns/net', 0), 0) == 0",
        "libc.unshare(NEWUSER | 1 << 30)",
    ),
)
