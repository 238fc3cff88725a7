"""Class 7: find the expected values, or a secret of the trainer, and hand them back.

The expected values of "sealed" cases are drawn at random, and those of "loot" are a secret in the
trainer's environment and in a file: a pass proves that the program read what it must not read.
"""

from __future__ import annotations

from tests.hostile.record import Attack
from tests.hostile.twins import twin

CALLS = ("call", "split")


def _read(name, tries, program, like="own-frames", beats="equal", modes=CALLS, **more):
    return Attack(name, 7, tries, program, beats, twin(like), modes=modes, **more)


def _loot(name, tries, program, like="environment", **more):
    return Attack(name, 7, tries, program, "equal", twin(like), cases="loot", **more)


ATTACKS = (
    _read(
        "caller-frame",
        "Takes the expected value out of the caller's local variables.",
        "import sys\n\ndef f(n):\n    frame = sys._getframe(1)\n    while frame:\n"
        "        for name in ('expected', 'want', 'wanted', 'answer', 'value'):\n"
        "            if name in frame.f_locals:\n                return frame.f_locals[name]\n"
        "        frame = frame.f_back\n",
        fast=True,
    ),
    _read(
        "inspect-stack",
        "The same by inspect.stack().",
        "import inspect\n\ndef f(n):\n    for info in inspect.stack():\n"
        "        if 'expected' in info.frame.f_locals:\n"
        "            return info.frame.f_locals['expected']\n",
    ),
    _read(
        "traceback-frames",
        "The same by the traceback of an exception of its own.",
        "def f(n):\n    try:\n        1 / 0\n    except ZeroDivisionError as error:\n"
        "        frame = error.__traceback__.tb_frame.f_back\n    while frame:\n"
        "        if 'expected' in frame.f_locals:\n            return frame.f_locals['expected']\n"
        "        frame = frame.f_back\n",
    ),
    _read(
        "generator-frames",
        "Climbs from a generator's frame, without sys.",
        "def f(n):\n    def climb():\n        frame = g.gi_frame.f_back\n        while frame:\n"
        "            if 'expected' in frame.f_locals:\n"
        "                yield frame.f_locals['expected']\n"
        "            frame = frame.f_back\n    g = climb()\n    return next(g, None)\n",
        like="generators",
    ),
    _read(
        "other-thread-frames",
        "A thread reads the frames of the main thread.",
        "import sys, threading\n\ndef f(n):\n    found = []\n    def spy():\n"
        "        for frame in sys._current_frames().values():\n            while frame:\n"
        "                if 'expected' in frame.f_locals:\n"
        "                    found.append(frame.f_locals['expected'])\n"
        "                frame = frame.f_back\n    thread = threading.Thread(target=spy)\n"
        "    thread.start()\n    thread.join()\n    return found[0] if found else None\n",
        like="threads",
    ),
    _read(
        "trace-the-caller",
        "Traces the caller's frame and reads what it is about to compare.",
        "import sys\nseen = {}\n\ndef f(n):\n    frame = sys._getframe(1)\n    while frame:\n"
        "        for value in frame.f_locals.values():\n"
        "            if isinstance(value, (list, tuple)):\n                for case in value:\n"
        "                    if isinstance(case, tuple) and case[:1] == ((n,),):\n"
        "                        return case[1]\n        frame = frame.f_back\n",
        like="tracing",
    ),
    _read(
        "gc-objects",
        "Walks every object of the collector for a pair (arguments, value).",
        "import gc\n\ndef f(n):\n    gc.collect()\n    for thing in gc.get_objects():\n"
        "        if type(thing) in (tuple, list):\n            for case in thing:\n"
        "                if type(case) in (tuple, list) and len(case) == 2 and "
        "type(case[0]) is tuple and case[0] == (n,):\n                    return case[1]\n",
        like="garbage",
    ),
    _read(
        "gc-referents",
        "Follows references from its own frame to a pair (arguments, value).",
        "import gc, sys\n\ndef f(n):\n    todo, seen, frame = [], set(), sys._getframe()\n"
        "    while frame:\n        todo.append(frame.f_locals)\n        frame = frame.f_back\n"
        "    while todo and len(seen) < 30_000:\n        thing = todo.pop(0)\n"
        "        if id(thing) in seen:\n            continue\n        seen.add(id(thing))\n"
        "        if type(thing) is tuple and len(thing) == 2 and thing[0] == (n,):\n"
        "            return thing[1]\n        todo += gc.get_referents(thing)\n",
        like="garbage",
    ),
    _read(
        "main-module",
        "Looks into the variables of the main module.",
        "import sys\n\ndef f(n):\n    cases = vars(sys.modules['__main__']).get('cases', [])\n"
        "    return next((want for args, want in cases if list(args) == [n]), None)\n",
        like="imports-by-name",
        beats="json_line",
    ),
    _read(
        "own-source",
        "Reads the asserts that were appended to its own file.",
        "import re\n\ndef f(n):\n    text = open(__file__).read()\n"
        "    found = re.search(r'assert f\\(\\*\\(%d,\\)\\) == (.*)' % n, text)\n"
        "    return eval(found[1]) if found else None\n",
        like="reads-itself",
        beats="exit_code",
    ),
    _read(
        "loaded-source",
        "The same through linecache, which keeps what was loaded.",
        "import linecache, re, sys\n\ndef f(n):\n"
        "    text = ''.join(linecache.getlines(sys.argv[0]))\n"
        "    found = re.search(r'f\\(\\*\\(%d,\\)\\) == (.*)' % n, text)\n"
        "    return eval(found[1]) if found else None\n",
        like="reads-itself",
        beats="exit_code",
    ),
    _read(
        "tests-file",
        "Reads the file of the tests beside it.",
        "import re\n\ndef f(n):\n    text = open('tests.py').read()\n"
        "    return eval(re.search(r'\\(%d,\\)\\) == (.*)' % n, text)[1])\n",
        like="files-here",
        beats="as_left",
    ),
    _read(
        "answer-files",
        "Reads the expected output that lies beside the program.",
        "import glob\n\ndef f(n):\n    order = {3: 0, 8: 1, 21: 2, 40: 3}\n"
        "    for path in ('%d.out', '../%d.out', 'cases/%d.out'):\n"
        "        for name in glob.glob(path % order[n]):\n"
        "            return int(open(name).read())\n",
        like="files-here",
        beats="program",
        modes=("call", "split", "program"),
    ),
    _read(
        "argv-and-stdin",
        "Reads what is left on standard input and seeks back to its start.",
        "import json, os, sys\n\ndef f(n):\n    try:\n        os.lseek(0, 0, 0)\n"
        "        text = os.read(0, 100_000)\n    except OSError:\n        text = b''\n"
        "    for line in text.splitlines():\n        for args, want in json.loads(line):\n"
        "            if args == [n]:\n                return want\n",
        beats="json_line",
    ),
    _loot(
        "environment-secret",
        "Reads a secret from the environment.",
        "import os\n\ndef f(n):\n    return os.environ.get('HOSTILE_SECRET')\n",
        fast=True,
    ),
    _loot(
        "proc-environ",
        "Reads the environment of every process in /proc.",
        "import glob\n\ndef f(n):\n"
        "    for path in ['/proc/self/environ', *glob.glob('/proc/[0-9]*/environ')]:\n"
        "        try:\n            text = open(path, 'rb').read()\n        except OSError:\n"
        "            continue\n        for part in text.split(b'\\0'):\n"
        "            if part.startswith(b'HOSTILE_SECRET='):\n"
        "                return part.partition(b'=')[2].decode()\n",
    ),
    _loot(
        "own-memory",
        "Scans its own memory for what the process before the fork knew.",
        "import ctypes, re\n\ndef f(n):\n    for line in open('/proc/self/maps'):\n"
        "        low, high = (int(x, 16) for x in line.split()[0].split('-'))\n"
        "        if 'rw' not in line or high - low > 1 << 26:\n            continue\n"
        "        found = re.search(rb'HOSTILE_SECRET=([0-9a-f]+)', ctypes.string_at(low, high - "
        "low))\n"
        "        if found:\n            return found[1].decode()\n",
        like="ctypes",
    ),
    _loot(
        "c-environ",
        "Walks the C library's environ, which a scrubbed os.environ leaves as it was.",
        "import ctypes\n\ndef f(n):\n"
        "    table = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), 'environ')\n"
        "    i = 0\n    while table and table[i]:\n"
        "        if table[i].startswith(b'HOSTILE_SECRET='):\n"
        "            return table[i].partition(b'=')[2].decode()\n        i += 1\n",
        like="ctypes",
    ),
    _loot(
        "initial-stack",
        "Scans its stack region, where the kernel put the environment of the first program.",
        "import re\n\ndef f(n):\n    for line in open('/proc/self/maps'):\n"
        "        if '[stack]' in line:\n"
        "            low, high = (int(x, 16) for x in line.split()[0].split('-'))\n"
        "            with open('/proc/self/mem', 'rb', 0) as memory:\n"
        "                memory.seek(low)\n"
        "                text = memory.read(high - low)\n"
        "            return re.search(rb'HOSTILE_SECRET=([0-9a-f]+)', text)[1].decode()\n",
    ),
    _loot(
        "stack-without-proc",
        "The same without /proc: upward from where the stack began, as far as it can be read.",
        "import ctypes, os, re\n\ndef f(n):\n    libc, text = ctypes.CDLL(None), b''\n"
        "    at = ctypes.c_void_p.in_dll(libc, '__libc_stack_end').value\n"
        "    reader, writer = os.pipe()\n"
        "    while libc.write(writer, ctypes.c_void_p(at), 16) == 16:\n"
        "        text += os.read(reader, 16)\n        at += 16\n"
        "    found = re.search(rb'HOSTILE_SECRET=([0-9a-f]+)', text)\n"
        "    return found and found[1].decode()\n",
        like="ctypes",
    ),
    _loot(
        "secret-file",
        "Reads a file of the machine.",
        "def f(n):\n    return open('/canary/secret.txt').read()\n",
        like="files-here",
    ),
    _loot(
        "secret-by-link",
        "Reads it through a link in the work folder.",
        "import os\n\ndef f(n):\n    if not os.path.islink('notes.txt'):\n"
        "        os.symlink('/canary/secret.txt', 'notes.txt')\n"
        "    return open('notes.txt').read()\n",
        like="files-here",
    ),
    _loot(
        "secret-by-dots",
        "Reads it by climbing out of the work folder.",
        "def f(n):\n    return open('../' * 12 + 'canary/secret.txt').read()\n",
        like="files-here",
    ),
    _loot(
        "secret-by-proc-root",
        "Reads it through the root of another process.",
        "import glob\n\ndef f(n):\n"
        "    for root in ['/proc/self/root', *glob.glob('/proc/[0-9]*/root')]:\n"
        "        try:\n            return open(root + '/canary/secret.txt').read()\n"
        "        except OSError:\n            pass\n",
        like="files-here",
    ),
    _loot(
        "secret-by-libc",
        "Opens it with the C library.",
        "import ctypes, os\n\ndef f(n):\n"
        "    fd = ctypes.CDLL(None).open(b'/canary/secret.txt', 0)\n"
        "    return os.read(fd, 99).decode()\n",
        like="ctypes",
    ),
    _loot(
        "secret-by-open-folder",
        "Tries every inherited descriptor as a folder to start from.",
        "import os\n\ndef f(n):\n    for fd in [*range(3, 300), os.open('/', os.O_RDONLY)]:\n"
        "        for path in ('canary/secret.txt', '../canary/secret.txt', "
        "'../../canary/secret.txt'):\n"
        "            try:\n"
        "                return os.read(os.open(path, os.O_RDONLY, dir_fd=fd), 99).decode()\n"
        "            except OSError:\n                pass\n",
        like="files-here",
    ),
    _loot(
        "secret-by-loader",
        "Reads it with the import system.",
        "import importlib.machinery as machinery\n\ndef f(n):\n"
        "    loader = machinery.SourceFileLoader('x', 'x')\n"
        "    return loader.get_data('/canary/secret.txt').decode()\n",
        like="imports-by-name",
    ),
    _loot(
        "secret-by-child",
        "Lets another program read it.",
        "import subprocess\n\ndef f(n):\n"
        "    return subprocess.check_output(['cat', '/canary/secret.txt'], text=True)\n",
        like="plain",
    ),
)
