"""Tokens as HTML: a turn as boxes, a packed sequence as text with its masks.

Stage: reading. In: `TokenView`s of a turn, or a `PackedRow`; out: HTML. What learns is underlined,
what does not is hatched or grey, so that nothing hangs on colour alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby

import numpy as np

from workbench.plots.crediting import signed
from workbench.plots.packing import ACTION, KINDS, PADDING, PROMPT, PackedRow
from workbench.plots.tokens import Decode, TokenView, token_text
from workbench.widgets.markup import text

COLOURS = ("advantage", "ratio", "surprise")
"""What the colour of a token may stand for."""
MAX_TOKENS = 3000
"""Tokens of a packed sequence that are written out; of more it says how many."""
CLIP_WORDS = {"": "", "low": "▼ clipped", "high": "▲ clipped"}


def tokens_html(tokens: Sequence[TokenView], scale: float, colour: str = "advantage") -> str:
    """The tokens of one turn as boxes in reading order.

    Args:
        scale: the advantage at which the colour is full.
        colour: one of COLOURS; "ratio" is centred at 1, "surprise" is -logprob.
    """
    boxes = "".join(_box(token, scale, colour) for token in tokens)
    return f'<div class="wb-tokens">{boxes}</div>'


def _box(token: TokenView, scale: float, colour: str) -> str:
    shown = text(_visible_space(token.text), 40) or "∅"
    if not token.in_loss:
        return (
            f'<span class="wb-token out" title="id {token.id}, no gradient"><code>{shown}</code>'
            "</span>"
        )
    heat = _heat(token, scale, colour)
    side = "plus" if heat > 0 else "minus" if heat < 0 else "zero"
    clipped = CLIP_WORDS[token.clip]
    lines = [f"p {math.exp(token.logprob):.2f}"]
    if token.ratio == token.ratio:
        lines.append(f"× {token.ratio:.2f}")
    if clipped:
        lines.append(clipped)
    words = (
        f"id {token.id}, logprob {token.logprob:.3f}, advantage "
        f"{signed(token.advantage, scale)}" + (f", {clipped}" if clipped else "")
    )
    return (
        f'<span class="wb-token in {side}" style="--v:{min(abs(heat), 1.0):.2f}" title="{words}">'
        f"<code>{shown}</code><small>{'<br>'.join(lines)}</small></span>"
    )


def _heat(token: TokenView, scale: float, colour: str) -> float:
    if colour == "advantage":
        return 0.0 if token.clip else token.advantage / scale
    if colour == "surprise":
        return -token.logprob / 3.0  # full at a probability of 5 %
    return 0.0 if math.isnan(token.ratio) else (token.ratio - 1.0) / 0.5


def packed_html(row: PackedRow, decode: Decode | None = None) -> str:
    """A packed sequence: in a sentence, as bands over its length, and as text."""
    return f"<p><b>{summary_words(row)}</b></p>{bands_html(row)}{flow_html(row, decode)}"


def summary_words(row: PackedRow) -> str:
    """How many tokens there are of each kind, and which of them learn."""
    counts = [int((row.kinds == kind).sum()) for kind in range(len(KINDS))]
    learns = int(row.loss_mask.sum())
    strangers = int((row.loss_mask & (row.kinds != ACTION)).sum())
    idle = counts[ACTION] - (learns - strangers)
    real = len(row) - counts[PADDING]
    share = learns / real if real else 0.0
    words = (
        f"{real:,} tokens: {learns:,} learn ({share:.0%}), {counts[PROMPT]:,} are prompt, "
        f"{counts[2]:,} observation"
    )
    words += f", {counts[PADDING]:,} places are padding" if counts[PADDING] else ""
    words += f"; {idle:,} sampled tokens do not learn" if idle else ""
    unseen = int((row.loss_mask & ~row.attention_mask).sum())
    words += f"; ✗ {unseen:,} that learn may not be seen" if unseen else ""
    return words + (f"; ✗ {strangers:,} learn that nobody sampled" if strangers else "")


def bands_html(row: PackedRow) -> str:
    """Bands over the length of the sequence: who wrote it, loss, attention, advantage."""
    kinds = [(f"kind-{KINDS[kind]}", KINDS[kind]) for kind in row.kinds.tolist()]
    learns = [("on", "learns") if on else ("", "") for on in row.loss_mask.tolist()]
    seen = [("seen", "may be seen") if on else ("", "") for on in row.attention_mask.tolist()]
    bands = [_band("written by", kinds), _band("loss mask", learns), _band("attention", seen)]
    top = float(np.nanmax(np.abs(row.advantages), initial=0.0))
    if top > 0:
        bars = [_bar(advantage, top) for advantage in row.advantages.tolist()]
        bands.append(_band("advantage", bars, " worth"))
    return f'<div class="wb-bands">{"".join(bands)}</div>'


def _band(name: str, pieces: Sequence[tuple[str, str]], look: str = "") -> str:
    """One band from (class, words) a token; runs of equal ones are one piece, "" is a gap."""
    inside, start, num = "", 0, max(len(pieces), 1)
    for (kind, words), run in groupby(pieces):
        stop = start + len(list(run))
        at = f"left:{100 * start / num:.3f}%;width:{100 * (stop - start) / num:.3f}%"
        if kind:
            where = f"tokens {start} to {stop - 1}"
            inside += f'<i class="{kind}" style="{at}" title="{words}, {where}"></i>'
        start = stop
    return f'<div class="wb-band{look}"><span>{name}</span><div>{inside}</div></div>'


def _bar(advantage: float, top: float) -> tuple[str, str]:
    if not advantage or advantage != advantage:
        return "", ""
    height = 1 + round(3 * abs(advantage) / top)
    side = "up" if advantage > 0 else "down"
    return f"{side} size-{height}", f"advantage {signed(advantage, top)}"


def flow_html(row: PackedRow, decode: Decode | None) -> str:
    """The sequence as text, cut where the writer changes."""
    end = min(len(row), MAX_TOKENS)
    keys = list(zip(row.kinds[:end].tolist(), row.turns[:end].tolist()))
    parts, start = [], 0
    for (kind, turn), run in groupby(keys):
        stop = start + len(list(run))
        if kind != PADDING:
            parts.append(_segment(row, start, stop, kind, turn, decode))
        start = stop
    more = f"<p>… {len(row) - end:,} more tokens</p>" if len(row) > end else ""
    return f'<div class="wb-flow">{"".join(parts)}</div>{more}'


def _segment(row: PackedRow, start: int, stop: int, kind: int, turn: int, decode) -> str:
    learns = row.loss_mask[start:stop].tolist()
    shown = "".join(
        f"<u>{piece}</u>" if on else f"<s>{piece}</s>"
        for i, on in zip(row.ids[start:stop].tolist(), learns)
        for piece in [text(_visible_space(token_text(i, decode)), 200)]
    )
    name = f"turn {turn + 1} said" if kind == ACTION else KINDS[kind]
    number = row.advantages[start]
    worth = "" if number != number else f" {signed(float(number))}"
    return f'<div class="kind-{KINDS[kind]}"><span>{name}{worth}</span><code>{shown}</code></div>'


def _visible_space(token: str) -> str:
    """Spaces and line breaks at which tokens differ, as signs."""
    return token.replace(" ", "␣").replace("\n", "⏎\n").replace("\t", "⇥")


TOKEN_STYLE = """<style>
.wb .wb-tokens { display: flex; flex-wrap: wrap; gap: 2px; margin: 2px 0 4px;
  align-items: flex-start; }
.wb .wb-token { border: 1px solid var(--edge); border-radius: 2px; padding: 0 3px;
  text-align: center; line-height: 1.25; max-width: 12em; overflow: hidden; }
.wb .wb-token code { background: none; color: var(--ink); display: block; white-space: pre;
  font: 12px/1.35 var(--jp-code-font-family, monospace); }
.wb .wb-token small { font-size: 10px; color: var(--soft); display: block; white-space: nowrap; }
.wb .wb-token.in { border-bottom: 3px solid var(--ink); }
.wb .wb-token.in small { color: var(--ink); }
.wb .wb-token.out { opacity: .75; background: repeating-linear-gradient(135deg,
  transparent 0 4px, var(--edge) 4px 5px); }
.wb .wb-token.plus { background: color-mix(in srgb, var(--plus) calc(60% * var(--v)),
  transparent); }
.wb .wb-token.minus { background: color-mix(in srgb, var(--minus) calc(60% * var(--v)),
  transparent); }
.wb .wb-bands { margin: 4px 0 8px; }
.wb .wb-band { display: flex; gap: 8px; align-items: center; font-size: 11px; }
.wb .wb-band > span { flex: 0 0 6em; color: var(--soft); text-align: right; }
.wb .wb-band > div { flex: 1 1 auto; position: relative; height: 15px; margin: 1px 0;
  border: 1px solid var(--edge); overflow: hidden; }
.wb .wb-band.worth > div { background: linear-gradient(transparent 6px, var(--edge) 0 7px,
  transparent 0); }
.wb .wb-band i { position: absolute; top: 0; bottom: 0; }
.wb i.kind-prompt { background: var(--edge); }
.wb i.kind-action { background: var(--plus); }
.wb i.kind-observation { background: repeating-linear-gradient(135deg, transparent 0 3px,
  var(--soft) 3px 4px); }
.wb i.on { background: var(--ink); } .wb i.seen { background: var(--soft); opacity: .5; }
.wb .wb-band i.up { background: var(--plus); top: auto; bottom: 50%; }
.wb .wb-band i.down { background: var(--minus); top: 50%; bottom: auto; }
.wb .wb-band i.size-1 { height: 15%; } .wb .wb-band i.size-2 { height: 25%; }
.wb .wb-band i.size-3 { height: 38%; } .wb .wb-band i.size-4 { height: 50%; }
.wb .wb-flow { max-height: 30em; overflow: auto; }
.wb .wb-flow > div { display: flex; gap: 8px; padding: 2px 0;
  border-bottom: 1px solid var(--edge); }
.wb .wb-flow > div > span { flex: 0 0 7.5em; color: var(--soft); font-size: 11px;
  text-align: right; padding-top: 2px; }
.wb .wb-flow code { background: none; white-space: pre-wrap; overflow-wrap: anywhere;
  color: var(--soft); font: 12px/1.5 var(--jp-code-font-family, monospace); min-width: 0; }
.wb .wb-flow s { text-decoration: none; }
.wb .wb-flow s + s, .wb .wb-flow u + u { border-left: 1px dotted var(--edge); }
.wb .wb-flow u { color: var(--ink); text-decoration: none; font-weight: 600;
  border-bottom: 2px solid var(--plus); }
</style>"""
"""What learns stands on a thick line."""
