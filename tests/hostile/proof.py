"""Is the attack one? Each is shown to beat a naive grader, in an arena.

Stage: tests. In: an `Attack`. Out: whether it got what it wanted, and what was seen.
"""

from __future__ import annotations

import dataclasses
import secrets
from collections.abc import Sequence

from tests.hostile import arena
from tests.hostile.naive_children import READS_ANSWERS
from tests.hostile.record import Attack, cases_of

MEMORY_MB = 1500
"""What a naive grader and its children may use: twice as much as an attack must for its effect."""
HANG_S = 1.5
"""A naive grader that has not answered for so long, and runs nothing slow, waits for ever."""


@dataclasses.dataclass(frozen=True)
class Proof:
    """What one attack did to the naive grader it names."""

    won: bool
    """It passed, or left its effect."""
    passed: bool
    """The grader believed it."""
    effects: tuple[str, ...]
    """What happened to canaries and trainer."""
    output: str
    """What the grader printed."""


def against_naive(attacks: Sequence[Attack]) -> list[Proof]:
    """Run each attack against the naive grader that it names; only in an arena."""
    jobs = [_job(attack) for attack in attacks]
    return [_proof(attack, seen) for attack, seen in zip(attacks, arena.run_all(jobs, MEMORY_MB))]


def _job(attack: Attack) -> arena.Job:
    secret = secrets.token_hex(8)
    job = {
        "beats": attack.beats,
        "program": attack.program,
        "files": dict(attack.files),
        "cases": list(cases_of(attack.cases, secret)),
        "tolerance": attack.tolerance,
        "runs": attack.runs,
    }
    fast_start = [] if attack.beats == "pytested" else ["-S"]
    return arena.Job(
        [arena.PYTHON, *fast_start, f"{arena.PROJECT}/tests/hostile/naive.py"],
        stdin=repr(job),
        secret=secret,
        deadline_s=HANG_S if attack.effect == "hang:" else 90.0,
        settle_s=0.2 if attack.effect.startswith(("process", "file", "network", "socket")) else 0.0,
    )


def _proof(attack: Attack, seen: arena.Seen) -> Proof:
    reports = [report for report in seen.reports if isinstance(report, dict)]
    passed = any(report.get("passed") is True for report in reports)
    effects = list(seen.effects)
    last = next((report for report in reversed(reports) if "passed" in report), None)
    if last is None or any("junk" in report for report in reports):
        effects.append("fault: no report")
    elif last.get("error") and attack.beats in READS_ANSWERS:
        effects.append(f"fault: {last['error']}")
    effects += (last or {}).get("trainer", [])
    won = any(e.startswith(attack.effect) for e in effects) if attack.effect else passed
    return Proof(won, passed, tuple(effects), seen.output)
