"""The real grader as trainer inside an arena: every program, its twin, and a look around.

Stage: tests, inside the arena. In: {"backend", "mode", "names", "twins"} on standard input. Out: a
line of JSON on the report descriptor for each program, see `Row`. For a sandbox in containers it
starts an engine first, and sees containers' processes among the arena's. Left out: attribution when
something shows up late; what is left when the sandbox is closed is told in the last row.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import sys
import time
from collections.abc import Iterator
from typing import Any

from tests.hostile import canaries
from tests.hostile.programs import BY_NAME, attack_task, shared_task, twin_task
from tests.hostile.record import Attack
from tests.hostile.twins import twin
from workbench import grade, open_sandbox
from workbench.records import UNSCORABLE, Task, Verdict

REPORT_FD = 200
LATE_S = 2.0
"""A verdict may come so long after the wall-clock limit; clearing up counts."""
FIRST, LAST = "(an honest program)", "(after the sandbox is closed)"
"""Names of the first and the last row."""


@dataclasses.dataclass(frozen=True)
class Row:
    """What happened when one hostile program was graded."""

    name: str
    """The attack; FIRST and LAST frame them."""
    status: str
    """Status of the verdict."""
    passed: bool
    """A false pass."""
    effects: tuple[str, ...]
    """What happened to canaries and trainer."""
    twin: str
    """Why its honest twin failed right after it; empty if it did not."""
    sandbox: str
    """Backend and tier that ran it."""
    seconds: float
    """Wall-clock time of the verdict."""


def passed(verdict: Verdict) -> bool:
    """Would a training loop reward it?"""
    outcomes = verdict.outcomes
    return verdict.status == "ok" and bool(outcomes) and all(o.status == "passed" for o in outcomes)


class Watch:
    """The machine before the first program, when it has come to rest; compared after each."""

    def __init__(self, sandbox: Any) -> None:
        self.sandbox, self.restarts = sandbox, sandbox.stats.restarts
        earlier, self.before = None, canaries.look()
        while earlier is None or canaries.changes(earlier, self.before):
            time.sleep(0.3)
            earlier, self.before = self.before, canaries.look()
        self.trainer = canaries.trainer()

    def changes(self) -> list[str]:
        """What is different; what is being cleared up has two seconds for it."""
        latest, ended = time.monotonic() + LATE_S, []
        if (restarts := self.sandbox.stats.restarts) != self.restarts:
            ended = [f"server: {restarts - self.restarts} ended and had to be replaced"]
            self.restarts = restarts
        while True:
            now = canaries.look()
            found = canaries.changes(self.before, now)
            found += canaries.trainer_changes(self.trainer, canaries.trainer())
            if not found:
                return ended
            if time.monotonic() > latest:  # told once, not again after every later program
                self.before, self.trainer = now, canaries.trainer()
                return ended + found
            time.sleep(0.05)


def shared_passed(task: Task, files: dict[str, str], sandbox: Any) -> bool:
    """Do the tests, as the attack left them, all say that they passed?"""
    from workbench.grading import outcomes_as_left

    outcomes = outcomes_as_left(task, files, sandbox)
    return bool(outcomes) and all(o.status == "passed" for o in outcomes)


def attacked(attack: Attack, mode: str, sandbox: Any, watch: Watch, secret: str) -> Row:
    """Grade the attack as often as it wants, then look around."""
    began = time.monotonic()
    status, won, ran_in = "", False, ""
    effects = []
    task, files = attack_task(attack, mode, secret)
    started = len(task.visible + task.hidden) if mode == "program" else 1  # one for each text
    try:
        for _ in range(attack.runs):
            if mode == "shared":
                won = shared_passed(*shared_task(attack, secret), sandbox)
                status = "ok"
            else:
                verdict = grade(task, files, sandbox)
                status, won, ran_in = verdict.status, passed(verdict), verdict.sandbox
    except Exception as error:  # whatever it is, the attack brought the grader to it
        status = f"{type(error).__name__}: {str(error)[:200]}"
    seconds = time.monotonic() - began
    if status in UNSCORABLE or ":" in status:
        effects.append(f"fault: {status}")
    if seconds > attack.runs * started * attack.wall_s + LATE_S:
        effects.append(f"late: {seconds:.1f} s")
    effects += watch.changes()
    return Row(attack.name, status, won, tuple(effects), "", ran_in, seconds)


def graded(names: list[str], mode: str, sandbox: Any, secret: str) -> Iterator[Row]:
    """A row for each attack. Its twin is graded right after it, if it has not been yet or if the
    attack ended in any other way than by answering: then it might have left the grader broken."""
    watch, seen = Watch(sandbox), set()
    for name in names:
        row = attacked(BY_NAME[name], mode, sandbox, watch, secret)
        honest = BY_NAME[name].twin.name
        if mode != "shared" and (honest not in seen or row.status != "ok" or row.effects):
            seen.add(honest)
            row = dataclasses.replace(row, twin=twin_failure(honest, mode, sandbox))
        yield row


def twin_failure(name: str, mode: str, sandbox: Any) -> str:
    """Why the honest twin failed; empty if it passed or cannot be judged in this mode."""
    honest = twin(name)
    if mode not in honest.modes:
        return ""
    try:
        verdict = grade(*twin_task(honest, mode), sandbox)
    except Exception as error:
        return f"{name}: {type(error).__name__}: {error}"
    if passed(verdict):
        return ""
    said = next((o.message for o in verdict.outcomes if o.status != "passed"), "")
    if honest.needs and f"No module named '{honest.needs}'" in said:
        return ""
    return f"{name}: {verdict.status} {said[:200]}"


def report(row: Row) -> None:
    """One line on the report descriptor."""
    os.write(REPORT_FD, (json.dumps(dataclasses.asdict(row)) + "\n").encode())


@contextlib.contextmanager
def engine_for(backend: str) -> Iterator[None]:
    """A Docker engine in the arena, if the sandbox is one of containers."""
    if not backend.startswith("docker"):
        yield
        return
    from tests.docker_engine import start_engine

    engine = start_engine()
    if isinstance(engine, str):
        sys.exit(engine)
    os.environ["DOCKER_HOST"] = engine.address
    try:
        yield
    finally:
        engine.stop()


def left_over(first: canaries.Look, backend: str) -> list[str]:
    """What a closed sandbox has not taken with it; an engine has two seconds for a container."""
    latest = time.monotonic() + LATE_S
    while True:
        found = canaries.changes(first, canaries.look())
        found += left_in_engine() if backend.startswith("docker") else []
        if not found or time.monotonic() > latest:
            return found
        time.sleep(0.2)


def left_in_engine() -> list[str]:
    """Containers and volumes; there were none."""
    from workbench.sandbox.docker import engine

    with contextlib.closing(engine.connect()) as client:
        found = [f"container: {row['Names'][0]} left" for row in client.containers(all=True)]
        return found + [f"volume: {v['Name']} left" for v in client.volumes()["Volumes"] or ()]


def main() -> None:
    """Grade what is asked for, report row by row."""
    job = json.loads(sys.stdin.read())
    with engine_for(job["backend"]):
        first = canaries.look()
        grade_all(job)
        left = left_over(first, job["backend"])
        report(Row(LAST, "", False, tuple(left), "", "", 0.0))


def grade_all(job: dict) -> None:
    """A sandbox from opening to closing, and all programs in it."""
    mode, secret = job["mode"], os.environ["HOSTILE_SECRET"]
    with open_sandbox(job["backend"], workers=1, reuse=False) as sandbox:
        plain = twin_task(twin("plain"), "call" if mode == "shared" else mode)
        leaves = attack_task(BY_NAME["raise-system-exit"], "call", secret)
        for one in (plain, leaves, plain):  # what a sandbox makes at its first uses is its own
            verdict = grade(*one, sandbox)
        report(Row(FIRST, verdict.status, passed(verdict), (), "", verdict.sandbox, 0.0))
        if verdict.status not in UNSCORABLE:
            for row in graded(job["names"], mode, sandbox, secret):
                report(row)
            for name in job["twins"]:
                report(Row(f"twin {name}", "", False, (), twin_failure(name, mode, sandbox), "", 0))


if __name__ == "__main__":
    main()
