"""Hand-outs: whole in one file, widgets as pictures, a failing cell named."""

import shutil
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest

from tests.slow_cases import slow
from workbench.classroom import ClassroomError, gallery, make_gallery
from workbench.classroom.formulas import with_pictures

TOP = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((TOP / "notebooks").glob("*.ipynb"))
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, BROWSERS)), None)
WIDGET_CELL = """
from workbench.widgets import LiveCurve
class Run:
    done = True
    metrics = [dict(kind="iteration", stage="rl", iteration=i, num_iterations=2,
                    num_rollouts=8, solved_share=0.5) for i in range(2)]
curve = LiveCurve(Run())
curve
"""


class Loads(HTMLParser):
    """What a page would load when it is opened, and its scripts."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if tag in ("script", "iframe", "object", "embed", "base"):
            self.found.append((tag, values.get("src", "")))
        address = values.get("src") or (values.get("href") if tag == "link" else None)
        if address and not address.startswith("data:"):
            self.found.append((tag, address))


@pytest.fixture
def kernels_find_us(monkeypatch):
    """Kernels work in another folder."""
    monkeypatch.setenv("PYTHONPATH", str(TOP))


@pytest.mark.parametrize("path", slow(NOTEBOOKS[1:], NOTEBOOKS), ids=lambda path: path.stem)
def test_a_page_loads_nothing_and_runs_nothing(path):
    text = gallery.page(nbformat.read(path, as_version=4), path.stem)
    assert Loads(text).found == []
    assert "@import" not in text and "url(http" not in text
    assert f"<title>{path.stem}</title>" in text
    assert "my_guess" in text and "## " not in text


def test_a_picture_of_a_notebook_is_inside_its_page(tmp_path):
    cell = nbformat.v4.new_markdown_cell("![a curve](curve.png)")
    (tmp_path / "curve.png").write_bytes(b"png")
    notebook = nbformat.v4.new_notebook(cells=[cell])
    assert "base64,cG5n" in gallery.page(notebook, "01", tmp_path)


def test_formulas_become_pictures_and_code_stays():
    text = with_pictures("Let $x^2$ be\n$$\\sum_i x_i$$\nand `$y$`, 5 $ or $6.\n```\n$z$\n```")
    assert text.count("<img") == 2 and 'alt="x^2"' in text and 'alt="\\sum_i x_i"' in text
    assert "`$y$`, 5 $ or $6." in text and "```\n$z$\n```" in text
    assert with_pictures("$\\begin{cases} 1 \\end{cases}$").startswith("$\\begin")


@pytest.mark.slow
@pytest.mark.parametrize("fast", ["1", "0"])
def test_a_hand_out_of_tiny_runs_says_so_at_its_top(
    fast, folder, tmp_path, kernels_find_us, monkeypatch
):
    monkeypatch.setenv("WORKBENCH_FAST", fast)
    for path in make_gallery(tmp_path / "out", folder=folder, tell=lambda text: None):
        text = path.read_text("utf-8")
        assert text.count('role="note"') == (fast == "1")
    assert "<title>00 · Small</title>" in (tmp_path / "out" / "00_small.html").read_text("utf-8")


@pytest.mark.slow
def test_a_hand_out_shows_outputs_and_widgets_as_pictures(
    folder, tmp_path, write_notebook, kernels_find_us
):
    cells = [
        ("markdown", "title", "# 01 · Curve\nIt has $x^2$."),
        ("code", "curve", WIDGET_CELL),
        ("code", "slider", "import ipywidgets\nipywidgets.IntSlider()"),
        (
            "code",
            "late",
            "curve.run.metrics.append(curve.run.metrics[-1] | {'solved_share': 0.75})\n"
            "curve.refresh()",
        ),
    ]
    write_notebook(folder / "01_curve.ipynb", cells)
    made = make_gallery(tmp_path / "out", folder=folder, tell=lambda text: None)
    assert [path.name for path in made] == ["00_small.html", "01_curve.html", "index.html"]
    small, curve, index = (path.read_text("utf-8") for path in made)
    assert "no guess yet" in small and "not attempted yet" in small
    assert (
        "solved 75.0% of its 8 attempts</figcaption>" in curve and "data:image/png;base64," in curve
    )
    assert "(a control; open the notebook to use it)" in curve
    assert 'href="01_curve.html"' in index
    for text in (small, curve, index):
        assert Loads(text).found == []
        assert "widget-view" not in text and gallery.stills.CELL not in text


@pytest.mark.slow
def test_a_cell_that_fails_is_named(folder, tmp_path, write_notebook, kernels_find_us):
    cells = [("markdown", "title", "# 01 · Bad"), ("code", "boom", "x = 1\nx / 0")]
    write_notebook(folder / "01_bad.ipynb", cells)
    words = r"01_bad.ipynb: cell 2 \(boom\), `x = 1`, failed: ZeroDivisionError: division by zero"
    with pytest.raises(ClassroomError, match=words):
        make_gallery(tmp_path / "out", ["01"], folder, tell=lambda text: None)


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: apt-get install chromium")
def test_a_browser_asks_for_nothing_but_the_file(tmp_path):
    from playwright.sync_api import sync_playwright

    path = TOP / "notebooks" / "00_watch_it_learn.ipynb"
    target = tmp_path / "page.html"
    target.write_text(gallery.page(nbformat.read(path, as_version=4), "00"), "utf-8")
    asked = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        opened = browser.new_page()
        opened.on("request", lambda request: asked.append(request.url))
        opened.goto(target.as_uri())
        assert "Watch it learn" in opened.locator("h1").first.text_content()
        browser.close()
    assert [url for url in asked if not url.startswith("data:")] == [target.as_uri()]
