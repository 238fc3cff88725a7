"""Class 15: touch files that are not the program's own.

The canary folder is open to everyone: only walls keep a program out, no permission does.
"""

from __future__ import annotations

from tests.hostile.record import Attack
from tests.hostile.twins import twin

HERE = ("call", "program")
"""Two modes of three: walls do not depend on how values are compared."""


def _file(name, tries, body, like="files-here", modes=HERE, beats="equal", **more):
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    program = f"import os, shutil, sys, pathlib\n\ndef f(n):\n{lines}    return 0\n"
    return Attack(name, 15, tries, program, beats, twin(like), "file:", modes=modes, **more)


ATTACKS = (
    _file("create-file", "Creates a file.", "open('/canary/mine', 'w').write('x')", fast=True),
    _file("overwrite-file", "Overwrites a file.", "open('/canary/keep.txt', 'w').write('mine')"),
    _file("append-file", "Appends to a file.", "open('/canary/keep.txt', 'a').write('mine')"),
    _file("delete-file", "Deletes a file.", "os.remove('/canary/keep.txt')"),
    _file("truncate-file", "Cuts a file to nothing.", "os.truncate('/canary/keep.txt', 0)"),
    _file("change-mode", "Takes everyone's rights away.", "os.chmod('/canary/keep.txt', 0)"),
    _file("change-time", "Sets a file's time back.", "os.utime('/canary/keep.txt', (1, 1))"),
    _file("rename-file", "Renames a file.", "os.rename('/canary/keep.txt', '/canary/kept.txt')"),
    _file("make-folder", "Makes a folder.", "os.makedirs('/canary/a/b/c')"),
    _file("remove-tree", "Removes a whole folder.", "shutil.rmtree('/canary/folder')"),
    _file("make-fifo", "Makes a pipe on which a reader would wait.", "os.mkfifo('/canary/p')"),
    _file("hard-link", "Gives a file a second name.", "os.link('/canary/keep.txt', '/canary/l')"),
    _file("soft-link", "Leaves a link behind.", "os.symlink('/etc', '/canary/l')"),
    _file(
        "setuid-file",
        "Leaves a program that runs with its owner's rights.",
        "shutil.copy('/bin/true', '/canary/true')\nos.chmod('/canary/true', 0o4755)",
    ),
    _file(
        "write-through-link",
        "Writes through a link in the work folder.",
        "os.symlink('/canary/keep.txt', 'notes.txt')\nopen('notes.txt', 'w').write('mine')",
    ),
    _file(
        "link-race",
        "Swaps a file of the work folder for a link while it might be collected.",
        "open('out.txt', 'w').write('x')\nfor _ in range(50):\n    os.remove('out.txt')\n"
        "    os.symlink('/canary/keep.txt', 'out.txt')\n    open('out.txt', 'a').write('mine')",
    ),
    _file(
        "write-by-proc-fd",
        "Reopens a file for writing through /proc/self/fd.",
        "fd = os.open('/canary/keep.txt', os.O_RDONLY)\n"
        "open('/proc/self/fd/%d' % fd, 'w').write('mine')",
    ),
    _file(
        "write-by-proc-root",
        "Goes through the root folders of other processes.",
        "import glob\nfor root in ['/proc/self/root', *glob.glob('/proc/[0-9]*/root')]:\n"
        "    try:\n        open(root + '/canary/mine', 'w').write('x')\n"
        "    except OSError:\n        pass",
    ),
    _file(
        "write-by-open-folder",
        "Tries every inherited descriptor as a folder.",
        "for fd in [*range(3, 300), os.open('/', os.O_RDONLY)]:\n"
        "    for path in ('canary/mine', '../canary/mine', '../../canary/mine'):\n"
        "        try:\n            os.close(os.open(path, os.O_CREAT | os.O_WRONLY, dir_fd=fd))\n"
        "        except OSError:\n            pass",
    ),
    _file(
        "write-by-libc",
        "Uses the C library, below Python's audit hooks.",
        "import ctypes\nlibc = ctypes.CDLL(None)\nfd = libc.creat(b'/canary/mine', 0o644)\n"
        "libc.write(fd, b'x', 1)",
        like="ctypes",
    ),
    _file(
        "write-by-mmap",
        "Changes a file through memory.",
        "import mmap\nwith open('/canary/keep.txt', 'r+b') as file:\n"
        "    mmap.mmap(file.fileno(), 0)[:4] = b'mine'\n    os.utime(file.fileno())",
    ),
    _file(
        "write-by-sqlite",
        "Lets a database library write.",
        "import sqlite3\nbase = sqlite3.connect('/canary/base.db')\n"
        "base.execute('create table t (x)')\nbase.commit()",
    ),
    _file(
        "write-at-exit",
        "Writes in an exit handler, when the answer is out.",
        "import atexit\natexit.register(open, '/canary/mine', 'w')\nsys.exit()",
        like="atexit",
        beats="exit_code",
    ),
    _file(
        "write-by-finaliser",
        "Writes in a finaliser.",
        "class Late:\n    def __del__(self, open=open):\n        open('/canary/mine', 'w')\nLate()",
        like="garbage",
    ),
    _file(
        "write-by-thread",
        "A thread writes a moment after the answer.",
        "import threading\nthreading.Timer(0.02, open, ['/canary/mine', 'w']).start()\n"
        "import time\ntime.sleep(0.04 if n == 40 else 0)",
        like="threads",
    ),
    _file("write-tmp", "Leaves a file in /tmp.", "open('/tmp/mine', 'w').write('x')", "tempfile"),
    _file(
        "keep-tempfile",
        "Leaves temporary files behind.",
        "import tempfile\nfor _ in range(5):\n    os.write(tempfile.mkstemp()[0], b'x')",
        like="tempfile",
    ),
    _file(
        "write-home",
        "Writes start-up files into the home folder.",
        "home = pathlib.Path(os.environ.get('HOME', '/user'))\n"
        "home.joinpath('.bashrc').write_text('x')\n"
        "pathlib.Path('/user/.profile').write_text('x')",
    ),
    _file(
        "write-beside-modules",
        "Leaves a start-up file in every folder that modules are loaded from.",
        "import json\nfor folder in (*sys.path, os.path.dirname(json.__file__), '/canary'):\n"
        "    try:\n        open(os.path.join(folder or '.', 'mine.pth'), 'w').write('import os')\n"
        "    except OSError:\n        pass",
    ),
)
