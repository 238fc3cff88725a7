"""A group's credit as one file: opened in any browser, without server, kernel or network.

Stage: reading. In: what a `CreditViewer` shows; out: an HTML page with every attempt and every
turn's tokens, drawn by the same functions as the widget; `credit_page.js` only shows and hides
them. The page forbids itself to load anything. Left out: other schemes for the tokens' advantage
than the one that was chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from workbench.plots.crediting import CreditColumn
from workbench.records import Group
from workbench.widgets.credit_html import credit_html, legend_html
from workbench.widgets.markup import text

SCRIPT = Path(__file__).with_name("credit_page.js")
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
"""Content security policy: nothing is fetched, whatever an attempt has written."""
KEYS = (
    "Keys: ↑ ↓ turn, ← → attempt, Enter opens the answer, s switches between credit and its "
    "share of the update."
)
PAGE_STYLE = """<style>
:root { color-scheme: light dark; }
body { margin: 1.5em auto; max-width: 1200px; padding: 0 1em;
  background: var(--jp-layout-color0, #fff); }
.wb select { font: inherit; max-width: 100%; }
.wb .bar { display: flex; flex-wrap: wrap; gap: 4px 16px; margin: 8px 0; }
.wb tr.here > * { box-shadow: inset 0 2px var(--mark), inset 0 -2px var(--mark); }
.wb tbody tr { scroll-margin-top: 6em; }
.wb [hidden] { display: none; }
@media (prefers-color-scheme: dark) {
  :root { --jp-ui-font-color1: #e6e6e6; --jp-ui-font-color2: #a8a8a8; --jp-border-color2: #444;
    --jp-layout-color0: #16181c; --jp-layout-color2: #23262c; --jp-brand-color1: #64b5f6; }
  .wb { --plus: #56B4E9; --plus-pale: #56B4E980; --minus: #E69F00; --minus-pale: #E69F0080; }
}
</style>"""


def credit_page(
    group: Group,
    columns: Sequence[CreditColumn],
    *,
    title: str,
    styles: str,
    heading: Callable[[int], str],
    words: Callable[[int], str],
    tokens: Callable[[int, int], str],
    start: tuple[int, int],
) -> str:
    """The page as text.

    Args:
        heading: attempt -> what stands above its table.
        words: attempt -> its line in the menu.
        tokens: (attempt, turn) -> the turn's tokens.
        start: (attempt, turn) that are shown first.
    """
    num = len(group.trajectories)
    options = "".join(f'<option value="{i}">{text(words(i))}</option>' for i in range(num))
    attempts = "".join(
        f'<section data-attempt="{i}"{" hidden" * (i != start[0])}>{heading(i)}'
        f"{credit_html(group, columns, i, show='both')}{_tokens_of(group, i, tokens, start)}"
        "</section>"
        for i in range(num)
    )
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{text(title)}</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"{styles}{PAGE_STYLE}</head><body><div class='wb' id='page'><h4>{text(title)}</h4>"
        f'<p class="soft">{KEYS}</p><div class="bar">'
        f'<label>attempt <select id="attempt">{options}</select></label>'
        f'<label>compared with <select id="against"><option value="-1">nothing</option>{options}'
        '</select></label><label><input type="checkbox" id="share"> share of the update</label>'
        f'</div><div id="pair" hidden></div>{attempts}{legend_html(columns)}</div>'
        f"<script>{SCRIPT.read_text('utf-8')}</script></body></html>"
    )


def _tokens_of(group: Group, i: int, tokens: Callable[[int, int], str], start) -> str:
    return "".join(
        f'<div data-tokens="{k}"{" hidden" * (k != (start[1] if i == start[0] else 0))}>'
        f"{tokens(i, k)}</div>"
        for k in range(len(group.trajectories[i].turns))
    )
