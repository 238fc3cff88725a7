"""A group's credit as HTML: turns as rows, schemes as columns, two attempts interleaved.

Stage: reading. In: columns from `plots.crediting`; out: HTML in which nothing that an attempt wrote
is anything but text. A number is told three times: written with its sign, as a bar to the right or
the left of a zero line, and by colour. Rows are grids of their own, so that a browser lays out
only those near what is seen (`content-visibility`). Left out: tokens (`token_html`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from workbench.plots.crediting import CreditColumn, num_alike, rank_of_best, signed
from workbench.records import Group, Turn
from workbench.widgets.markup import badge, block, text

Show = Literal["credit", "share", "both"]
"""What stands in a cell: credit, its share of the update, or credit with the share at hand."""
NUMBER_PX, MESSAGE_PX, COLUMN_PX, ERROR_PX = 48, 190, 88, 66
"""Widths: of the turn's number, at least of the message, of a column, and more for errors."""
FIRST_LINE = 90
"""Characters of a message or an answer that are shown while its row is closed."""
NUMBERS_STAY = ".wb .wb-credit th:first-child { position: sticky; }"
"""Where the table is wider than its place; a sticky cell a row costs the browser a layer each."""
LENGTHS = 22
"""Bars are so many times 2 pixels long at most: cells of one length share a style, which a browser
then works out once."""
HOW_BARS = "Bars start at a column's zero line; their cell ends at the number under its name. "
HOW_NEAR = (
    "<b>corr</b>: Pearson's correlation with the truth over the whole group. <b>rank</b>: the "
    "place that the scheme gives to the turn of this attempt which is truly best, 1 = first."
)


def credit_html(
    group: Group,
    columns: Sequence[CreditColumn],
    attempt: int,
    against: int | None = None,
    *,
    show: Show = "credit",
) -> str:
    """The table of one attempt, or of two, turn by turn.

    Args:
        attempt: index of the trajectory.
        against: another one, put beneath it turn by turn; what both begin with is written once.
        show: the numbers in the cells.
    """
    places = [attempt] if against is None else [attempt, against]
    turns = [group.trajectories[i].turns for i in places]
    alike = 0 if against is None else num_alike(*(group.trajectories[i] for i in places))
    rows = [
        turn_row(i, k, own[k], columns, both=k < alike, again=k < alike and i != attempt,
                 named=against is not None, show=show)
        for k in range(max(map(len, turns)))
        for i, own in zip(places, turns)
        if k < len(own)
    ]  # fmt: skip
    return (
        '<div class="wb-scroll" tabindex="0" role="region" aria-label="credit by turn">'
        f"<style>@container (width < {_width(columns)}px) {{ {NUMBERS_STAY} }}</style>"
        f'<table class="wb-table wb-credit" style="{_sizes(columns)}">'
        f"{head_html(columns, attempt)}"
        f"<tbody>{''.join(rows)}</tbody></table></div>{alike_words(places, alike)}"
    )


def head_html(columns: Sequence[CreditColumn], attempt: int) -> str:
    """Names of the columns, what their bars end at, and how near they are to the truth."""
    cells = "".join(
        f'<th scope="col"><b>{text(column.name, 60).replace("_", "_<wbr>")}</b>'
        f"<span>±{column.scale:g}</span>"
        f"{_match(column, columns[0], attempt)}</th>"
        for column in columns
    )
    first = '<th scope="col">turn</th><th scope="col">message, answer</th>'
    return f"<thead><tr>{first}{cells}</tr></thead>"


def _sizes(columns: Sequence[CreditColumn]) -> str:
    """What every row is divided into, as a style: the rows are grids of their own."""
    parts = "".join(f" {_column_width(column)}px" for column in columns)
    message = f"minmax({MESSAGE_PX}px,1fr)"
    return f"--columns:{NUMBER_PX}px {message}{parts};min-width:{_width(columns)}px"


def _column_width(column: CreditColumn) -> int:
    return COLUMN_PX if column.errors is None else COLUMN_PX + ERROR_PX


def _width(columns: Sequence[CreditColumn]) -> int:
    return NUMBER_PX + MESSAGE_PX + sum(map(_column_width, columns))


def _match(column: CreditColumn, truth: CreditColumn, attempt: int) -> str:
    if column.match is None:
        return "<span>true credit</span>" if column.is_truth else ""
    rank = rank_of_best(column, truth, attempt)
    of = len(column.credit[attempt])
    words = "–" if rank is None else f"{rank:g} of {of}"
    return f"<span>corr {signed(column.match.correlation)}</span><span>rank {words}</span>"


def turn_row(
    attempt: int, k: int, turn: Turn, columns: Sequence[CreditColumn], *,
    both: bool = False, again: bool = False, named: bool = False, show: Show = "credit",
) -> str:  # fmt: skip
    """One turn of one attempt.

    Args:
        both: the other attempt has this turn, too.
        again: it is the second time that the turn is written.
        named: write which attempt it is.
        show: the numbers in the cells.
    """
    who = f' <span class="soft">#{attempt}</span>' if named else ""
    kind = "both" if both else "own"
    kind += " second" if again else ""
    said = '<span class="soft">= the same turn</span>' if again else turn_html(turn)
    cells = "".join(_cell(column, attempt, k, show) for column in columns)
    return (
        f'<tr class="{kind}" data-attempt="{attempt}" data-turn="{k}">'
        f'<th scope="row">{k + 1}{who}</th><td class="said">{said}</td>{cells}</tr>'
    )


def turn_html(turn: Turn) -> str:
    """Message and first line of the answer; opened, all of both."""
    agent = "" if turn.agent == "solver" else badge(turn.agent)
    bad = "" if turn.parse_error is None else badge("✗ no command", "bad", turn.parse_error)
    if turn.action.finish != "end_of_turn":
        bad += badge(f"cut: {turn.action.finish}", "bad")
    said, heard = turn.action.text, turn.observation
    whole = (block(said) if len(_first_line(said)) < len(said) else "") + block(heard)
    first = text(_first_line(said)) or '<span class="soft">(nothing)</span>'
    return (
        f"<details><summary>{agent}{bad}<code>{first}</code>"
        f'<span class="soft">{text(_first_line(heard))}</span></summary>{whole}</details>'
    )


def legend_html(columns: Sequence[CreditColumn]) -> str:
    """How the table is to be read."""
    compared = any(column.match is not None for column in columns)
    return f'<p class="soft">{HOW_BARS}{HOW_NEAR * compared}</p>'


def alike_words(attempts: Sequence[int], alike: int) -> str:
    """What two attempts have in common, in words."""
    if len(attempts) < 2:
        return ""
    a, b = attempts
    if not alike:
        return f'<p class="soft">#{a} and #{b} differ from the first turn on.</p>'
    turns = "turn" if alike == 1 else f"{alike} turns"
    return (
        f'<p class="soft">#{a} and #{b} begin with the same {turns}: what a scheme says there '
        "about one and not about the other is not about the turn.</p>"
    )


def _cell(column: CreditColumn, attempt: int, k: int, show: Show) -> str:
    """A number beside its bar. "both" leaves the share to be swapped in by the page's script."""
    value = float(column.credit[attempt][k])
    if value != value:
        return '<td class="none" title="no credit is known">–</td>'
    length = min(abs(value) / column.scale, 1.0)
    side = "plus" if value > 0 else "minus" if value < 0 else "zero"
    words, share = signed(value, column.scale), f"{column.shares[attempt][k]:.1%}"
    if column.errors is not None:
        side += " known"
        if column.errors[attempt][k] > 0:
            error = signed(float(column.errors[attempt][k]), column.scale)
            words += f" <small>±{error.lstrip('+')}</small>"
    other = f' data-other="{share}"' if show == "both" else ""
    shown = share if show == "share" else words
    return f'<td class="{side} v{round(LENGTHS * length)}"{other}>{shown}</td>'


def _first_line(raw: str) -> str:
    first, more, _ = raw.partition("\n")
    return first[:FIRST_LINE] + ("…" if more or len(first) > FIRST_LINE else "")


CREDIT_STYLE = """<style>
.wb { --plus: #0072B2; --plus-pale: #0072B266; --minus: #D55E00; --minus-pale: #D55E0066;
  --paper: var(--jp-layout-color0, #fff); --mark: var(--jp-brand-color1, #1976d2); }
[data-jp-theme-light="false"] .wb { --plus: #56B4E9; --plus-pale: #56B4E980; --minus: #E69F00;
  --minus-pale: #E69F0080; }
.wb-fit > .widget-html-content { min-width: 0; }
.wb .wb-scroll { overflow: auto; max-height: 34em; border-bottom: 1px solid var(--edge);
  container-type: inline-size; }
.wb table.wb-credit, .wb .wb-credit thead, .wb .wb-credit tbody { display: block; }
.wb .wb-credit tr { display: grid; grid-template-columns: var(--columns); border: none; }
.wb .wb-credit tbody tr { content-visibility: auto; contain-intrinsic-height: auto 24px; }
.wb .wb-credit th, .wb .wb-credit td { padding: 0 4px; min-width: 0; align-content: center; }
.wb .wb-credit thead { position: sticky; top: 0; z-index: 2; background: var(--paper);
  border-bottom: 1px solid var(--soft); }
.wb .wb-credit thead th { align-content: end; text-align: center; }
.wb .wb-credit thead th:nth-child(2) { text-align: left; }
.wb .wb-credit thead b { color: var(--ink); display: block; overflow-wrap: anywhere; }
.wb .wb-credit thead span { display: block; font-size: 11px; white-space: nowrap; }
.wb .wb-credit th:first-child { text-align: left; white-space: nowrap; color: var(--soft);
  left: 0; background: var(--paper); z-index: 1; padding-right: 8px; }
.wb .wb-credit td, .wb .wb-credit tbody th { border-bottom: 1px solid var(--edge);
  min-height: 22px; }
.wb .wb-credit tr.both:not(.second) td, .wb .wb-credit tr.both:not(.second) th {
  border-bottom: none; }
.wb .wb-credit summary { display: flex; gap: 8px; align-items: baseline; cursor: pointer;
  overflow: hidden; white-space: nowrap; }
.wb .wb-credit summary code { background: none; color: var(--ink); flex: 0 1 auto; min-width: 3em;
  overflow: hidden; text-overflow: ellipsis; font: 12px var(--jp-code-font-family, monospace); }
.wb .wb-credit summary > .soft { flex: 1 1 0; overflow: hidden; text-overflow: ellipsis;
  font-size: 11px; }
.wb .wb-credit td.plus, .wb .wb-credit td.minus, .wb .wb-credit td.zero,
.wb .wb-credit td.none { padding: 0; white-space: nowrap; text-align: center;
  border-left: 4px solid var(--paper); font-variant-numeric: tabular-nums; --half: 46px; }
.wb .wb-credit td.known { --half: 79px; }
.wb .wb-credit td.plus { text-align: right; padding-right: var(--half);
  background: linear-gradient(90deg, transparent calc(50% - .5px),
  var(--soft) 0 calc(50% + .5px), var(--plus-pale) 0 calc(50% + 50% * var(--v)), transparent 0); }
.wb .wb-credit td.minus { text-align: left; padding-left: var(--half);
  background: linear-gradient(90deg, transparent calc(50% - 50% * var(--v)),
  var(--minus-pale) 0 calc(50% - .5px), var(--soft) 0 calc(50% + .5px), transparent 0); }
.wb .wb-credit td small { color: var(--soft); font-size: 10px; }
</style>"""
"""Colours of Okabe and Ito; the lighter pair of them on dark ground."""
BAR_STYLE = "<style>{}</style>".format(
    "\n".join(f".wb .wb-credit .v{i} {{ --v: {i / LENGTHS:.3f}; }}" for i in range(LENGTHS + 1))
)
