"""Tens of thousands of graded executions, a tenth of them hostile: what is left, what gets slower?

    python benchmarks/soak.py [--executions 3000] [--every 5000] [--kind auto] [--workers 2]

Honest programs in modes "call" (eight of ten), "split" and "program", and the hostile ones of
tests/hostile in turn, all behind the sandbox's walls, and the script in a process namespace of its
own (it starts itself again under `unshare`, which Linux has): every process that is left over is
then seen. A row of the table is a look at the machine after so many executions, the sandbox idle:

    processes, descriptors   of the trainer and all below it; as many at the end as at the start
    folders, mounts          in the script's temporary folder; in the processes' namespaces
    trainer, servers         MiB of memory that is theirs alone
    ms                       median and 99th percentile of an honest execution since the row above

The last line compares the median time of honest executions in this sandbox with that in one just
opened, in turns, so that other work on the machine slows both. Ends with 1, saying what for, if
anything has leaked, a fault was counted, an honest program failed, or a hostile one passed or got a
status that would have it dropped.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

TOP = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TOP))  # the hostile programs are the tests'

from tests.hostile.programs import PROGRAMS, attack_task, twin_task  # noqa: E402
from tests.hostile.twins import twin  # noqa: E402
from workbench.grading import grade  # noqa: E402
from workbench.records import UNSCORABLE, Limits, Verdict  # noqa: E402
from workbench.sandbox import Sandbox, open_sandbox  # noqa: E402

MODES = ("call",) * 8 + ("split", "program")
HOSTILE_LIMITS = Limits(cpu_s=0.1, wall_s=0.5)
"""Short: many of them never end."""
MAY_GROW_MIB = 4
"""In the second half. In the first, buffers get as large as the largest request and answer, the
plans of 300 tests gather, and the allocator keeps what it once had."""
HEAD = "executions processes descriptors folders mounts trainer servers"
HEAD += "   call ms      split ms    program ms"


@dataclass(frozen=True)
class State:
    """What there is while the sandbox is idle."""

    processes: int
    """In this namespace: all are ours."""
    descriptors: int
    """Open in them."""
    folders: int
    """In the temporary folder, which is this script's own."""
    mounts: int
    """In the processes' mount namespaces, added up."""
    trainer_mib: float
    """Memory of this process that is in no file."""
    servers_mib: float
    """The same of all others."""


def look() -> State:
    """The state now."""
    memory, descriptors, mounts = {}, 0, 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            lines = (folder / "status").read_text().splitlines()
            descriptors += len(os.listdir(folder / "fd"))
            mounts += len((folder / "mounts").read_text().splitlines())
        except OSError:  # it has ended
            continue
        sizes = [int(line.split()[1]) for line in lines if line.startswith("RssAnon")]
        memory[int(folder.name)] = sum(sizes) / 1024
    trainer = memory.pop(os.getpid())
    found = 1 + len(memory), descriptors, len(os.listdir(tempfile.gettempdir())), mounts
    return State(*found, trainer, sum(memory.values()))


def settled() -> State:
    """The state once it stays: after a run each server makes its next fork."""
    last = look()
    for _ in range(100):
        time.sleep(0.1)
        now = look()
        if _counts(now) == _counts(last):
            break
        last = now
    return now


def _counts(state: State) -> tuple[int, ...]:
    return dataclasses.astuple(state)[:4]


class Soak:
    """The executions, and what came of them."""

    def __init__(self, sandbox: Sandbox):
        self.sandbox = sandbox
        self.times: dict[str, list[float]] = defaultdict(list)
        self.problems: list[str] = []

    def run(self, numbers: range) -> None:
        """The executions of these numbers, as many at a time as there are workers."""
        with ThreadPoolExecutor(self.sandbox.workers) as pool:
            for _ in pool.map(self._execute, numbers):
                pass

    def start_tests(self) -> None:
        """See to it that every worker has its server for tests, also after few executions."""
        with ThreadPoolExecutor(workers := self.sandbox.workers) as pool:
            list(pool.map(lambda n: honest(self.sandbox, "split", n), range(20 * workers)))

    def _execute(self, number: int) -> None:
        if number % 10 == 0:
            return self._attack(number // 10)
        mode = MODES[number // 10 % len(MODES)]
        seconds, verdict = honest(self.sandbox, mode, number)
        self.times[mode].append(seconds)
        if not passed(verdict):
            self.problems.append(f"an honest program got {verdict}")

    def _attack(self, number: int) -> None:
        attack = PROGRAMS[number % len(PROGRAMS)]
        mode = attack.modes[number // len(PROGRAMS) % len(attack.modes)]
        task, files = attack_task(attack, mode, f"{number:032x}")
        verdict = grade(replace(task, limits=HOSTILE_LIMITS), files, self.sandbox)
        if passed(verdict) or verdict.status in UNSCORABLE:
            self.problems.append(f"{attack.name} in mode {mode} got {verdict}")

    def row(self, executions: int, state: State) -> str:
        """A line of the table, about the executions since the last one."""
        counts = "{:10} {:9} {:11} {:7} {:6}".format(executions, *_counts(state))
        memory = f"{state.trainer_mib:7.1f} {state.servers_mib:7.1f}"
        times = [_times(self.times.pop(mode, [])) for mode in dict.fromkeys(MODES)]
        return " ".join([counts, memory, *times])


def _times(seconds: list[float]) -> str:
    if len(seconds) < 2:
        return f"{'-':>12}"
    median, last = statistics.median(seconds), statistics.quantiles(seconds, n=100)[98]
    return f"{1000 * median:5.1f} {1000 * last:6.1f}"


def honest(sandbox: Sandbox, mode: str, number: int) -> tuple[float, Verdict]:
    """Seconds and verdict of a right program whose text differs for each number."""
    task, files = twin_task(twin("plain"), mode)
    files = {"lib.py": f"# {number}\n{files['lib.py']}"}
    started = time.perf_counter()
    verdict = grade(task, files, sandbox)
    return time.perf_counter() - started, verdict


def passed(verdict: Verdict) -> bool:
    """Whether every test passed."""
    outcomes = verdict.outcomes
    return verdict.status == "ok" and bool(outcomes) and all(o.status == "passed" for o in outcomes)


def beside_a_new_one(old: Sandbox, kind: str, rounds: int = 300) -> float:
    """Median time of an honest execution in `old` over that in a sandbox opened now, in turns."""
    with open_sandbox(kind, old.workers, reuse=False) as new:
        times: dict[Sandbox, list[float]] = {old: [], new: []}
        for number in range(rounds):
            for sandbox, seconds in times.items():
                seconds.append(honest(sandbox, "call", number)[0])
    return statistics.median(times[old]) / statistics.median(times[new])


def what_leaked(before: State, middle: State, after: State) -> list[str]:
    """What has changed since the start, and what memory has been added since the middle."""
    found = [
        f"{field.name}: {old} before, {new} after"
        for field, old, new in zip(dataclasses.fields(State), _counts(before), _counts(after))
        if new != old
    ]
    for name in ("trainer_mib", "servers_mib"):
        old, new = getattr(middle, name), getattr(after, name)
        if new > old + MAY_GROW_MIB:
            found.append(f"{name}: {old:.1f} in the middle, {new:.1f} after")
    return found


def soak(executions: int, every: int, kind: str, workers: int) -> list[str]:
    """Run and print the table; what is wrong."""
    with open_sandbox(kind, workers, reuse=False) as sandbox:
        if sandbox.tier < 2:
            return [f"hostile programs run behind walls only, and here is {sandbox.name}"]
        run, done = Soak(sandbox), min(1000, executions // 3)
        run.run(range(done))
        run.start_tests()
        before = middle = settled()
        print(f"{sandbox.name}, {workers} workers\n{HEAD}\n{run.row(done, before)}", flush=True)
        while done < executions:
            until = min(done + every, executions)
            run.run(range(done, until))
            done, after = until, settled()
            middle = after if done <= executions / 2 else middle
            print(run.row(done, after), flush=True)
        stats = sandbox.stats
        ratio = beside_a_new_one(sandbox, kind)
    print(f"{stats}\ntime of a call over that in a new sandbox: {ratio:.2f}")
    problems = run.problems + what_leaked(before, middle, after)
    problems += [f"counted: {stats}"] if stats.faults or stats.restarts else []
    left = settled()
    if left.processes > 1 or left.folders:
        problems.append(f"after closing: {left}")
    return problems


def alone(arguments: list[str]) -> None:
    """Start this script again as the first process of a namespace."""
    command = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]
    command += [] if os.geteuid() == 0 else ["--map-root-user"]
    try:
        os.execvp(command[0], [*command, sys.executable, __file__, *arguments])
    except OSError as error:
        sys.exit(f"{command[0]} (package util-linux) is needed for a namespace of its own: {error}")


def main() -> None:
    """Parse the command line, run, and say what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--executions", type=int, default=3000)
    parser.add_argument("--every", type=int, default=5000, help="executions from row to row")
    parser.add_argument("--kind", default="auto", help="as for open_sandbox: auto, local:2, ...")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    if os.getpid() != 1:
        alone(sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o711)  # the runs' users may pass, as through any temporary folder
        tempfile.tempdir = folder
        problems = soak(**vars(options))
    if problems:
        sys.exit("\n".join(problems[:20]))


if __name__ == "__main__":
    main()
