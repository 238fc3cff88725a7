"""Class 9: right answers that come too late, with the clock or the alarm out of order."""

from __future__ import annotations

from tests.hostile.record import MODES, Attack
from tests.hostile.twins import twin

RIGHT = (((2,), 4),)
LATE = "    end = real() + 1.6\n    while real() < end:\n        sleep(0.05)\n    return 2 * n\n"
CLOCK = "import time\nreal, sleep = time.monotonic, time.sleep\n"


def _late(name, tries, program, like="clock", beats="alarm", modes=MODES, wall_s=1.0):
    return Attack(
        name, 9, tries, program, beats, twin(like), cases=RIGHT, modes=modes, wall_s=wall_s
    )


ATTACKS = (
    _late(
        "cancel-the-alarm",
        "Switches the timer off.",
        f"{CLOCK}import signal\n\ndef f(n):\n    signal.setitimer(signal.ITIMER_REAL, 0)\n{LATE}",
        like="signals",
    ),
    _late(
        "ignore-the-alarm",
        "Ignores the signals that end late runs.",
        f"{CLOCK}import signal\nfor number in (14, 24, 15, 2, 1, 26, 27):\n"
        f"    signal.signal(number, signal.SIG_IGN)\n\ndef f(n):\n{LATE}",
        like="signals",
    ),
    _late(
        "block-the-alarm",
        "Blocks every signal.",
        f"{CLOCK}import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())\n"
        f"\n"
        f"def f(n):\n{LATE}",
        like="signals",
        modes=("call",),
    ),
    _late(
        "swallow-the-timeout",
        "Catches the exception of the timeout and goes on.",
        f"{CLOCK}\ndef slow(n):\n{LATE}\ndef f(n):\n    while True:\n        try:\n"
        "            return slow(n)\n        except BaseException:\n            pass\n",
        modes=("call",),
    ),
    _late(
        "stop-the-clock",
        "Replaces the clocks by one that stands still.",
        f"{CLOCK}time.perf_counter = time.time = time.monotonic = time.process_time = lambda: 0.0\n"
        f"\ndef f(n):\n{LATE}",
        like="patches-its-own",
        beats="stopwatch",
    ),
    _late(
        "clock-runs-backwards",
        "A clock that runs backwards.",
        f"{CLOCK}import itertools\nback = itertools.count(0, -1)\n"
        f"time.perf_counter = lambda: next(back)\n\ndef f(n):\n{LATE}",
        like="patches-its-own",
        beats="stopwatch",
        modes=("call",),
    ),
    _late(
        "burn-cpu-with-raised-limits",
        "Raises its limits and burns twice the CPU seconds of its task.",
        "import resource, signal, time\nfor kind in range(16):\n    try:\n"
        "        hard = resource.getrlimit(kind)[1]\n"
        "        resource.setrlimit(kind, (hard, hard))\n"
        "    except (OSError, ValueError):\n        pass\n"
        "signal.signal(signal.SIGXCPU, signal.SIG_IGN)\n"
        "signal.signal(signal.SIGALRM, signal.SIG_IGN)\n\n"
        "def f(n):\n    end = time.process_time() + 2.2\n"
        "    while time.process_time() < end:\n        pass\n    return 2 * n\n",
        like="signals",
        modes=("call",),
        wall_s=20.0,
    ),
    _late(
        "burn-cpu-in-threads",
        "Burns CPU in a thread while the main thread sleeps.",
        "import hashlib, threading, time\nstop = []\n\ndef burn():\n    while not stop:\n"
        "        hashlib.sha256(b'x' * 3_000_000)\n\ndef f(n):\n"
        "    threads = [threading.Thread(target=burn) for _ in range(4)]\n"
        "    for thread in threads:\n        thread.start()\n    end = time.process_time() + 2.2\n"
        "    while time.process_time() < end:\n        time.sleep(0.02)\n    stop.append(1)\n"
        "    return 2 * n\n",
        like="threads",
        beats="equal",
        modes=("call",),
        wall_s=20.0,
    ),
)
