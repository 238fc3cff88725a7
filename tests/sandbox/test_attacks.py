"""Hostile programs win nothing and harm nothing; their honest twins pass.

Run only behind walls (tier 2 or 3): a test that cannot have them is skipped. Every attack claims
to solve "double a number"; none may get a case right by other means than answering it.
"""

import os
from pathlib import Path

import pytest

from tests.slow_cases import slow
from workbench.grading import grade
from workbench.records import Case, Limits, Task

SECRET = "8c1fd2e0-the-trainer-knows-this"
CASES = tuple(Case((n,), 2 * n) for n in (3, 5, -4))
DOUBLE = Task(
    task_id="double",
    statement="write f(x): double of x",
    entry_point="f",
    entry_file="lib.py",
    files={},
    visible=CASES[:1],
    hidden=CASES[1:],
    reference={"lib.py": "def f(x):\n    return 2 * x\n"},
    limits=Limits(cpu_s=0.5, wall_s=20.0, memory_mb=256),
)

ATTACKS = {
    "sys.exit while loading": "import sys\nsys.exit(0)\n",
    "os._exit while loading": "import os\nos._exit(0)\n",
    "os._exit in the call": "import os\ndef f(x):\n    os._exit(0)\n",
    "SystemExit in the call": "def f(x):\n    raise SystemExit(0)\n",
    "return None": "def f(x):\n    return None\n",
    "an object equal to everything": """
class Equal:
    def __eq__(self, other): return True
    def __hash__(self): return 0
def f(x):
    return Equal()
""",
    "an int that says it is equal": """
class Int(int):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __hash__(self): return 0
def f(x):
    return Int(1)
""",
    "a patched comparison and encoder": """
import gc, json
class Equal(dict):
    def __eq__(self, other): return True
for thing in gc.get_objects():
    if type(thing) is dict and "dump_bytes" in thing:
        thing["dump_bytes"] = lambda value, flatten=False: b"true"
json.dumps = lambda *a, **k: '{"passed": true}'
def f(x):
    return Equal()
""",
    "expected values looked for in every frame": """
import sys
def f(x):
    frame, found = sys._getframe(), []
    while frame:
        for name, value in {**frame.f_globals, **frame.f_locals}.items():
            if "expect" in name or "want" in name:
                found.append(value)
        frame = frame.f_back
    return found[0] if found else None
""",
    "junk on every descriptor": """
import os
for number in range(256):
    try:
        os.write(number, b"v0\\nv0\\nv0\\n.\\n")
    except OSError:
        pass
def f(x):
    return 2 * x
""",
    "answers written by hand, then silence": """
import os
os.write(3, b"R" + b"v1\\nv1\\nv1\\n.\\n")
os._exit(0)
""",
    "an endless loop": "def f(x):\n    while True: pass\n",
    "an endless loop while loading": "while True: pass\n",
    "a sleeping thread that never ends": """
import threading, time
threading.Thread(target=time.sleep, args=(1000,)).start()
def f(x):
    return x
""",
    "memory without end": "def f(x):\n    a = []\n    while True: a.append(bytearray(1 << 20))\n",
    "memory at once while loading": "a = bytearray(1 << 40)\n",
    "forks without end": """
import os
def f(x):
    while True:
        os.fork()
""",
    "threads without end": """
import threading, time
def f(x):
    while True:
        threading.Thread(target=time.sleep, args=(100,)).start()
""",
    "a grandchild that holds the pipe": """
import os, time
if os.fork() == 0:
    os.setsid()
    time.sleep(1000)
def f(x):
    return None
""",
    "an answer that is too large": "def f(x):\n    return 'a' * (100 << 20)\n",
    "an answer that is too deep": """
def f(x):
    a = []
    for _ in range(100_000): a = [a]
    return a
""",
    "an answer that contains itself": "def f(x):\n    a = []\n    a.append(a)\n    return a\n",
    "output without end": "def f(x):\n    while True: print('a' * 10_000)\n",
    "files without end": """
def f(x):
    for n in range(10**9):
        open(str(n), "w").write("a" * 10_000)
""",
    "a source too deep to parse": "x = " + "(" * 20_000 + ")" * 20_000,
    "a source of operators": "x = " + "-" * 300_000 + "1",
    "recursion without end": """
import sys
sys.setrecursionlimit(10**9)
def f(x):
    return f(x)
""",
    "a crash of the interpreter": "import ctypes\nctypes.string_at(0)\n",
    "signals to everybody": """
import os, signal
for pid in (-1, 1, os.getppid()):
    try:
        os.kill(pid, signal.SIGKILL)
    except OSError:
        pass
def f(x):
    return None
""",
}

READERS = {
    "a file of the trainer": "def f(path):\n    return open(path).read()\n",
    "by another path": """
import os
def f(path):
    for start in ("/proc/1/root", "/proc/self/root", "/proc/self/cwd", "../../../..", "/box/../"):
        try:
            return open(start + path).read()
        except OSError:
            pass
""",
    "another process's environment": """
import os
def f(path):
    found = []
    for pid in os.listdir("/proc"):
        if pid.isdigit() and int(pid) != os.getpid():
            try:
                found.append(open(f"/proc/{pid}/environ").read())
            except OSError:
                pass
    return found or None
""",
}

TWINS = {
    "threads": """
import threading
def f(x):
    out = []
    threads = [threading.Thread(target=out.append, args=(x,)) for _ in range(2)]
    for t in threads: t.start()
    for t in threads: t.join()
    return sum(out)
""",
    "a thread pool": """
from concurrent.futures import ThreadPoolExecutor
def f(x):
    with ThreadPoolExecutor(4) as pool:
        return sum(pool.map(int, [x, x]))
""",
    "recursion to depth 900": """
def down(n, x):
    return x if n == 0 else down(n - 1, x)
def f(x):
    return 2 * down(900, x)
""",
    "tempfile": """
import tempfile
def f(x):
    with tempfile.TemporaryDirectory() as folder, tempfile.NamedTemporaryFile("w+") as file:
        file.write(str(x)); file.seek(0)
        return 2 * int(file.read())
""",
    "dataclasses": """
from dataclasses import dataclass, field
@dataclass(order=True)
class Point:
    x: int
    seen: list = field(default_factory=list)
def f(x):
    return Point(x).x * 2
""",
    "generators and comprehensions": """
def twice(x):
    yield from (x for _ in range(2))
def f(x):
    return sum(twice(x))
""",
    "deep copies": "import copy\ndef f(x):\n    return sum(copy.deepcopy([[x], [x]])[0] * 2)\n",
    "an int subclass": """
import enum
class E(enum.IntEnum):
    SIX, TEN, MINUS_EIGHT = 6, 10, -8
def f(x):
    return E(2 * x)
""",
    "printing and reading nothing": """
import sys
print("hello", file=sys.stderr)
def f(x):
    print("x" * 100_000)
    return 2 * x
""",
    "the standard library": """
import bisect, collections, datetime, decimal, fractions, functools, hashlib, heapq, io, itertools
import json, math, operator, random, re, statistics, string, textwrap, typing, uuid, zoneinfo
def f(x):
    random.seed(0); uuid.uuid4(); hashlib.sha256(b"a").digest()
    return int(fractions.Fraction(x) * decimal.Decimal(2).__int__())
""",
    "a large answer under the cap, of the right value": """
def f(x):
    text = "a" * 500_000
    return 2 * x + len(text) - 500_000
""",
    "its own signal handler": """
import signal, os
seen = []
signal.signal(signal.SIGUSR1, lambda *a: seen.append(1))
def f(x):
    return 2 * x
""",
    "asyncio": """
import asyncio
async def g(x):
    await asyncio.sleep(0)
    return 2 * x
def f(x):
    return asyncio.run(g(x))
""",
}


def passed(verdict):
    return [outcome.name for outcome in verdict.outcomes if outcome.status == "passed"]


TO_THE_LIMIT = {
    "an endless loop while loading",
    "memory without end",
    "recursion without end",
    "output without end",
    "an answer that is too large",
}
"""They use all the CPU time there is, as "an endless loop" does."""


@pytest.mark.parametrize("name", slow(TO_THE_LIMIT, ATTACKS))
def test_an_attack_passes_nothing_and_the_next_program_is_judged_rightly(strong, name):
    verdict = grade(DOUBLE, ATTACKS[name], strong)
    assert passed(verdict) == []
    assert len(verdict.outcomes) == len(CASES)
    assert verdict.status != "sandbox_error"
    honest = f"# after {name}\n" + DOUBLE.reference["lib.py"]
    assert len(passed(grade(DOUBLE, honest, strong))) == len(CASES)


@pytest.mark.parametrize("name", TWINS)
def test_an_honest_twin_passes(strong, name):
    verdict = grade(DOUBLE, TWINS[name], strong)
    assert len(passed(verdict)) == len(CASES), verdict


@pytest.mark.parametrize("name", READERS)
def test_what_belongs_to_the_trainer_cannot_be_read(strong, name, tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_TEST_SECRET", SECRET)
    secret = tmp_path / "secret.txt"
    secret.write_text(SECRET)
    secret.chmod(0o644)
    for folder in list(tmp_path.parents)[:-2]:  # the walls must hold, not the permissions
        folder.chmod(folder.stat().st_mode | 0o055)
    result = strong.call({"lib.py": READERS[name]}, "lib.py", "f", [(str(secret),)])
    assert SECRET not in repr(result)
    assert "WORKBENCH" not in repr(result)


@pytest.mark.parametrize("target", ["/tmp/{}", "/{}", "/dev/shm/{}", "/usr/lib/{}", "../{}"])
def test_nothing_is_written_outside_the_work_folder(strong, target):
    name = f"written-by-a-candidate-{os.getpid()}"
    program = "def f(path):\n    open(path, 'w').write('a')\n    return True\n"
    strong.call({"lib.py": program}, "lib.py", "f", [(target.format(name),)])
    for folder in ("/tmp", "/", "/dev/shm", "/usr/lib"):
        assert not (Path(folder) / name).exists()


def test_a_file_of_yours_keeps_its_permissions(strong, tmp_path):
    program = """
import os
def f(path):
    done = []
    for change in (lambda: os.chmod(path, 0o7), lambda: os.utime(path, (1, 1)),
                   lambda: os.setxattr(path, "user.a", b"1"), lambda: os.chown(path, 1, 1)):
        try:
            done.append(change())
        except OSError:
            pass
    return done
"""
    result = strong.call({"lib.py": program}, "lib.py", "f", [(str(tmp_path),)])
    assert result.results[0].value == []


@pytest.mark.slow
def test_nothing_stays_in_the_work_folder_for_the_next_program(strong):
    leave = """
import os
def f():
    open('left', 'w').write('a')
    os.mkdir('d', 0o300)
    os.mkdir('d/e', 0)
    for _ in range(3000):  # deeper than Python recurses, longer than a path may be
        os.mkdir('deep')
        os.chdir('deep')
"""
    strong.call({"lib.py": leave}, "lib.py", "f", [()])
    look = "import os\ndef f():\n    return sorted(os.listdir('.'))\n"
    for round_ in range(strong.workers * 2):  # and no server was lost: see the fixture
        result = strong.call({"lib.py": f"# {round_}\n{look}"}, "lib.py", "f", [()])
        assert result.results[0].value == ["lib.py"]


def test_what_a_run_does_to_its_folder_and_the_one_above_is_not_seen_by_the_next(strong):
    look = """
import os
def f():
    seen = [[oct(os.stat(p).st_mode), os.listxattr(p)] for p in (".", "..")]
    return seen + [os.path.exists("../left")]
"""
    mark = """
import os
def f():
    done = []
    for path in ("..", "."):
        for change in (lambda: os.setxattr(path, "user.a", b"1"), lambda: os.utime(path, (1, 1)),
                       lambda: open(path + "/left", "w").close(), lambda: os.chmod(path, 0)):
            try:
                done.append(change())
            except OSError:
                pass
    return len(done)
"""
    results = []
    for round_ in range(3):
        before = strong.call({"lib.py": f"# {round_}\n{look}"}, "lib.py", "f", [()]).results[0]
        marked = strong.call({"lib.py": f"# {round_}\n{mark}"}, "lib.py", "f", [()]).results[0]
        results.append(before.value)
        assert marked.value >= 1  # it may write in its own folder
    assert results[0][0] == ["0o40700", []] and not results[0][2]
    assert results == [results[0]] * 3


def test_the_program_before_is_not_in_the_memory_of_the_next(strong):
    searcher = """
import ctypes
KEEP = "needle-of-this-program" * 40
def f(before, this):
    libc = ctypes.CDLL(None)
    libc.sbrk.restype = ctypes.c_void_p
    end = libc.sbrk(0)
    start = end - 900_000
    if end - 2**28 < id(KEEP) < start:  # the heap is one piece: from the needle to its end
        start = id(KEEP)
    heap = ctypes.string_at(start, end - start)
    return [heap.count("".join(before).encode()), heap.count("".join(this).encode())]
"""
    before, this = ("needle-of", "-the-program-before"), ("needle-of", "-this-program")
    for round_ in range(4):
        program = f"# {round_} {''.join(before)}\ndef f():\n    return '{''.join(before)}'\n" * 20
        for _ in range(strong.workers):
            program += "#\n"
            strong.call({"lib.py": program}, "lib.py", "f", [()])
        text = f"# {round_}\n{searcher}"
        (case,) = strong.call({"lib.py": text}, "lib.py", "f", [(before, this)]).results
        assert case.status == "value", case
        assert case.value[1] > 0, "the search finds nothing, not even its own text"
        assert case.value[0] == 0
