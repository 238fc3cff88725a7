"""One attempt as HTML: what was said and answered, what changed, how it was judged and paid.

Stage: reading. In: a trajectory, its task, its `RewardBreakdown`; out: HTML in which nothing that
an attempt wrote is anything but text. Long texts are cut (`markup.MAX_CHARS`). Left out: tokens,
their log-probabilities, and credit a turn.
"""

from __future__ import annotations

from collections.abc import Sequence

from workbench.records import (
    UNSCORABLE,
    Evidence,
    Finding,
    RewardBreakdown,
    Task,
    TestOutcome,
    Trajectory,
    Turn,
    Verdict,
)
from workbench.widgets.comparison_html import part_words
from workbench.widgets.markup import MAX_CHARS, badge, block, table, text

SUITES = {
    "hidden": "hidden tests (the truth)",
    "visible_as_left": "visible tests as the attempt left them",
    "visible_pristine": "visible tests as they were given",
    "agent_on_base": "the attempt's own tests on the code as given",
    "exploit": "attacks on the program (passed = withstood)",
}
"""Suites in the order in which they are shown, in words."""
MAX_ROWS = 60
"""Tests, findings or paths that are listed; of more it says how many."""


def episode_html(trajectory: Trajectory, task: Task | None) -> str:
    """Everything but the reward: task, turns, change, verdict and evidence."""
    return (
        f"{heading_html(trajectory, task)}"
        f'<div class="wb-cols"><div>{turns_html(trajectory.turns)}</div>'
        f"<div>{change_html(trajectory)}{verdict_html(trajectory.verdict)}"
        f"{evidence_html(trajectory.evidence)}</div></div>"
    )


def heading_html(trajectory: Trajectory, task: Task | None) -> str:
    """Which task, and how the attempt ended."""
    status = trajectory.verdict.status
    ending = "handed in" if trajectory.stop_reason == "submitted" else "not handed in: "
    ending += "" if trajectory.stop_reason == "submitted" else trajectory.stop_reason
    return (
        f"<div><b>{text(trajectory.task_id)}</b> "
        f"{badge(_passed(trajectory.verdict.outcomes, 'hidden'))}{badge(ending)}"
        f"{badge(f'verdict: {status}', 'bad' * (status in UNSCORABLE))}"
        f"{badge('tests edited', 'bad') if trajectory.evidence.tampered else ''}</div>"
        f"{block(task.statement if task else '')}"
    )


def turns_html(turns: Sequence[Turn]) -> str:
    """Each command with its answer; what did not parse is marked in words."""
    return f"<h4>{len(turns)} turn{'s' * (len(turns) != 1)}</h4>" + "".join(
        _turn(number, turn) for number, turn in enumerate(turns, 1)
    )


def _turn(number: int, turn: Turn) -> str:
    agent = "" if turn.agent == "solver" else badge(turn.agent)
    bad = ""
    if turn.parse_error is not None:
        bad = badge(f"✗ not a command: {turn.parse_error}", "bad")
    if turn.action.finish != "end_of_turn":
        bad += badge(f"cut: {turn.action.finish}", "bad", "the message did not end by itself")
    said = f"<b>{text(turn.action.text)}</b>" if turn.action.text else "(nothing)"
    return (
        f'<div class="wb-turn"><span class="soft">{number}</span> {agent}{bad}'
        f'<code class="wb-said">{said}</code>{block(turn.observation)}</div>'
    )


def change_html(trajectory: Trajectory) -> str:
    """The diff from the task's files; the final files where no diff was collected."""
    diff = trajectory.evidence.diff
    if diff is None:
        files = "".join(
            f"<div>{text(path)}</div>{block(content)}"
            for path, content in trajectory.final_files.items()
        )
        return f"<h4>Final files (no diff was collected)</h4>{files or 'none'}"
    if not diff:
        return '<h4>Change</h4><div class="soft">nothing was changed</div>'
    lines = diff[:MAX_CHARS].rstrip("\n").split("\n")
    marks = {"+": "add", "-": "del"}
    body = "".join(
        f'<span class="{mark}">{text(one) or " "}</span>' if mark else text(one) + "\n"
        for one in lines
        for mark in [marks.get(one[:1], "") if one[:3] not in ("+++", "---") else ""]
    )
    left = len(diff) - MAX_CHARS
    cut = f"… {left:,} more characters" if left > 0 else ""
    return f'<h4>Change</h4><pre class="wb-pre">{body}{cut}</pre>'


def verdict_html(verdict: Verdict) -> str:
    """The verdict test by test, a table for each suite that was run."""
    suites = [suite for suite in SUITES if any(o.suite == suite for o in verdict.outcomes)]
    tables = "".join(
        f"<details{' open' if suite == 'hidden' else ''}><summary>{SUITES[suite]}: "
        f"{_passed(verdict.outcomes, suite, '')}</summary>"
        + _listed([_outcome(o) for o in verdict.outcomes if o.suite == suite])
        + "</details>"
        for suite in suites
    )
    where = f" by {text(verdict.sandbox)}" if verdict.sandbox else ""
    return (
        f"<h4>Verdict: {text(verdict.status)}</h4>"
        f'<div class="soft">mode {text(verdict.mode)}{where}</div>'
        + (tables or '<div class="soft">no test was run</div>')
    )


def _outcome(outcome: TestOutcome) -> list[str]:
    sign = "✓" if outcome.status == "passed" else "✗"
    return [f"{sign} {text(outcome.status)}", text(outcome.name), text(outcome.message, 400)]


def evidence_html(evidence: Evidence) -> str:
    """What the collectors saw: protected files, tripwires, findings, time."""
    rows = []
    for label, found in (
        ("protected files edited", evidence.tampered),
        ("tripwires", evidence.tripwires),
        ("files touched", evidence.files_touched),
    ):
        if found is not None:
            shown = ", ".join(text(one, 200) for one in found[:MAX_ROWS])
            more = f" and {len(found) - MAX_ROWS} more" if len(found) > MAX_ROWS else ""
            rows.append([label, shown + more or "none"])
    if evidence.cpu_s is not None:
        rows.append(["CPU time of the graded run", f"{1000 * evidence.cpu_s:.1f} ms"])
    for label, findings in (("security", evidence.security), ("lint", evidence.lint)):
        if findings is not None:
            new = sum(finding.new for finding in findings)
            words = f"{new} new, {len(findings) - new} there before" if findings else "none"
            rows.append([f"{label} findings", words + _findings(findings)])
    nothing = '<div class="soft">no collector ran</div>'
    return "<h4>Evidence</h4>" + (_listed(rows) if rows else nothing)


def _findings(findings: Sequence[Finding]) -> str:
    rows = [
        [
            badge("new" if f.new else "before", "bad" * f.new),
            text(f"{f.rule} {f.severity}", 60),
            text(f"{f.path}:{f.line}", 200),
            text(f.message, 400),
        ]
        for f in sorted(findings, key=lambda f: not f.new)
    ]
    return _listed(rows) if rows else ""


def reward_html(breakdown: RewardBreakdown) -> str:
    """The components of a reward, the rules that struck, and the total."""
    rows = [[text(part_words(part).partition(": ")[0]), text(part_words(part).partition(": ")[2])]
            for part in breakdown.parts]  # fmt: skip
    if breakdown.divisor != 1.0:
        rows.append(["divided by", f"{breakdown.divisor:g} (the weights that were judged)"])
    if breakdown.blocked:
        rows.append(["blocked by", text(", ".join(breakdown.blocked)) + ": the total is 0"])
    total = "none: it cannot be judged" if breakdown.total is None else f"{breakdown.total:.3f}"
    rows.append(["<b>reward</b>", f"<b>{total}</b>"])
    return table(("component", "value × weight"), rows, kind="wb-narrow")


def _listed(rows: Sequence[Sequence[str]]) -> str:
    """Rows of cells that are HTML already, without a head; the first MAX_ROWS of them."""
    body = "".join(
        "<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows[:MAX_ROWS]
    )
    more = f"<div>… {len(rows) - MAX_ROWS} more</div>" if len(rows) > MAX_ROWS else ""
    return f'<table class="wb-table wb-plain">{body}</table>{more}'


def _passed(outcomes: Sequence[TestOutcome], suite: str, words: str = "hidden tests: ") -> str:
    found = [o for o in outcomes if o.suite == suite]
    passed = sum(o.status == "passed" for o in found)
    return f"{words}{passed} of {len(found)} passed" if found else f"{words}not run"
