"""What the reward mixer shows, as HTML: a group's ranking, and all attempts under two designs.

Stage: reading. In: ranked rows and a comparison (`plots.ranking`, `rewards.comparing`); out: HTML
in a millisecond or two, where the same picture through matplotlib takes some hundred: a slider
cannot wait for that. `plots.reward_mixer` draws it for pages without a kernel.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.plots.comparing import (
    NUM_BINS,
    agreement_words,
    number_rows,
    reward_counts,
    reward_span,
)
from workbench.plots.ranking import Ranked, extent, segments, span, truth_words
from workbench.records import RewardPart
from workbench.rewards import DesignComparison, DesignReport, RewardDesign
from workbench.rewards.rules import gate_words
from workbench.widgets.markup import text

Limits = tuple[float, float]
RANKING_HEAD = (
    "<th>rank</th><th>attempt</th><th>truth</th><th>components</th>"
    '<th><span class="num">reward</span></th>'
    '<th colspan="2"><span class="num">advantage</span></th>'
)


def rankings_html(
    ranked: Sequence[Sequence[Ranked]],
    designs: Sequence[RewardDesign],
    titles: Sequence[str],
    *,
    looks: Mapping[str, int],
    here: int | None = None,
) -> str:
    """A group's ranking under several designs side by side, on common scales.

    Args:
        ranked: for each design, rows from `plots.ranking.rank_group`.
        titles: for each design, what stands above it.
        looks: component name -> index of its look.
        here: the trajectory that is marked as chosen.
    """
    rows = [one for side in ranked for one in side]
    limits = extent(rows)
    high = span(abs(one.advantage) for one in rows)[1]
    tables = (
        f"<div><h4>{text(title)}</h4>{_key(design, looks)}"
        f'<table class="wb-table"><thead><tr>{RANKING_HEAD}</tr></thead>'
        + "".join(_row(one, limits, (-high, high), looks, here) for one in side)
        + "</table></div>"
        for side, design, title in zip(ranked, designs, titles)
    )
    return f'<div class="wb-cols">{"".join(tables)}</div>'


def _key(design: RewardDesign, looks: Mapping[str, int]) -> str:
    """What the looks of the bars mean, with each component's weight and rules."""
    words = (
        f"{c.name} × {c.weight:g}"
        + (f" {gate_words(c.gates)}" if c.gates else "")
        + ("" if c.blocks_below is None else f", blocks below {c.blocks_below:g}")
        for c in design.components
    )
    return "".join(
        f'<span class="wb-entry"><i class="wb-key wb-look{looks[c.name]}"></i>{text(one)}</span>'
        for c, one in zip(design.components, words)
    ) + (" divided by the sum of the weights" if design.is_normalised else "")


def _row(
    one: Ranked, limits: Limits, advantage_limits: Limits, looks: Mapping[str, int],
    here: int | None,
) -> str:  # fmt: skip
    total, chosen = one.breakdown.total, one.trajectory == here
    known = one.advantage == one.advantage
    cells = (
        f"{'▸ ' if chosen else ''}{one.place or '–'}",
        f"#{one.trajectory}",
        f'<span class="wb-truth">{truth_words(one.right)}</span>',
        _stack(one, limits, looks),
        f'<span class="num">{"none" if total is None else format(total, ".2f")}</span>',
        _track(_bar("adv", 0.0, one.advantage, advantage_limits) if known else "",
               advantage_limits, "4.5em"),
        f'<span class="num">{format(one.advantage, "+.2f") if known else "–"}</span>',
    )  # fmt: skip
    widths = ("", "", "", ' style="width:50%"', "", "", "")
    body = "".join(f"<td{width}>{cell}</td>" for width, cell in zip(widths, cells))
    mark = ' class="here"' if chosen else ""
    return f"<tr{mark}>{body}</tr>"


def _stack(one: Ranked, limits: Limits, looks: Mapping[str, int]) -> str:
    breakdown = one.breakdown
    void = " void" if breakdown.blocked else ""
    inside = "".join(
        _bar(f"wb-look{looks[part.name]}{void}", start, end, limits, part_words(part))
        for index, start, end in segments(breakdown)
        for part in [breakdown.parts[index]]
    )
    if breakdown.total is not None:
        at = _percent(breakdown.total, limits)
        inside += f'<i class="total" style="left:{at:.2f}%"></i>'
    if breakdown.blocked:
        names = text(", ".join(breakdown.blocked))
        inside += f'<span class="soft" style="right:0">blocked by {names}</span>'
    return _track(inside, limits)


def part_words(part: RewardPart) -> str:
    """What one component adds, in words: "tests: 0.75 × 1 = 0.75"."""
    if part.gated:
        return f"{part.name}: behind a closed gate, counts as 0"
    if part.raw is None:
        return f"{part.name}: could not judge" + (", left out" if part.omitted else "")
    return f"{part.name}: {part.raw:.3g} × {part.weight:g} = {part.weighted + 0.0:.3g}"


def comparison_html(comparison: DesignComparison) -> str:
    """The numbers of two designs, and each one's rewards against the truth."""
    limits = reward_span(comparison)
    reports = (comparison.a, comparison.b)
    counts = [reward_counts(r.rewards, comparison.truth, limits) for r in reports]
    top = max((n for rows in counts for _, n, _ in rows), default=0)
    bottom = max((n for rows in counts for _, _, n in rows), default=0)
    pictures = "".join(
        _histogram(rows, report, label, limits, max(top, 1), max(bottom, 1))
        for rows, report, label in zip(counts, reports, comparison.labels)
    )
    names = [text(label) for label in comparison.labels]
    head = "".join(f'<th><span class="num">{name}</span></th>' for name in names)
    rows = "".join(
        f'<tr><td>{what}<span class="soft">: {meaning}</span></td>'
        f'<td><span class="num">{a}</span></td><td><span class="num">{b}</span></td></tr>'
        for what, a, b, meaning in number_rows(comparison)
    )
    return (
        f"<div><h4>All {len(comparison.truth):,} attempts</h4>"
        f'<div class="wb-cols">{pictures}</div><table class="wb-table">'
        f"<thead><tr><th></th>{head}</tr></thead>{rows}</table>"
        f'<p class="soft">{agreement_words(comparison)}</p></div>'
    )


def _histogram(
    counts: Sequence[tuple[float, int, int]], report: DesignReport, label: str, limits: Limits,
    top: int, bottom: int,
) -> str:  # fmt: skip
    """Right attempts above the line and wrong ones below it, by reward, in 100 x 100 units."""
    width, line = 100 / (NUM_BINS + 1), 100 * top / (top + bottom)
    bars = ""
    for reward, right, wrong in counts:
        left = (_percent(reward, limits) * NUM_BINS / 100) * width
        high, low = line * right / top, (100 - line) * wrong / bottom
        words = f"<title>reward {reward:.2f}: {right} right, {wrong} wrong</title>"
        bars += (
            f'<g>{words}<rect class="right" x="{left:.2f}" y="{line - high:.2f}" '
            f'width="{width:.2f}" height="{high:.2f}"/><rect class="wrong" x="{left:.2f}" '
            f'y="{line:.2f}" width="{width:.2f}" height="{low:.2f}"/></g>'
        )
    zero = (_percent(0.0, limits) * NUM_BINS / 100 + 0.5) * width
    num_right, num_wrong = (sum(row[i] for row in counts) for i in (1, 2))
    words = f"Rewards of {text(label)}: right attempts above the line, wrong ones below"
    return (
        f'<div><div>{text(label)}<span class="soft">: ■ {num_right:,} right above the line, '
        f"□ {num_wrong:,} wrong below</span></div>"
        f'<svg viewBox="0 0 100 100" preserveAspectRatio="none" role="img" aria-label="{words}">'
        f'{bars}<line x1="0" x2="100" y1="{line:.2f}" y2="{line:.2f}"/>'
        f'<line class="zero" x1="{zero:.2f}" x2="{zero:.2f}" y1="0" y2="100"/></svg>'
        f'<div class="ends"><span>{limits[0]:g}</span><span>reward</span>'
        f"<span>{limits[1]:g}</span></div></div>"
    )


def _percent(value: float, limits: Limits) -> float:
    return 100 * (value - limits[0]) / (limits[1] - limits[0])


def _bar(kind: str, start: float, end: float, limits: Limits, meaning: str = "") -> str:
    left, right = sorted((_percent(start, limits), _percent(end, limits)))
    title = f' title="{text(meaning)}"' if meaning else ""
    return f'<i class="{kind}" style="left:{left:.2f}%;width:{right - left:.2f}%"{title}></i>'


def _track(inside: str, limits: Limits, width: str = "") -> str:
    size = f' style="width:{width};min-width:0"' if width else ""
    zero = f'<i class="zero" style="left:{_percent(0.0, limits):.2f}%"></i>'
    return f'<div class="wb-track"{size}>{inside}{zero}</div>'
