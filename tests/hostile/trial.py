"""The better grader on trial: a batch of hostile programs graded inside an arena.

Stage: tests. In: backend and tier, mode, programs. Out: `Trial`: false passes, effects on the
machine, honest programs that failed. `python -m tests.hostile` prints them as a table.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence

from tests.docker_engine import why_no_engine
from tests.hostile import arena
from tests.hostile.batch import FIRST, LAST, Row
from tests.hostile.programs import PROGRAMS
from tests.hostile.record import MODES, Attack
from tests.hostile.twins import TWINS

LOCAL, DOCKER = ("local:3", "local:2"), "docker:2"
BACKENDS = (*LOCAL, DOCKER)
"""Backend and tier. Tier 1 has no walls for files, network and signals: nothing hostile there."""


@dataclasses.dataclass(frozen=True)
class Trial:
    """What a batch of hostile programs achieved."""

    backend: str
    """The one that was asked for, e.g. "local:3"."""
    mode: str
    """"call", "split", "program", or "shared", which is forgeable by design."""
    skipped: str
    """Why nothing was run; empty if all was."""
    rows: tuple[Row, ...]
    """One for each program."""

    @property
    def false_passes(self) -> list[str]:
        """Names of the attacks that were rewarded."""
        return [row.name for row in self.rows if row.passed]

    @property
    def effects(self) -> list[str]:
        """Program and what it did to the machine or to the grader."""
        return [f"{row.name}: {effect}" for row in self.rows for effect in row.effects]

    @property
    def twins_failed(self) -> list[str]:
        """Honest programs that failed, and what was said of them."""
        return sorted({row.twin for row in self.rows if row.twin})


def hold(
    backend: str, mode: str, attacks: Sequence[Attack] = PROGRAMS, all_twins: bool = False
) -> Trial:
    """Grade every attack that makes sense in `mode`, each followed by its twin.

    Args:
        all_twins: grade also the honest programs that are the twin of none of these attacks.
    """
    in_containers = backend.startswith("docker")
    if in_containers and (why := why_no_engine()):
        return Trial(backend, mode, why, ())
    chosen = [attack for attack in attacks if mode in attack.modes or mode == "shared"]
    used = {attack.twin.name for attack in chosen}
    others = [twin.name for twin in TWINS if twin.name not in used] if all_twins else []
    names = [attack.name for attack in chosen]
    job = {"backend": backend, "mode": mode, "names": names, "twins": others}
    most_s = 60.0 + sum(attack.runs * (attack.wall_s + 4) for attack in chosen)
    seen = arena.run_all(
        [
            arena.Job(
                [arena.PYTHON, "-m", "tests.hostile.batch"],
                stdin=json.dumps(job),
                deadline_s=most_s,
                settle_s=0.3,
                peak_mb=1000,
            )
        ],
        engine=in_containers,
    )[0]
    rows = [
        Row(**{**report, "effects": tuple(report["effects"])})
        for report in seen.reports
        if isinstance(report, dict) and report.keys() == Row.__dataclass_fields__.keys()
    ]
    return _trial(backend, mode, names, rows, seen)


def _trial(backend: str, mode: str, names: list, rows: list[Row], seen: arena.Seen) -> Trial:
    if not rows or rows[0].name != FIRST:
        return Trial(backend, mode, f"the trainer did not start: {seen.output[-500:]}", ())
    first, *rows = rows
    if first.sandbox != backend:
        return Trial(backend, mode, f"this machine gives {first.sandbox} for {backend}", ())
    if first.status == "unscorable":
        return Trial(backend, mode, f"mode {mode} is not there yet", ())
    effects = list(seen.effects)
    if missing := sorted(set(names) - {row.name for row in rows}):
        effects.append(f"trainer: told nothing of {missing[:5]}: {seen.output[-300:]}")
    if not first.passed:
        effects.append(f"fault: an honest program gets {first.status}")
    rows.append(Row(LAST, "", False, tuple(effects), "", "", 0.0))
    return Trial(backend, mode, "", tuple(rows))


def report(backends: Sequence[str] = BACKENDS, attacks: Sequence[Attack] = PROGRAMS) -> str:
    """The table: backend and mode by programs, false passes, effects, honest programs failed."""
    lines = [
        "| backend | mode | programs | false passes | effects | honest failed |",
        "|---|---|---|---|---|---|",
    ]
    details = []
    for backend in backends:
        for mode in (*MODES, "shared"):
            trial = hold(backend, mode, attacks, all_twins=True)
            if trial.skipped:
                lines.append(f"| {backend} | {mode} | {trial.skipped} | | | |")
                continue
            graded = sum(1 for row in trial.rows if row.status)
            counts = (graded, *map(len, (trial.false_passes, trial.effects, trial.twins_failed)))
            lines.append(f"| {backend} | {mode} | " + " | ".join(map(str, counts)) + " |")
            passes = "residue" if mode == "shared" else "false pass"
            details += [f"{backend} {mode} {passes}: {name}" for name in trial.false_passes]
            details += [f"{backend} {mode} effect: {line}" for line in trial.effects]
            details += [f"{backend} {mode} honest failed: {line}" for line in trial.twins_failed]
    return "\n".join([*lines, "", *details])
