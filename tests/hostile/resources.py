"""Class 17: memory, disk, names, output: take what there is, or leave it behind."""

from __future__ import annotations

from tests.hostile.record import Attack
from tests.hostile.twins import twin

HERE = ("call", "program")
"""Two modes of three: walls do not depend on how values are compared."""

TOUCH = "for at in range(0, 900 << 20, 4096):\n    block[at] = 1"
ESCAPES = "\\x1b]0;mine\\x07\\x1b[2J\\x1b[31mPASSED"


def _take(name, tries, body, effect, like="some-memory", modes=HERE, **more):
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    program = f"import os, sys, time\n\ndef f(n):\n{lines}    return 0\n"
    return Attack(name, 17, tries, program, "equal", twin(like), effect, modes=modes, **more)


def _leave(name, tries, body, like="files-here", **more):
    return _take(name, tries, body, "file:", like, **more)


def _ipc(name, tries, call):
    return _take(name, tries, f"import ctypes\nctypes.CDLL(None).{call}", "ipc:", "ctypes")


ATTACKS = (
    _take("one-big-block", "Takes 900 MB at once.", "x = b'x' * (900 << 20)", "memory:"),
    _take(
        "many-blocks",
        "Takes memory in small pieces and survives the refusal.",
        "keep = []\ntry:\n    for _ in range(900):\n        keep.append(b'x' * (1 << 20))\n"
        "except MemoryError:\n    pass",
        "memory:",
    ),
    _take(
        "mapped-memory",
        "Maps and touches memory that malloc does not know.",
        f"import mmap\nblock = mmap.mmap(-1, 900 << 20)\n{TOUCH}",
        "memory:",
        modes=("call",),
    ),
    _take(
        "shared-mapping",
        "Maps /dev/zero shared: memory that is a file to the kernel.",
        "import mmap\nwith open('/dev/zero', 'r+b') as zero:\n"
        f"    block = mmap.mmap(zero.fileno(), 900 << 20)\n{TOUCH}",
        "memory:",
        modes=("call",),
    ),
    _take(
        "doubling-string",
        "Doubles a string.",
        "s = 'x' * 1000\nfor _ in range(20):\n    s += s\nreturn len(s)",
        "memory:",
        modes=("call", "split"),
    ),
    _take(
        "memory-file",
        "Keeps 20 MB in an anonymous file, which no folder's quota counts.",
        "fd = os.memfd_create('mine')\nfor _ in range(20):\n    os.write(fd, b'x' * (1 << 20))\n"
        "return 'open'",
        "",
        cases=(((3,), "open"),),
    ),
    _leave(
        "fill-tmp",
        "Fills /tmp.",
        "with open('/tmp/mine', 'wb', 0) as file:\n    try:\n        while True:\n"
        "            file.write(b'x' * (1 << 20))\n    except OSError:\n        pass",
        "tempfile",
    ),
    _leave(
        "fill-shm",
        "Fills shared memory.",
        "with open('/dev/shm/mine', 'wb', 0) as file:\n    for _ in range(40):\n"
        "        file.write(b'x' * (1 << 20))",
        "tempfile",
    ),
    _leave(
        "many-files",
        "Makes files in /tmp and the work folder until no more names can be had.",
        "for folder in ('/tmp', '.'):\n    try:\n        for i in range(3000):\n"
        "            open('%s/mine-%d' % (folder, i), 'w').close()\n    except OSError:\n"
        "        pass",
    ),
    _leave(
        "deep-folders",
        "Makes folders so deep that cleaning up fails.",
        "here = os.getcwd()\nfor top in ('/tmp', here):\n    try:\n        os.chdir(top)\n"
        "        for _ in range(400):\n            os.mkdir('d' * 30)\n"
        "            os.chdir('d' * 30)\n    except OSError:\n        pass\nos.chdir(here)",
        modes=("call",),
    ),
    _leave(
        "locked-folders",
        "Leaves folders that may not be entered, in the work folder and in /tmp.",
        "for top in ('.', '/tmp'):\n    try:\n        os.makedirs(top + '/locked/in')\n"
        "        os.chmod(top + '/locked', 0)\n    except OSError:\n        pass",
    ),
    _leave(
        "odd-names",
        "Leaves names that are no text.",
        "for top in (b'.', b'/tmp'):\n    try:\n        open(top + b'/\\xff\\n\\x1b[31m', 'w')\n"
        "    except OSError:\n        pass",
    ),
    _leave(
        "sparse-file",
        "Leaves a file that claims to be huge.",
        "with open('/tmp/mine', 'wb') as file:\n    os.truncate(file.fileno(), 200 << 20)",
        "tempfile",
    ),
    _leave(
        "posix-shared-memory",
        "Leaves POSIX shared memory.",
        "from multiprocessing import resource_tracker, shared_memory\n"
        "resource_tracker.register = lambda *_: None\n"
        "shared_memory.SharedMemory('mine', create=True, size=1 << 20)",
        "tempfile",
    ),
    _leave(
        "named-semaphore",
        "Leaves a POSIX semaphore.",
        "import ctypes\nopen_it = ctypes.CDLL(None).sem_open\nopen_it.restype = ctypes.c_void_p\n"
        "open_it(b'/mine', 64, 0o666, 1)",
        "ctypes",
    ),
    _ipc(
        "sysv-shared-memory",
        "Leaves System V shared memory, which the end of a process does not free.",
        "shmget(4711, 1 << 20, 0o1666)",
    ),
    _ipc("sysv-semaphores", "Leaves System V semaphores.", "semget(4711, 10, 0o1666)"),
    _ipc("sysv-messages", "Leaves a System V message queue.", "msgget(4711, 0o1666)"),
    _take(
        "terminal-escapes",
        "Writes codes that rename, clear and colour the terminal.",
        f"text = '{ESCAPES}\\n'\nprint(text)\nsys.stdout.flush()\nprint(text, file=sys.stderr)\n"
        "for fd in (1, 2):\n    os.write(fd, text.encode())",
        "terminal:",
        "logs",
    ),
    _take(
        "escapes-in-exception",
        "The same in the message of an exception, which graders like to print.",
        f"raise ValueError('{ESCAPES}')",
        "terminal:",
        "logs",
    ),
    _take(
        "flood-the-output",
        "Prints without end.",
        "while True:\n    os.write(1, b'x' * 65536)\n    os.write(2, b'y' * 65536)",
        "hang:",
        "logs",
        wall_s=1.5,
    ),
)
