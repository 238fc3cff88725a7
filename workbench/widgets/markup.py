"""Text that anyone may have written, as HTML that does nothing but show it.

Stage: reading. In: strings from attempts; out: HTML. Everything that a widget shows goes through
`text` or `block`: tags become visible, and so does what would be invisible, reorder the line or
not be storable (control characters, ANSI codes, lone surrogates, bidirectional overrides).
Left out: syntax highlighting.
"""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Iterable, Sequence

from workbench.plots.ranking import COMPONENT_LOOKS

MAX_CHARS = 6000
"""A longer text is cut, and says how much is missing."""
INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
"""Unicode categories that are written as escapes."""


def text(value: object, limit: int = MAX_CHARS) -> str:
    """`str(value)` as HTML, fit for element text and for quoted attributes.

    Line breaks and tabs stay; every other invisible character is shown, as `␛` or `\\u202e`.
    """
    raw = str(value)
    cut = "" if len(raw) <= limit else f" … {len(raw) - limit:,} more characters"
    return html.escape(_all_visible(raw[:limit]), quote=True) + cut


def line(value: object, limit: int = 100) -> str:
    """Plain text of one line for labels that are not HTML: no line break, nothing invisible."""
    raw = str(value)
    shown = _all_visible(raw[:limit]).replace("\n", "⏎").replace("\t", " ")
    return shown + ("…" if len(raw) > limit else "")


def block(value: str, *, limit: int = MAX_CHARS, kind: str = "") -> str:
    """A text with its line breaks, in type of fixed width; nothing for an empty one."""
    return f'<pre class="wb-pre {kind}">{text(value, limit)}</pre>' if value else ""


def badge(words: object, kind: str = "", meaning: str = "") -> str:
    """A few words in a frame; `kind` is "good", "bad" or ""."""
    title = f' title="{text(meaning)}"' if meaning else ""
    return f'<span class="wb-badge {kind}"{title}>{text(words)}</span>'


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, kind: str = "") -> str:
    """A table of cells that are HTML already."""
    top = "".join(f'<th scope="col">{cell}</th>' for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{c}</td>" for c in row) + "</tr>" for row in rows)
    return f'<table class="wb-table {kind}"><thead><tr>{top}</tr></thead>{body}</table>'


def boxed(*parts: str) -> str:
    """HTML to which STYLE applies, for a page that has it once already."""
    return f'<div class="wb">{"".join(parts)}</div>'


def page(*parts: str) -> str:
    """HTML with the style that it needs, to be shown by itself."""
    return STYLE + boxed(*parts)


def _all_visible(raw: str) -> str:
    return raw if raw.isprintable() else "".join(map(_visible, raw))


def _visible(character: str) -> str:
    if character in "\n\t" or unicodedata.category(character) not in INVISIBLE:
        return character
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)  # its picture, such as ␛
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


_STRIPES = {
    "": "",
    "////": "repeating-linear-gradient(135deg,transparent 0 4px,#fffb 4px 6px)",
    "....": "radial-gradient(#fffd 1px,transparent 1.5px) 0 0/6px 6px",
    "\\\\\\\\": "repeating-linear-gradient(45deg,transparent 0 4px,#fffb 4px 6px)",
    "xxxx": "repeating-linear-gradient(45deg,transparent 0 3px,#fff9 3px 4px),"
    "repeating-linear-gradient(135deg,transparent 0 3px,#fff9 3px 4px)",
    "----": "repeating-linear-gradient(0deg,transparent 0 3px,#fffb 3px 5px)",
    "||||": "repeating-linear-gradient(90deg,transparent 0 3px,#fffb 3px 5px)",
    "++++": "repeating-linear-gradient(0deg,transparent 0 4px,#fff9 4px 5px),"
    "repeating-linear-gradient(90deg,transparent 0 4px,#fff9 4px 5px)",
}
_LOOKS = "".join(
    f".wb-look{i}{{background:{_STRIPES[hatch]}{',' * bool(_STRIPES[hatch])}{colour}}}"
    for i, (colour, hatch) in enumerate(COMPONENT_LOOKS)
)
STYLE = f"""<style>
.wb {{ --ink: var(--jp-ui-font-color1, #222); --soft: var(--jp-ui-font-color2, #555);
  --edge: var(--jp-border-color2, #d0d0d0); --shade: var(--jp-layout-color2, #f3f3f3);
  --good: #009E73; --bad: #D55E00; color: var(--ink); line-height: 1.45;
  font-family: var(--jp-ui-font-family, system-ui, sans-serif); font-size: 13px; }}
.wb h4 {{ margin: .7em 0 .3em; font-size: 13px; font-weight: 600; color: var(--ink); }}
.wb .soft {{ color: var(--soft); }}
.wb table.wb-table {{ border-collapse: collapse; font-size: 12px; width: 100%; margin: 0;
  border: none; color: var(--ink); table-layout: auto; }}
.wb .wb-table th, .wb .wb-table td {{ text-align: left; padding: 2px 6px 2px 0; border: none;
  vertical-align: middle; background: none; white-space: normal; max-width: none; }}
.wb .wb-table th {{ color: var(--soft); font-weight: 400; }}
.wb .wb-table tr {{ background: none; border-bottom: 1px solid var(--edge); }}
.wb .num {{ text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap;
  display: block; }}
.wb .wb-pre {{ margin: 2px 0 0; padding: 4px 8px; background: var(--shade); color: var(--ink);
  font: 12px/1.4 var(--jp-code-font-family, monospace); white-space: pre-wrap;
  overflow-wrap: anywhere; max-height: 22em; overflow-y: auto; border-radius: 2px; tab-size: 4; }}
.wb .wb-badge {{ border: 1px solid var(--edge); border-radius: 3px; padding: 0 5px;
  margin-right: 4px; font-size: 12px; display: inline-block; overflow-wrap: anywhere; }}
.wb .good {{ border-color: var(--good); }} .wb .bad {{ border-color: var(--bad); }}
.wb .wb-cols {{ display: flex; flex-wrap: wrap; gap: 4px 24px; }}
.wb .wb-cols > * {{ flex: 1 1 340px; min-width: 0; }}
.wb .add {{ background: #009E7333; display: block; }}
.wb .del {{ background: #D55E0033; display: block; }}
.wb .wb-track {{ position: relative; height: 14px; min-width: 60px; }}
.wb .wb-track > * {{ position: absolute; top: 0; bottom: 0; }}
.wb .wb-track .zero {{ border-left: 1px solid var(--soft); top: -3px; bottom: -3px; }}
.wb .wb-track .total {{ border-left: 3px solid var(--ink); top: -2px; bottom: -2px;
  margin-left: -1.5px; }}
.wb .wb-track .void {{ opacity: .3; }}
.wb .adv {{ background: var(--soft); }}
.wb .wb-entry {{ white-space: nowrap; margin-right: 14px; }}
.wb .wb-key {{ display: inline-block; width: 14px; height: 11px; margin: 0 4px 0 0; }}
.wb .wb-table tr.here {{ outline: 2px solid var(--jp-brand-color1, #1976d2);
  outline-offset: -1px; }}
.wb .wb-truth {{ white-space: nowrap; padding-right: 6px; }}
.wb .wb-narrow {{ max-width: 460px; }}
.wb .wb-turn {{ margin-bottom: 4px; }}
.wb .wb-said {{ background: none; color: var(--ink); white-space: pre-wrap;
  overflow-wrap: anywhere; font: 12px/1.4 var(--jp-code-font-family, monospace); }}
.wb svg {{ display: block; width: 100%; height: 110px; }}
.wb svg .right {{ fill: var(--ink); }}
.wb svg .wrong {{ fill: none; stroke: var(--bad); stroke-width: 2px; }}
.wb svg * {{ vector-effect: non-scaling-stroke; }}
.wb svg line {{ stroke: var(--ink); }}
.wb svg line.zero {{ stroke: var(--soft); stroke-dasharray: 3 3; }}
.wb .ends {{ display: flex; justify-content: space-between; font-size: 12px;
  color: var(--soft); }}
{_LOOKS.replace(".wb-look", ".wb .wb-look")}
</style>"""
"""Colours follow JupyterLab's theme and have a value of their own elsewhere."""
