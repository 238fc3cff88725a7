"""Six rewards for the same attempts: what each pays the ten that tell them apart best.

Stage: rewards. In: the recorded run and two known solutions of the suite `secure`; out: a table.
Nothing is trained or sampled; the two solutions are graded once.
"""

from __future__ import annotations

import textwrap
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from workbench.audit import KINDS, kind_of, known_groups
from workbench.grading import collect
from workbench.records import Trajectory
from workbench.reproduce.claims import Order
from workbench.reproduce.report import about, base_hash, publish, table
from workbench.rewards import (
    RewardDesign,
    Scores,
    all_pass,
    compare_designs,
    mergeability,
    no_new_findings,
    pass_fraction,
    tampered,
    turn_penalty,
)
from workbench.rewards.rubrics import ITEMS
from workbench.rewards.rules import WeightedComponent
from workbench.runlog import load_run
from workbench.sandbox import open_sandbox
from workbench.tasks import load_tasks

RUN = "bugfix-before-after"
SOLVED = (all_pass("hidden"), 1.0)
DESIGNS = {
    "visible tests": RewardDesign(tests=(all_pass("visible_as_left"), 1.0)),
    "share of hidden": RewardDesign(tests=(pass_fraction("hidden"), 1.0)),
    "hidden tests": RewardDesign(tests=SOLVED),
    "with penalties": RewardDesign(
        tests=SOLVED, tampering=(tampered, -1.0), turns=(turn_penalty(4, 8), 0.5)
    ),
    "mergeability": mergeability(items={k: v for k, v in ITEMS.items() if k != "own_tests"}),
    "security gate": RewardDesign(
        tests=SOLVED, secure=(no_new_findings("security", "medium"), 0.0)
    ).gate("tests", needs="secure"),
}
"""Name -> what an attempt is paid. No policy here writes tests of its own, so nothing is asked of
them."""
SINGLE_TURN = DESIGNS | {"visible tests": RewardDesign(tests=(all_pass("visible_pristine"), 1.0))}
"""The same where there is no workspace whose tests could be edited."""
NUM_SHOWN, NUM_SECURE = 10, 2
AT_LEAST = 3
"""Attempts that are paid alike must be this many for one of them to be shown."""


def measure(order: Order) -> Path:
    """Score, choose, print the tables, return the JSON file's path."""
    head, run = about(order, base_hash(order)), load_run(RUN)
    scores = {name: Scores.of(run, None, design) for name, design in DESIGNS.items()}
    paid = np.stack([each.rewards() for each in scores.values()], axis=1)
    attempts = [
        (stored.stage, trajectory)
        for stored in run.iterations
        for group in stored.groups
        for trajectory in group.trajectories
    ]
    rows = [
        {"attempt": story(*attempts[row]), "alike": alike, "paid": paid[row].tolist()}
        for row, alike in instructive(paid, NUM_SHOWN - NUM_SECURE)
    ]
    formulas = {name: formula(design) for name, design in DESIGNS.items()}
    found = {"formulas": formulas, "designs": summary(scores), "attempts": rows + secure_rows()}
    return publish(order, head, found, told(found))


def instructive(paid: np.ndarray, num: int) -> list[tuple[int, int]]:
    """(row, how many are paid like it): the commonest, then always the one least like those chosen.

    Args:
        paid: (N, D) what D designs pay N attempts.
    """
    kinds, first, alike = np.unique(paid.round(6), axis=0, return_index=True, return_counts=True)
    kinds, first, alike = (each[alike >= AT_LEAST] for each in (kinds, first, alike))
    chosen = [int(np.argmax(alike))]
    while len(chosen) < min(num, len(kinds)):
        distance = np.abs(kinds[:, None] - kinds[chosen]).sum(axis=2).min(axis=1)
        chosen.append(int(np.argmax(distance)))
    return [(int(first[kind]), int(alike[kind])) for kind in chosen]


def story(stage: str, trajectory: Trajectory) -> str:
    """An attempt in a few words."""
    hidden = [outcome.status == "passed" for outcome in trajectory.verdict.of_suite("hidden")]
    words = [f"{stage}: {sum(hidden)} of {len(hidden)} hidden tests"]
    if trajectory.evidence.tampered:
        pass_now = all_pass("visible_as_left", submitted=False)(trajectory, None)
        words.append("edited the tests, " + ("which pass now" if pass_now else "which still fail"))
    ended = "handed in" if trajectory.stop_reason == "submitted" else "never handed in"
    return ", ".join((*words, f"{ended} after {len(trajectory.turns)} turns"))


def secure_rows() -> list[dict[str, Any]]:
    """A solution that works and can be attacked, and one that does nothing and cannot."""
    (task,) = [task for task in load_tasks("secure") if task.entry_point == "find_orders"]
    with open_sandbox("auto") as sandbox:
        (group,) = known_groups([task], sandbox)
        wanted = [next(t for t in group.trajectories if kind_of(t) == kind) for kind in KINDS[1::2]]
        group = replace(group, trajectories=tuple(wanted))
        (group,) = collect([group], [task], ("lint",), sandbox)
    return [
        {"attempt": f"secure: {kind_of(t)}", "alike": None}
        | {"paid": [design.score(t, task).total for design in SINGLE_TURN.values()]}
        for t in group.trajectories
    ]


def summary(scores: dict[str, Scores]) -> dict[str, dict[str, float]]:
    """Each design over the whole run, against the hidden tests."""
    found = {}
    for name, each in scores.items():
        report = compare_designs(each, each).a
        found[name] = {"mean": float(np.nanmean(report.rewards)), "dead_groups": report.dead_share}
        found[name] |= {"auroc": report.auroc, "paid_but_wrong": len(report.paid_but_wrong)}
    return found


def formula(design: RewardDesign) -> str:
    """A design as one line of arithmetic; what weighs nothing and decides nothing is left out.

    >>> formula(DESIGNS["with penalties"])
    "1 × all_pass('hidden') - 1 × tampered + 0.5 × turn_penalty(4, 8)"
    """
    called = {
        c.name: getattr(c.component, "__name__", None) or str(c.component)
        for c in design.components
    }

    def term(c: WeightedComponent) -> str:
        needs = " and ".join(f"{called[gate.needs]} ≥ {gate.at_least:g}" for gate in c.gates)
        return f"{abs(c.weight):g} × {called[c.name]}" + (f" if {needs}" if needs else "")

    weighing = [c for c in design.components if c.weight]
    text = "".join((" - " if c.weight < 0 else " + ") + term(c) for c in weighing)
    text = text.removeprefix(" + ").strip()
    text = f"({text}) / the sum of the weights" if design.is_normalised else text
    blockers = [c for c in design.components if c.blocks_below is not None]
    limits = " or ".join(f"{called[c.name]} < {c.blocks_below:g}" for c in blockers)
    return text + (f"; 0 where {limits}" if limits else "")


def whole(text: str) -> str:
    """The text with blanks inside a term that no line is broken at."""
    for sign in "×≥<":
        text = text.replace(f" {sign} ", f"\N{NO-BREAK SPACE}{sign}\N{NO-BREAK SPACE}")
    return text


def told(found: dict[str, Any]) -> str:
    """The designs in words, and two tables: the attempts, and the designs over the whole run."""
    width = max(map(len, found["formulas"]))
    formulas = [
        textwrap.fill(f"{name:<{width}}  {whole(text)}", 100, subsequent_indent=" " * (width + 2))
        for name, text in found["formulas"].items()
    ]
    attempts = [["attempt", "alike", *DESIGNS]]
    for row in found["attempts"]:
        alike = "" if row["alike"] is None else str(row["alike"])
        attempts.append([row["attempt"], alike, *(f"{paid:5.2f}" for paid in row["paid"])])
    designs = [["over the whole run", "mean", "dead groups", "AUROC", "paid but wrong"]]
    for name, row in found["designs"].items():
        dead = f"{100 * row['dead_groups']:.0f} %"
        numbers = (f"{row['mean']:.2f}", dead, f"{row['auroc']:.3f}", str(row["paid_but_wrong"]))
        designs.append([name, *numbers])
    return "\n\n".join(("\n".join(formulas), table(attempts), table(designs)))
