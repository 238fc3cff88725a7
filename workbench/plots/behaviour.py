"""What the agent does: shares of each command by turn, and two episodes side by side.

Stage: reading. In: groups or trajectories; out: a figure. Nothing is sampled or executed.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Collection, Sequence

from matplotlib.figure import Figure

from workbench.plots import style
from workbench.records import UNSCORABLE, Group, Trajectory, Turn

COMMANDS = {
    "ls": "#DEEBF7",
    "grep": "#9ECAE1",
    "cat": "#4292C6",
    "run": style.ORANGE,
    "edit": style.GREEN,
    "insert": "#A1D99B",
    "edit tests": style.PURPLE,
    "submit": "#555555",
    "malformed": style.VERMILLION,
}
"""Kinds of message in the order they are stacked, each with its colour."""
LIGHT_TEXT = {"cat", "edit", "submit", "malformed"}
"""Kinds whose colour is dark: what is written on it is white."""
COLUMN_CHARS = 66
"""Width of an episode's column of text."""
OBSERVATION_LINES = 7
"""Lines of an observation that are shown."""


def kind_of(turn: Turn, tests_file: str = "tests.py") -> str:
    """Which of COMMANDS a turn is; an edit of the tests counts apart from other edits."""
    if turn.tool_call is None:
        return "malformed"
    if turn.tool_call.name == "edit" and turn.tool_call.argument.startswith(tests_file):
        return "edit tests"
    return turn.tool_call.name


def shares_by_turn(groups: Sequence[Group], num_turns: int = 8) -> list[dict[str, float]]:
    """For each turn, the share of all episodes that did each kind of thing.

    An episode that is over by then counts as nothing, so a turn's shares sum to at most 1. Raises
    ValueError without episodes.
    """
    episodes = [trajectory for group in groups for trajectory in group.trajectories]
    if not episodes:
        raise ValueError("expected at least one trajectory, got none")
    counts = [Counter() for _ in range(num_turns)]
    for episode in episodes:
        for counter, turn in zip(counts, episode.turns, strict=False):
            counter[kind_of(turn)] += 1
    return [{kind: n / len(episodes) for kind, n in counter.items()} for counter in counts]


def what_follows(command: str, groups: Sequence[Group]) -> dict[str, float]:
    """Of the turns right after `command`, the share of each kind; most frequent first."""
    counts = Counter()
    for trajectory in (t for group in groups for t in group.trajectories):
        kinds = [kind_of(turn) for turn in trajectory.turns]
        pairs = zip(kinds, kinds[1:], strict=False)
        counts.update(following for kind, following in pairs if kind == command)
    return {kind: n / counts.total() for kind, n in counts.most_common()}


def instructive_pair(
    before: Sequence[Group], after: Sequence[Group]
) -> tuple[Trajectory, Trajectory]:
    """Two first attempts at one task: failed before, solved after, with an edit and a test run.

    The first task for which that holds, else as much of it as any task offers. Such a pair is an
    illustration, never evidence. Raises ValueError if no task is in both.
    """
    earlier = {group.task_id: group.trajectories[0] for group in before}
    pairs = [
        (earlier[group.task_id], group.trajectories[0])
        for group in after
        if group.task_id in earlier
    ]
    if not pairs:
        raise ValueError("expected groups of the same tasks before and after, got none in common")

    def worth(pair: tuple[Trajectory, Trajectory]) -> int:
        kinds = {kind_of(turn) for turn in pair[1].turns}
        changed = verdict_words(pair[1])[0] - verdict_words(pair[0])[0]
        return 4 * changed + 2 * ({"edit", "run"} <= kinds) + (len(pair[0].turns) >= 3)

    return max(pairs, key=worth)


def actions_by_turn(
    before: Sequence[Group],
    after: Sequence[Group] | None = None,
    *,
    labels: tuple[str, ...] = ("before", "after"),
    num_turns: int = 8,
) -> Figure:
    """Panels of stacked bars: what the agent does in each turn, before and after training.

    Args:
        before, after: groups of any size; every trajectory counts once. Without `after` there is
            one panel.
        labels: the panels' titles.
        num_turns: turns shown.
    Returns:
        A figure; the white part of a bar is episodes that are already over.
    """
    figure = style.new_figure(3.7)
    shown = [before] if after is None else [before, after]
    panels = figure.subplots(1, len(shown), sharey=True, squeeze=False)[0]
    drawn = {}
    for axes, groups, label in zip(panels, shown, labels, strict=False):
        shares = shares_by_turn(groups, num_turns)
        turns = range(1, num_turns + 1)
        base = [0.0] * num_turns
        for kind, colour in COMMANDS.items():
            heights = [share.get(kind, 0.0) for share in shares]
            if not any(heights):
                continue
            bars = axes.bar(turns, heights, 0.9, base, color=colour, edgecolor="white", lw=0.6)
            drawn.setdefault(kind, bars)
            _name_the_tall(axes, kind, turns, heights, base)
            base = [b + h for b, h in zip(base, heights, strict=True)]
        style.tidy(axes, title=label, x="turn", y="share of episodes" if groups is before else "")
        style.percent(axes)
        axes.set_xticks(turns)
    order = [kind for kind in reversed(COMMANDS) if kind in drawn]
    figure.legend([drawn[kind] for kind in order], order, loc="outside right center", frameon=False)
    return figure


def _name_the_tall(axes, kind, turns, heights, base) -> None:
    """Write the command into each segment that has room for it: colour is never the only sign."""
    word = {"malformed": "bad", "edit tests": "tests"}.get(kind, kind)
    for turn, height, bottom in zip(turns, heights, base, strict=True):
        if height >= 0.08:
            colour = "white" if kind in LIGHT_TEXT else style.INK
            middle = bottom + height / 2
            axes.text(turn, middle, word, ha="center", va="center", fontsize=7, color=colour)


def episode_side_by_side(
    before: Trajectory,
    after: Trajectory,
    *,
    labels: tuple[str, str] = ("before", "after"),
    statement: str = "",
) -> Figure:
    """One task, two episodes as columns of text: commands, answers, change made, verdict.

    Raises:
        ValueError: if the episodes are attempts at different tasks.
    """
    if before.task_id != after.task_id:
        raise ValueError(
            f"expected two episodes of one task, got {before.task_id!r} and {after.task_id!r}"
        )
    columns = [
        _column(trajectory, label, statement)
        for trajectory, label in zip((before, after), labels, strict=True)
    ]
    return _drawn(columns)


def episode(trajectory: Trajectory, *, label: str = "", statement: str = "") -> Figure:
    """One episode as a column of text: commands, answers, change made, verdict."""
    return _drawn([_column(trajectory, label or trajectory.task_id, statement)])


def _drawn(columns: Sequence[list[tuple[str, dict]]]) -> Figure:
    num_lines = max(len(column) for column in columns)
    figure = style.new_figure(0.155 * num_lines + 0.15)
    panels = figure.subplots(1, len(columns), squeeze=False)[0]
    for axes, column in zip(panels, columns, strict=True):
        axes.set_axis_off()
        axes.set(xlim=(0, 1), ylim=(num_lines, -0.2))
        for row, (text, look) in enumerate(column):
            axes.text(0, row, text, va="top", fontfamily="monospace", **look)
    return figure


_PLAIN = {"fontsize": 8, "color": style.GREY}
_COMMAND = {"fontsize": 8, "color": style.INK, "fontweight": "bold"}
_REMOVED = {"fontsize": 8, "color": style.VERMILLION}
_ADDED = {"fontsize": 8, "color": style.BLUE}
_TITLE = {"fontsize": 10, "color": style.INK, "fontweight": "bold"}


def _column(trajectory: Trajectory, label: str, statement: str) -> list[tuple[str, dict]]:
    """(text, how it looks) for each line of one episode."""
    lines = [(label, _TITLE), ("", _PLAIN)]
    if statement:
        lines += [(f"task: {statement}", _PLAIN)]
    edits = [t.tool_call.argument for t in trajectory.turns if kind_of(t).startswith("edit")]
    edited = {edit.split("|")[0].split(" ")[-1] for edit in edits}  # line numbers
    for turn in trajectory.turns:
        shown = printable(turn.action.text).replace("\n", "⏎") or "(nothing)"
        mark = ">" if turn.tool_call else "?"
        lines += [(line, _COMMAND) for line in _wrap(f"{mark} {shown}")]
        lines += [(line, _PLAIN) for text in _answer(turn, edited) for line in _wrap(text)]
    good, words = verdict_words(trajectory)
    colour = style.BLUE if good else style.VERMILLION
    lines += [("", _PLAIN), (words, {**_COMMAND, "color": colour})]
    return lines + _diff_lines(trajectory)


def _answer(turn: Turn, edited: Collection[str]) -> list[str]:
    """The lines of an observation that are shown: the first, or those around an edited one."""
    answer = printable(turn.observation).split("\n") if turn.observation else []
    if len(answer) <= OBSERVATION_LINES:
        return answer
    places = [i for i, line in enumerate(answer) if line.split("|")[0] in edited] or [0]
    start = min(max(0, places[-1] - OBSERVATION_LINES // 2), len(answer) - OBSERVATION_LINES)
    stop = start + OBSERVATION_LINES
    start -= start == 1  # the line itself takes no more room than a word about it
    stop += stop == len(answer) - 1
    above = [f"  … {start} lines"] if start else []
    below = [f"  … {len(answer) - stop} more lines"] if stop < len(answer) else []
    return [*above, *answer[start:stop], *below]


def printable(text: str) -> str:
    """Text with a dot for each character that the fonts may lack: sampled bytes can be anything."""
    return "".join(c if c == "\n" or (c.isascii() and c.isprintable()) else "·" for c in text)


def _wrap(text: str) -> list[str]:
    return textwrap.wrap(
        text, COLUMN_CHARS, subsequent_indent="    ", drop_whitespace=False, tabsize=4
    ) or [""]


def _diff_lines(trajectory: Trajectory) -> list[tuple[str, dict]]:
    """The lines the episode took away and put in, without the diff's context."""
    lines = []
    for line in printable(trajectory.evidence.diff or "").split("\n"):
        if line.startswith("+++ "):
            lines.append((f"changed in {line[4:].removeprefix('b/').strip()}:", _PLAIN))
        elif line[:1] in "+-" and line[:3] != "---":
            look = _ADDED if line.startswith("+") else _REMOVED
            lines += [(part, look) for part in _wrap(line)]
    return lines or [("nothing changed", _PLAIN)]


def verdict_words(trajectory: Trajectory) -> tuple[bool, str]:
    """(solved, one line for people): hidden tests passed and how the episode ended."""
    outcomes = [o for o in trajectory.verdict.outcomes if o.suite == "hidden"]
    passed = sum(outcome.status == "passed" for outcome in outcomes)
    handed_in = trajectory.stop_reason == "submitted"
    solved = handed_in and bool(outcomes) and passed == len(outcomes)
    ending = "submitted" if handed_in else f"never submitted ({trajectory.stop_reason})"
    judged = trajectory.verdict.status not in UNSCORABLE
    mark = "SOLVED" if solved else "NOT SOLVED" if judged else "NOT JUDGED"
    return solved, f"{mark}: hidden tests {passed} of {len(outcomes)}, {ending}"
