"""Class 21: calls that never end, asleep, busy, or busy in C where no signal is heard."""

from __future__ import annotations

from tests.hostile.record import MODES, Attack
from tests.hostile.twins import twin

CALLS = ("call", "split")


def _endless(name, tries, body, like="clock", modes=("call",), beats="equal", **more):
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    program = f"import itertools, os, re, signal, sys, threading, time\n\ndef f(n):\n{lines}"
    more = {"wall_s": 1.0} | more
    return Attack(name, 21, tries, program, beats, twin(like), "hang:", modes=modes, **more)


ATTACKS = (
    _endless("endless-loop", "Loops.", "while True:\n    pass", "plain", MODES),
    _endless("sleep", "Sleeps.", "time.sleep(600)", modes=MODES),
    _endless(
        "sleep-deaf",
        "Sleeps and ignores every signal it can.",
        "for number in signal.valid_signals():\n    try:\n"
        "        signal.signal(number, signal.SIG_IGN)\n    except (OSError, ValueError):\n"
        "        pass\nwhile True:\n    time.sleep(600)",
        "signals",
    ),
    _endless(
        "loop-catches-all",
        "Loops and catches every exception that might end it.",
        "while True:\n    try:\n        while True:\n            pass\n"
        "    except BaseException:\n        continue\n    finally:\n        continue",
        "exit-guarded",
    ),
    _endless(
        "regex",
        "A regular expression that backtracks without end, in C.",
        "return re.match(r'(a+)+$', 'a' * 60 + 'b')",
        "regex",
        CALLS,
    ),
    _endless(
        "power",
        "A power that holds the interpreter's lock in C.",
        "return 3 ** (3 ** 20) % 7",
        "big-numbers",
        CALLS,
    ),
    _endless("endless-sum", "A sum without end in C.", "return sum(itertools.repeat(1))"),
    _endless(
        "recursion-doubled",
        "Catches its own RecursionError and tries twice at every level.",
        "def down():\n    try:\n        down()\n    finally:\n        down()\nreturn down()",
        "recursion-900",
    ),
    _endless(
        "finaliser-revives",
        "A finaliser that makes its own successor.",
        "class Phoenix:\n    def __del__(self):\n        while True:\n            pass\nPhoenix()",
        "garbage",
    ),
    _endless(
        "deadlock",
        "Waits for a lock it holds.",
        "lock = threading.Lock()\nlock.acquire()\nlock.acquire()",
        "threads",
    ),
    _endless(
        "read-input",
        "Waits for an input that never comes.",
        "reader, writer = os.pipe()\nos.read(reader, 1)",
        "context",
    ),
    _endless(
        "exit-hangs",
        "Leaves, but its exit handler never ends.",
        "import atexit\natexit.register(time.sleep, 600)\nsys.exit(0)",
        "atexit",
        beats="exit_code",
    ),
)
