"""Credit as still figures: values over turns with their errors, a table of schemes, a packed row.

Stage: reading. In: groups with values, columns of credit, packed rows; out: figures. Colours are
centred at zero, and every number is written as well.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from workbench.credit.turns import checked_rewards
from workbench.credit.values import values_before_turns
from workbench.plots import style
from workbench.plots.behaviour import printable, verdict_words
from workbench.plots.crediting import CreditColumn, signed, solved_rewards
from workbench.plots.packing import KINDS, PackedRow
from workbench.records import Group, TurnValue
from workbench.stats import wilson

DIVERGING = LinearSegmentedColormap.from_list("credit", [style.VERMILLION, "#FFFFFF", style.BLUE])
"""Minus, zero, plus."""
LOOKS = (
    (style.INK, "-", "o"), (style.BLUE, "--", "s"), (style.ORANGE, ":", "^"),
    (style.GREEN, "-.", "D"),
)  # fmt: skip
"""(colour, line, marker) of the first, second, ... source of values."""
MAX_ROWS = 40
"""Turns of a still table; a longer attempt is cut around the chosen turn."""
MESSAGE_CHARS = 34
"""Longest message in a table."""
MESSAGES_IN, COLUMN_IN, HEADING_CHARS = 2.6, 0.85, 12
"""Widths in inches of a table's messages and of its narrowest column, which has room for so many
characters of a heading."""

Values = Group | Sequence[np.ndarray]
"""Where values come from: a group with `turn_values`, or (K,) arrays, a number before each turn."""


def value_over_turns(
    group: Group,
    sources: Mapping[str, Values] | None = None,
    *,
    trajectories: Sequence[int] | None = None,
    rewards: Sequence[float] | None = None,
) -> Figure:
    """What is to be expected before each turn, attempt by attempt, with 95 % intervals.

    Where all re-rolls earned 0, or all 1, they have no spread: the interval is Wilson's of a share.

    Args:
        group: whose attempts.
        sources: name -> the values, such as {"exact": group, "re-rolls": other, "critic": arrays};
            None = the group's own. At most as many as LOOKS.
        trajectories: which attempts, a panel each; None = the first three.
        rewards: (G,) what the attempts earned, the last point; None = solved by the hidden tests.
    Raises:
        ValueError: without values or attempts, for too many sources, or arrays of other shapes.
    """
    sources = {"value": group} if sources is None else dict(sources)
    if not 1 <= len(sources) <= len(LOOKS):
        raise ValueError(f"sources: expected 1 to {len(LOOKS)} of them, got {len(sources)}")
    shown = list(range(min(3, len(group.trajectories)))) if trajectories is None else trajectories
    if not shown or not set(shown) <= set(range(len(group.trajectories))):
        raise ValueError(
            f"trajectories: expected some of 0 to {len(group.trajectories) - 1}, got {list(shown)}"
        )
    earned = solved_rewards(group) if rewards is None else checked_rewards(group, rewards)
    known = {name: _values_and_bars(group, name, values) for name, values in sources.items()}
    figure = style.new_figure(2.9)
    panels = figure.subplots(1, len(shown), sharey=True, squeeze=False)[0]
    for axes, i in zip(panels, shown):
        for look, (name, (values, bars)) in zip(LOOKS, known.items()):
            _draw_values(axes, values[i], bars[i], name, look)
        turns = group.trajectories[i].turns
        axes.plot(len(turns) + 1, earned[i], marker="*", ms=12, color=style.VERMILLION, ls="")
        axes.set_xticks(range(1, len(turns) + 2), [*_short(turns), "end"], rotation=60,
                        ha="right", fontsize=7)  # fmt: skip
        style.tidy(axes, title=f"attempt {i}", y="expected reward" if axes is panels[0] else "")
        axes.grid(axis="y", color=style.PALE)
    if len(sources) > 1:
        panels[0].legend(frameon=False, fontsize=8)
    figure.supxlabel("before this turn; ★ what the attempt earned", fontsize=8, color=style.INK)
    return figure


def credit_table(
    group: Group, columns: Sequence[CreditColumn], attempt: int, turn: int = 0
) -> Figure:
    """One attempt's turns as rows and schemes as columns, numbers on colours centred at zero.

    Args:
        columns: from `plots.crediting.credit_columns`, each with its own scale.
        turn: the one that is marked; a long attempt is shown around it.
    """
    turns = group.trajectories[attempt].turns
    first = max(0, min(turn - MAX_ROWS // 2, len(turns) - MAX_ROWS))
    rows = list(range(first, min(first + MAX_ROWS, len(turns))))
    heat = np.array([[c.credit[attempt][k] / c.scale for c in columns] for k in rows])
    width_in = max(style.WIDTH_IN, MESSAGES_IN + COLUMN_IN * len(columns))
    figure = style.new_figure(1.1 + 0.24 * len(rows), width_in)
    axes = figure.subplots()
    axes.imshow(np.ma.masked_invalid(heat), cmap=DIVERGING, vmin=-1.3, vmax=1.3, aspect="auto")
    for y, k in enumerate(rows):
        for x, column in enumerate(columns):
            words = signed(float(column.credit[attempt][k]), column.scale)
            if column.errors is not None and column.errors[attempt][k] > 0:
                words += f" ±{signed(float(column.errors[attempt][k]), column.scale).lstrip('+')}"
            axes.text(x, y, words, ha="center", va="center", fontsize=8, color=style.INK)
    names = [f"{k + 1}{' ▸' if k == turn else ''} {_plain(turns[k].action.text)}" for k in rows]
    axes.set_yticks(range(len(rows)), names, fontsize=8, fontfamily="monospace")
    heads = [_heading(column, max(HEADING_CHARS, 90 // len(columns))) for column in columns]
    axes.set_xticks(range(len(columns)), heads, fontsize=8)
    axes.tick_params(top=True, labeltop=True, bottom=False, labelbottom=False, length=0)
    axes.spines[:].set_visible(False)
    _, ending = verdict_words(group.trajectories[attempt])
    left_out = len(turns) - len(rows)
    more = f"; {left_out} more turns are not shown" if left_out else ""
    figure.supxlabel(f"attempt {attempt}: {ending}{more}", fontsize=8, color=style.INK)
    return figure


def packed_row(row: PackedRow) -> Figure:
    """A packed sequence as bands: who wrote each token, what learns, what is seen, advantages."""
    known = not np.isnan(row.advantages).all() if len(row) else False
    figure = style.new_figure(2.1 if known else 1.4)
    axes = figure.subplots()
    colours = ("#BBBBBB", style.BLUE, style.PALE, "#FFFFFF")
    for kind, (name, colour) in enumerate(zip(KINDS, colours)):
        at = row.kinds == kind
        if at.any():
            _band(axes, 3, at, color=colour, hatch="////" if name == "observation" else None,
                  edgecolor=style.GREY, lw=0, label=name)  # fmt: skip
    _band(axes, 2, row.loss_mask, color=style.INK)
    _band(axes, 1, row.attention_mask, color=style.GREY)
    ticks = {3: "written by", 2: "loss mask", 1: "attention"}
    if known:
        top = float(np.nanmax(np.abs(row.advantages))) or 1.0
        heights = np.nan_to_num(row.advantages) / top * 0.4
        colours = np.where(heights < 0, style.VERMILLION, style.BLUE)
        axes.bar(np.arange(len(row)), heights, 1.0, 0.0, color=colours)
        ticks[0] = f"advantage ±{top:.2g}"
    axes.set_yticks(list(ticks), list(ticks.values()), fontsize=8)
    axes.set(xlim=(-0.5, max(len(row), 1) - 0.5), ylim=(min(ticks) - 0.5, 3.5))
    style.tidy(axes, title=row.label, x="token")
    axes.legend(frameon=False, fontsize=8, ncols=4, loc="lower right", bbox_to_anchor=(1, 1))
    return figure


def _band(axes, y: int, at: np.ndarray, **look) -> None:
    edges = np.flatnonzero(np.diff(np.concatenate([[0], at.astype(int), [0]])))
    spans = [(a - 0.5, b - a) for a, b in zip(edges[::2], edges[1::2])]
    if spans:
        axes.broken_barh(spans, (y - 0.35, 0.7), **look)


def _values_and_bars(
    group: Group, name: str, values: Values
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Before each turn (K,) values and (2, K) lengths of their bars, an attempt; arrays have 0."""
    shapes = [(len(t.turns),) for t in group.trajectories]
    is_group = isinstance(values, Group)
    found = values_before_turns(values) if is_group else [np.asarray(v, float) for v in values]
    bars = [np.zeros((2, *v.shape)) for v in found]
    for value in values.turn_values if is_group else ():
        of_attempt, k = bars[value.trajectory_index], value.turn_index + 1
        if k < of_attempt.shape[1]:  # after the last turn the reward is known
            of_attempt[:, k] = _below_and_above(value)
    if [v.shape for v in found] != shapes:
        raise ValueError(
            f"values of {name!r}: expected a number before each turn, shapes {shapes}, got "
            f"{[v.shape for v in found]}"
        )
    return found, bars


def _below_and_above(value: TurnValue) -> tuple[float, float]:
    """How far the 95 % interval of a value goes to either side of it."""
    if value.num_rerolls and value.standard_error == 0.0 and value.estimate in (0.0, 1.0):
        share = wilson(round(value.estimate * value.num_rerolls), value.num_rerolls)
        return share.estimate - share.low, share.high - share.estimate
    return 1.96 * value.standard_error, 1.96 * value.standard_error


def _draw_values(axes, values: np.ndarray, bars: np.ndarray, name: str, look) -> None:
    colour, line, marker = look
    x = np.arange(1, len(values) + 1)
    axes.errorbar(x, values, bars, color=colour, ls=line, marker=marker, ms=4,
                  capsize=3, lw=1.2, label=name)  # fmt: skip


def _short(turns) -> list[str]:
    """The commands' names, numbered; every one of a short attempt, else some of them."""
    every = max(1, len(turns) // 12)
    return [
        f"{k + 1} {_plain(t.action.text).split(' ')[0][:8]}" if k % every == 0 else ""
        for k, t in enumerate(turns)
    ]


def _plain(raw: str) -> str:
    """One line in characters that every font has."""
    shown = printable(" ".join(raw[: 4 * MESSAGE_CHARS].split()))
    return shown[:MESSAGE_CHARS] + ("…" if len(shown) > MESSAGE_CHARS else "")


def _heading(column: CreditColumn, width: int) -> str:
    lines = textwrap.wrap(_plain(column.name), width)
    if column.match is not None:
        lines.append(f"corr {signed(column.match.correlation)}")
    return "\n".join([*lines, f"±{column.scale:g}"])
