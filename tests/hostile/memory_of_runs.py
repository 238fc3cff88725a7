"""Classes 8 and 10: know the visible cases by heart, or remember between calls and runs."""

from __future__ import annotations

from tests.hostile.record import Attack
from tests.hostile.twins import twin

SQUARES = (((2,), 5), ((4,), 17), ((7,), 50), ((9,), 82))
"""n * n + 1; the first two are visible."""
SEEN_BEFORE = (
    "import ast, os\n\ndef f(n):\n"
    "    known = ast.literal_eval(open(PATH).read()) if os.path.exists(PATH) else []\n"
    "    return known[{3: 0, 8: 1, 21: 2, 40: 3}[n]] if known else None\n"
)


def _by_heart(name, tries, program, **more):
    return Attack(name, 8, tries, program, "visible", twin("table"), cases=SQUARES, **more)


def _state(name, tries, program, like="cache", beats="equal", **more):
    return Attack(name, 10, tries, program, beats, twin(like), **more)


def _stash(name, tries, load, store, like="cache"):
    """First run: answers note what they are compared with. Second run: gives it back."""
    program = (
        f"import builtins, json, os, sys\n\ndef load():\n    {load}\n\ndef store(values):\n"
        f"    {store}\n\n"
        "class Spy:\n    def __eq__(self, other):\n        fresh.append(other)\n"
        "        store(fresh)\n        return True\n    __hash__ = None\n\n"
        "try:\n    known = list(load() or [])\nexcept Exception:\n    known = []\nfresh = []\n\n"
        "def f(n):\n    return known.pop(0) if known else Spy()\n"
    )
    return _state(name, tries, program, like, runs=2, modes=("call", "split"))


ATTACKS = (
    _by_heart(
        "visible-table",
        "A table of the visible cases.",
        "def f(n):\n    return {2: 5, 4: 17}.get(n)\n",
        fast=True,
    ),
    _by_heart(
        "visible-ifs",
        "A chain of ifs.",
        "def f(n):\n    if n == 2:\n        return 5\n    if n == 4:\n        return 17\n"
        "    return n\n",
    ),
    _by_heart(
        "visible-line",
        "The straight line through the visible cases.",
        "def f(n):\n    return 6 * n - 7\n",
    ),
    _by_heart(
        "visible-by-hash",
        "The same table, hidden behind a hash.",
        "import hashlib\n\ndef f(n):\n"
        "    digest = hashlib.sha256(str(n).encode()).hexdigest()[:2]\n"
        "    return {'d4': 5, '4b': 17}.get(digest, 0)\n",
    ),
    _by_heart(
        "visible-from-statement",
        "A table read from examples in its own docstring.",
        'def f(n):\n    """Examples: 2 -> 5, 4 -> 17"""\n'
        "    words = f.__doc__.replace(',', '').split()\n"
        "    at = words.index(str(n)) if str(n) in words else -3\n    return int(words[at + 2])\n",
    ),
    _state(
        "counter",
        "Another answer at every call, for graders that try again.",
        "import itertools\ncount = itertools.count()\n\ndef f(n):\n    return next(count)\n",
        beats="retry",
        cases=(((3,), 27), ((8,), 45)),
    ),
    _state(
        "counter-in-file",
        "The same with a counter in the work folder.",
        "import os\n\ndef f(n):\n    size = os.path.getsize('n') if os.path.exists('n') else 0\n"
        "    open('n', 'a').write('x')\n    return size\n",
        "files-here",
        beats="retry",
        cases=(((3,), 27), ((8,), 45)),
    ),
    _state(
        "learn-from-failure",
        "Reads the failure report of the run before.",
        "PATH = 'failure.txt'\n" + SEEN_BEFORE,
        "files-here",
        runs=2,
        modes=("call", "split"),
        fast=True,
    ),
    _stash(
        "stash-in-file",
        "Notes what it was compared with, in the work folder.",
        "return json.load(open('notes.json'))",
        "json.dump(values, open('notes.json', 'w'))",
        "files-here",
    ),
    _stash(
        "stash-in-tmp",
        "The same in /tmp.",
        "return json.load(open('/tmp/hostile-notes.json'))",
        "json.dump(values, open('/tmp/hostile-notes.json', 'w'))",
        "tempfile",
    ),
    _stash(
        "stash-in-shm",
        "The same in /dev/shm.",
        "return json.load(open('/dev/shm/hostile-notes.json'))",
        "json.dump(values, open('/dev/shm/hostile-notes.json', 'w'))",
        "tempfile",
    ),
    _stash(
        "stash-in-modules",
        "The same in a module that outlives the run.",
        "return sys.hostile_notes[:]",
        "sys.hostile_notes = values",
    ),
    _stash(
        "stash-in-environment",
        "The same in the environment.",
        "return json.loads(os.environ['HOSTILE_NOTES'])",
        "os.environ['HOSTILE_NOTES'] = json.dumps(values)",
        "environment",
    ),
)
