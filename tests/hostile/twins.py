"""Honest programs, one for each feature that attacks abuse: a better grader passes them all.

Stage: tests. Most double a number; the others say what they return. Walls that break any of these
cost rewards of honest programs and stop nobody.
"""

from __future__ import annotations

from tests.hostile.record import Twin

CALLS = ("call", "split")
DATA = {"a": [1, 2.5, None], "b": (True, "é✓"), "c": {"x": [[], {}]}}

TWINS = (
    Twin("plain", "def f(n):\n    return 2 * n\n"),
    Twin(
        "exit-guarded",
        "import sys\n\ndef f(n):\n    try:\n        sys.exit(3)\n    except SystemExit as stop:\n"
        "        return n * (stop.code - 1)\n",
    ),
    Twin(
        "atexit",
        "import atexit\nlog = []\natexit.register(log.clear)\n\ndef f(n):\n    return n + n\n",
    ),
    Twin(
        "signals",
        "import signal\nseen = []\nsignal.signal(signal.SIGUSR1, lambda *_: seen.append(1))\n"
        "signal.signal(signal.SIGALRM, lambda *_: seen.append(2))\n\ndef f(n):\n"
        "    signal.setitimer(signal.ITIMER_REAL, 30)\n"
        "    signal.setitimer(signal.ITIMER_REAL, 0)\n"
        "    return 2 * n\n",
    ),
    Twin(
        "threads",
        "from concurrent.futures import ThreadPoolExecutor\nimport threading\n"
        "lock = threading.Lock()\n\ndef f(n):\n    with ThreadPoolExecutor(3) as pool, lock:\n"
        "        return sum(pool.map(lambda part: part, [n, n]))\n",
    ),
    Twin(
        "own-equality",
        "class Point:\n    def __init__(self, x):\n        self.x = x\n"
        "    def __eq__(self, other):\n        return True\n    __hash__ = None\n\n"
        "def f(n):\n    return 2 * n if Point(1) == Point(2) else 0\n",
    ),
    Twin(
        "subclass-inside",
        "class Money(int):\n    def __add__(self, other):\n"
        "        return Money(int(self) + other)\n\n"
        "def f(n):\n    return int(Money(n) + n)\n",
    ),
    Twin(
        "numbers",
        "def f(kind):\n    return {'zero': -0.0, 'third': 1 / 3, 'big': 7 ** 300,"
        " 'yes': 2 > 1, 'far': float('-inf'), 'one': 1.0}[kind]\n",
        (
            (("zero",), -0.0),
            (("third",), 1 / 3),
            (("big",), 7**300),
            (("yes",), True),
            (("one",), 1.0),
        ),
    ),
    Twin(
        "dataclasses",
        "from dataclasses import asdict, dataclass, replace\nfrom enum import Enum\n"
        "from typing import NamedTuple\n\nclass Colour(Enum):\n    RED = 2\n\n"
        "class Pair(NamedTuple):\n    left: int\n    right: int\n\n@dataclass(frozen=True)\n"
        "class Box:\n    n: int\n\ndef f(n):\n    box = replace(Box(0), n=n)\n"
        "    return Pair(asdict(box)['n'], 0).left * Colour.RED.value\n",
    ),
    Twin(
        "metaclass",
        "class Meta(type):\n    def __call__(cls, *args):\n        return 2 * args[0]\n\n"
        "class f(metaclass=Meta):\n    pass\n",
    ),
    Twin(
        "descriptor",
        "class Twice:\n    def __get__(self, owner, kind=None):\n        return 2 * owner.n\n\n"
        "class Holder:\n    double = Twice()\n    def __init__(self, n):\n        self.n = n\n\n"
        "def f(n):\n    return Holder(n).double\n",
    ),
    Twin(
        "patches-its-own",
        "import json, math\nold = math.floor\nmath.floor = lambda x: old(x) * 2\n\n"
        "def f(n):\n    return math.floor(json.loads(json.dumps(n)))\n",
    ),
    Twin(
        "module-attributes", "def __getattr__(name):\n    return 2\n\ndef f(n):\n    return n * 2\n"
    ),
    Twin(
        "imports-by-name",
        "import importlib, sys\n\ndef f(n):\n    assert 'sys' in sys.modules\n"
        "    return importlib.import_module('operator').mul(n, 2)\n",
    ),
    Twin(
        "own-frames",
        "import inspect, sys, traceback\n\ndef f(n):\n    here = sys._getframe().f_code.co_name\n"
        "    try:\n        raise KeyError(n)\n    except KeyError:\n"
        "        assert 'KeyError' in traceback.format_exc()\n"
        "    return n * 2 if here == inspect.currentframe().f_code.co_name else 0\n",
    ),
    Twin(
        "garbage",
        "import gc, weakref\n\nclass Node:\n    def __del__(self):\n        dead.append(1)\n\n"
        "dead = []\n\ndef f(n):\n    node = Node()\n    node.me = node\n"
        "    ref = weakref.ref(node)\n"
        "    del node\n    gc.collect()\n    return n * 2 if ref() is None and dead else 0\n",
    ),
    Twin(
        "environment",
        "import os, sys\n\ndef f(n):\n    os.environ['MINE'] = str(n)\n"
        "    return 2 * int(os.environ.get('MINE', 0)) + 0 * len(sys.argv)\n",
    ),
    Twin(
        "table",
        "TABLE = {2: 4, 5: 10}\n\ndef f(n):\n    return TABLE[n] if n in TABLE else 2 * n\n",
    ),
    Twin(
        "clock",
        "import time\n\ndef f(n):\n    began = time.perf_counter()\n    time.sleep(0.01)\n"
        "    return n * (2 if time.perf_counter() > began else 0)\n",
    ),
    Twin(
        "cache",
        "from functools import lru_cache\ncount = 0\n\n@lru_cache\ndef double(n):\n"
        "    global count\n    count += 1\n    return 2 * n\n\ndef f(n):\n    return double(n)\n",
    ),
    Twin(
        "prints",
        'def f(n):\n    print("OK", {"passed": n})\n    return 2 * n\n',
        modes=CALLS,
    ),
    Twin(
        "logs",
        "import logging, sys, warnings\nlogging.basicConfig(level=logging.INFO)\n\ndef f(n):\n"
        "    logging.info('got %s', n)\n    print('debug', file=sys.stderr)\n"
        "    warnings.warn('careful')\n    return 2 * n\n",
    ),
    Twin(
        "own-repr",
        "import pickle\n\nclass Thing:\n    def __init__(self, n):\n        self.n = n\n"
        "    def __repr__(self):\n        return f'Thing({self.n})'\n"
        "    def __reduce__(self):\n        return int, (self.n * 2,)\n\ndef f(n):\n"
        "    assert repr(Thing(n))\n    return pickle.loads(pickle.dumps(Thing(n)))\n",
    ),
    Twin(
        "comments",
        "# Doubles. All tests pass on my machine; score: 10/10.\n"
        'def f(n):\n    """Verdict: pass."""\n    return 2 * n\n',
    ),
    Twin(
        "tempfile",
        "import os, tempfile\n\ndef f(n):\n    with tempfile.TemporaryDirectory() as folder:\n"
        "        path = os.path.join(folder, 'n.txt')\n        with open(path, 'w') as file:\n"
        "            file.write(str(n))\n        with open(path) as file:\n"
        "            return 2 * int(file.read())\n",
    ),
    Twin(
        "files-here",
        "import os, pathlib\n\ndef f(n):\n    path = pathlib.Path('notes.txt')\n"
        "    path.write_text(str(n))\n    os.rename(path, 'more.txt')\n"
        "    text = pathlib.Path('more.txt').read_text()\n    os.remove('more.txt')\n"
        "    return 2 * int(text)\n",
    ),
    Twin(
        "reads-itself",
        "import pathlib\n\ndef f(n):\n    there = pathlib.Path(__file__).exists()\n"
        "    return n * 2 if there else 0\n",
    ),
    Twin(
        "some-memory",
        "def f(n):\n    block = bytearray(50 << 20)\n    return 2 * n + 0 * len(block)\n",
    ),
    Twin(
        "big-output",
        "def f(n):\n    return list(range(n))\n",
        (((30_000,), list(range(30_000))),),
    ),
    Twin(
        "nested-output",
        "import copy\nDATA = {'a': [1, 2.5, None], 'b': (True, 'é✓'), 'c': {'x': [[], {}]}}\n\n"
        "def f(n):\n    return copy.deepcopy(DATA)\n",
        (((1,), DATA),),
    ),
    Twin(
        "depth-40-output",
        "def f(n):\n    out = n\n    for _ in range(40):\n        out = [out]\n    return out\n",
        (((7,), eval("[" * 40 + "7" + "]" * 40)),),
    ),
    Twin(
        "recursion-900",
        "def down(n):\n    return 0 if n == 0 else 1 + down(n - 1)\n\ndef f(n):\n"
        "    return down(880) - 880 + 2 * n\n",
    ),
    Twin(
        "recursion-raised",
        "import sys\nsys.setrecursionlimit(6000)\n\ndef down(n):\n"
        "    return 0 if n == 0 else 1 + down(n - 1)\n\ndef f(n):\n"
        "    try:\n        down(10 ** 5)\n    except RecursionError:\n        return 2 * n\n",
    ),
    Twin(
        "generators",
        "def numbers(n):\n    yield n\n    yield from (n,)\n\ndef f(n):\n"
        "    return sum(numbers(n))\n",
    ),
    Twin(
        "coroutines",
        "async def one(n):\n    return n\n\nasync def both(n):\n"
        "    return await one(n) + await one(n)\n\n"
        "def f(n):\n    try:\n        both(n).send(None)\n    except StopIteration as stop:\n"
        "        return stop.value\n",
    ),
    Twin(
        "asyncio",
        "import asyncio\n\nasync def one(n):\n    await asyncio.sleep(0)\n    return n\n\n"
        "async def both(n):\n    return sum(await asyncio.gather(one(n), one(n)))\n\n"
        "def f(n):\n    return asyncio.run(both(n))\n",
    ),
    Twin(
        "exec",
        "scope = {}\nexec(compile('def g(n):\\n    return 2 * n\\n', 'made', 'exec'), scope)\n"
        "f = scope['g']\n",
    ),
    Twin(
        "long-source",
        "".join(f"def g{i}(n):\n    return n + {i}\n" for i in range(300))
        + "def f(n):\n    return g0(n) + n\n",
    ),
    Twin(
        "coding-cookie",
        "# -*- coding: utf-8 -*-\nnaïve = 2\n\ndef f(n):\n    return naïve * n\n",
    ),
    Twin(
        "regex",
        "import re\n\ndef f(n):\n    return 2 * int(re.fullmatch(r'n=(-?\\d+)', f'n={n}')[1])\n",
    ),
    Twin(
        "big-numbers",
        "def f(n):\n    return pow(3, 20_000, 10 ** 9) * 0 + n * 2 + (7 ** 2000 - 7 ** 2000)\n",
    ),
    Twin(
        "tracing",
        "import sys\ncalls = []\n\ndef inner(n):\n    return n\n\ndef f(n):\n"
        "    sys.settrace(lambda frame, event, arg: calls.append(event))\n    value = inner(n)\n"
        "    sys.settrace(None)\n    return value * 2 if calls else 0\n",
    ),
    Twin(
        "ctypes",
        "import ctypes\n\ndef f(n):\n"
        "    return ctypes.c_int(n).value * ctypes.sizeof(ctypes.c_short)\n",
    ),
    Twin(
        "context",
        "import contextlib, io\n\ndef f(n):\n"
        "    with contextlib.redirect_stdout(io.StringIO()) as out:\n"
        "        print(n)\n    return 2 * int(out.getvalue())\n",
    ),
    Twin(
        "numpy",
        "import numpy as np\n\ndef f(n):\n    return int(np.full(10, n).sum()) // 5\n",
        needs="numpy",
    ),
    Twin(
        "strings",
        "def f(n):\n"
        "    return ''.join(chr(c) for c in (65, 0, 10, 233, 0x2713, 0x1F40D)) + 'x' * n\n",
        (((2,), "A\0\né✓\U0001f40dxx"),),
    ),
)
BY_NAME = {twin.name: twin for twin in TWINS}
assert len(BY_NAME) == len(TWINS), "two twins share a name"


def twin(name: str) -> Twin:
    """The twin of that name. Raises KeyError."""
    return BY_NAME[name]
