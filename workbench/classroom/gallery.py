"""Hand-outs: the notebooks, run, as HTML files that need nothing else.

Stage: outside the loop. In: notebooks; out: a folder with one HTML file each and an `index.html`.
Pictures are inside the files; widgets are replaced by their last figure; formulas become pictures.
Opening a file asks no network for anything and runs nothing: nbconvert's scripts are not in it.
Predictions stay questions. Left out: changing a hand-out after it was made; taking out what a cell
shows as HTML of its own, scripts included.
"""

from __future__ import annotations

import html
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from workbench.classroom import stills
from workbench.classroom.formulas import with_pictures
from workbench.classroom.notebooks import (
    NOTEBOOKS,
    ClassroomError,
    find_notebooks,
    make_folder,
    read_notebook,
)
from workbench.fast_mode import is_fast

TEMPLATE = """
{%- extends 'lab/index.html.j2' -%}
{%- block html_head_js -%}{%- endblock html_head_js -%}
{%- block jupyter_widgets -%}{%- endblock jupyter_widgets -%}
{%- block html_head_js_mathjax -%}{%- endblock html_head_js_mathjax -%}
{%- block html_head_js_mermaidjs -%}{%- endblock html_head_js_mermaidjs -%}
{%- block html_head_css -%}
<style>main { max-width: 70em; margin: 0 auto; padding: 1em; } img { max-width: 100%; }</style>
{%- endblock html_head_css -%}
"""
"""nbconvert's page without its scripts (require.js, MathJax, Mermaid, widgets)."""
BANNER = (
    '<p role="note" style="border: 3px solid #D55E00; padding: .6em 1em; font-weight: 600">Made '
    "with tiny runs (WORKBENCH_FAST=1), to see that everything works. What was trained here and "
    "every number that follows from it mean nothing; make the hand-out again at full size before "
    "you give it to anyone.</p>\n\n"
)
"""What stands at the top of a hand-out that was made in the fast size."""
WIDGET = "application/vnd.jupyter.widget-view+json"


def make_gallery(
    out: str | Path,
    names: Sequence[str] = (),
    folder: Path = NOTEBOOKS,
    tell: Callable[[str], None] = print,
) -> list[Path]:
    """Run the notebooks and write their hand-outs to `out`; returns the paths, the index last.

    The size of the runs is `budget`'s decision (WORKBENCH_FAST). Raises ClassroomError naming the
    notebook and the cell if one fails; hand-outs finished before it stay.
    """
    out, made, banner = Path(out), [], BANNER if is_fast() else ""
    make_folder(out)
    for path in find_notebooks(names, folder):
        tell(f"{path.stem} ...")
        notebook = executed(path)
        title = notebook.cells[0].source.split("\n")[0].lstrip("# ")
        notebook.cells[0].source = banner + notebook.cells[0].source
        made.append(out / f"{path.stem}.html")
        made[-1].write_text(page(notebook, title, path.parent), "utf-8")
    made.append(out / "index.html")
    made[-1].write_text(_index(sorted(out.glob("*.html")), banner), "utf-8")
    return made


def executed(path: Path) -> Any:
    """The notebook at `path` after a run in an empty folder, each widget replaced by a still.

    Raises ClassroomError naming the cell that failed.
    """
    import nbformat  # part of the test extra
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, DeadKernelError

    notebook = read_notebook(path)
    notebook.cells.append(nbformat.v4.new_code_cell(stills.CELL))
    started = [0]
    with tempfile.TemporaryDirectory() as empty:
        client = NotebookClient(
            notebook,
            timeout=None,
            kernel_name="python3",
            extra_arguments=["--IPKernelApp.log_level=ERROR"],  # not "TCP without encryption"
            resources={"metadata": {"path": empty}},
            on_cell_start=lambda cell, cell_index: started.append(cell_index),
        )
        try:
            client.execute()
        except CellExecutionError as error:
            what = f"{error.ename}: {error.evalue}"
        except DeadKernelError:
            what = "the kernel died"
        else:
            return _with_stills(notebook)
    number, cell = started[-1] + 1, notebook.cells[started[-1]]
    first = cell.source.strip().split("\n")[0]
    raise ClassroomError(f"{path.name}: cell {number} ({cell.id}), `{first}`, failed: {what}")


def page(notebook: Any, title: str, folder: Path = NOTEBOOKS) -> str:
    """The HTML of an executed notebook, in one text that loads nothing.

    folder: where the notebook lies; its pictures are found from there.
    """
    from jinja2 import DictLoader
    from nbconvert import HTMLExporter

    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = with_pictures(cell.source)
    exporter = HTMLExporter(
        extra_loaders=[DictLoader({"handout.html.j2": TEMPLATE})],
        template_file="handout.html.j2",
        embed_images=True,
        exclude_anchor_links=True,
    )
    resources = {"metadata": {"name": title, "path": str(folder)}}
    text, _ = exporter.from_notebook_node(notebook, resources)
    return text


def _with_stills(notebook: Any) -> Any:
    """The notebook without the cell that made the stills, which take their widgets' places."""
    found = next(
        output.data[stills.MIME]
        for output in notebook.cells.pop().outputs
        if stills.MIME in output.get("data", {})
    )
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            if view := output.get("data", {}).pop(WIDGET, None):
                _replace(output, found.get(view["model_id"]))
    notebook.metadata.pop("widgets", None)
    return notebook


def _replace(output: Any, found: dict[str, str] | None) -> None:
    if found is None:
        output.data = {"text/plain": "(a control; open the notebook to use it)"}
        return
    text = html.escape(found["text"])
    picture = f'<img alt="{text}" src="data:image/png;base64,{found["png"]}">'
    output.data = {"text/html": f"<figure>{picture}<figcaption>{text}</figcaption></figure>"}


def _index(pages: Sequence[Path], banner: str) -> str:
    names = [path.stem for path in pages if path.name != "index.html"]
    rows = "".join(f'<li><a href="{n}.html">{n.replace("_", " ")}</a></li>' for n in names)
    return (
        '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Hand-outs</title>'
        f"<h1>Hand-outs</h1>{banner}<ul>{rows}</ul></html>\n"
    )
