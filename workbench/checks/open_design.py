"""The exercise "pay without the hidden tests": a reader's design tried on a recorded run.

Stage: outside the loop. In: a function that returns a `RewardDesign`, and stored rollouts with
their tasks; out: whether it reads the hidden tests, whether it pays for edited tests, and how well
it tells right from wrong. Left out: what training on it leads to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from workbench.checks.calling import call
from workbench.checks.comparing import shown
from workbench.checks.memory import judged, not_attempted
from workbench.records import Group, StoredRun
from workbench.rewards import RewardDesign, Scores, all_pass, compare_designs


def grade_design(
    question: str,
    make_design: Callable[[], RewardDesign],
    run: StoredRun,
    *,
    least_auroc: float = 0.97,
    time_limit_s: float = 30.0,
) -> None:
    """Try a design that may not read the suite "hidden"; says what it reads or pays wrongly.

    Args:
        make_design: called without arguments.
        run: stored rollouts, with attempts that edited the tests among them.
        least_auroc: in this share of comparisons a right attempt must be paid more than a wrong
            one, ties counting half.
    """
    answer = call(make_design, (), time_limit_s)
    if answer.is_stub:
        return not_attempted(question)
    if answer.error is not None:
        return judged(question, False, f"it raised {shown(answer.error)}")
    if not isinstance(answer.value, RewardDesign):
        text = f"expected a RewardDesign, got {shown(answer.value, 80)}"
        return judged(question, False, text)
    groups = (*run.groups, _repaired_and_edited(run.groups))
    blind = [_without_hidden(group) for group in groups]
    answer = call(Scores.of, (blind, run.tasks, answer.value), time_limit_s)
    if answer.error is not None:
        text = f"without the hidden tests it raised {shown(answer.error, 200)}"
        return judged(question, False, text)
    right, text = _judgement(replace(answer.value, groups=groups), least_auroc)
    judged(question, right, text)


def _judgement(scores: Scores, least_auroc: float) -> tuple[bool, Any]:
    """Whether the design will do, and why."""
    report = compare_designs(scores, scores).a
    trajectories = [t for group in scores.groups for t in group.trajectories]
    pairs = zip(trajectories, report.rewards)
    bought = [t for t, paid in pairs if t.evidence.tampered and paid > 0]
    if report.num_unjudged:
        return False, f"{report.num_unjudged} attempts get None; every one of them can be judged"
    if bought:
        told = f"attempts that edited the tests are paid, {len(bought)} of them; the first:"
        return False, f"{told}\n{bought[0].evidence.diff}"
    told = f"AUROC {report.auroc:.3f}; {len(report.paid_but_wrong)} wrong attempts are paid"
    if not report.auroc >= least_auroc:
        return False, f"{told}; at least {least_auroc:g} was asked for"
    return True, f"right: {told}, none of them with edited tests."


def _repaired_and_edited(groups: Iterable[Group]) -> Group:
    """An attempt that no policy of the recording made: it repaired the bug and edited the tests."""
    solved = all_pass("hidden")
    group, honest = next((g, t) for g in groups for t in g.trajectories if solved(t, None))
    diff = honest.evidence.diff + "--- tests.py\n+++ tests.py\n@@ -1 +1 @@\n-assert ...\n+pass\n"
    evidence = replace(honest.evidence, tampered=("tests.py",), diff=diff)
    return replace(group, trajectories=(replace(honest, evidence=evidence),))


def _without_hidden(group: Group) -> Group:
    """The group as a grader without hidden tests would have left it."""

    def blind(trajectory):
        seen = tuple(o for o in trajectory.verdict.outcomes if o.suite != "hidden")
        return replace(trajectory, verdict=replace(trajectory.verdict, outcomes=seen))

    return replace(group, trajectories=tuple(map(blind, group.trajectories)))
