"""Every notebook is thin, stored without outputs, and runs top to bottom."""

import ast
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

TOP = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted((TOP / "notebooks").glob("*.ipynb"))
ids = [path.stem for path in NOTEBOOKS]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=ids)
def test_a_notebook_is_stored_without_outputs_counts_or_personal_metadata(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert set(notebook.metadata) <= {"kernelspec", "language_info", "workbench"}
    for cell in notebook.cells:
        assert cell.id
        if cell.cell_type == "code":
            assert cell.outputs == [] and cell.execution_count is None and not cell.metadata


@pytest.mark.parametrize("path", NOTEBOOKS, ids=ids)
def test_the_first_cell_is_a_title_with_the_budget_that_metadata_repeats(path):
    notebook = nbformat.read(path, as_version=4)
    title = notebook.cells[0].source
    assert title.startswith(f"# {path.name[:2]} · ")
    assert "| time | hardware | needs | afterwards you can |" in title
    assert f"| {notebook.metadata['workbench']['minutes']} min |" in title


@pytest.mark.parametrize("path", NOTEBOOKS, ids=ids)
def test_cells_are_short_and_imports_come_from_the_package(path):
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type != "code":
            continue
        lines = cell.source.splitlines()
        assert len(lines) <= 15 and max(map(len, lines), default=0) <= 80, cell.source
        assert "sys.path" not in cell.source and "import *" not in cell.source
        if not cell.source.startswith("%"):
            ast.parse(cell.source)


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=ids)
def test_a_notebook_runs_top_to_bottom_in_its_fast_size(path, tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_FAST", "1")
    monkeypatch.setenv("PYTHONPATH", str(TOP))  # the kernel works in another folder
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
    )
    client.execute()  # raises with the failing cell's text
    assert all(cell.execution_count for cell in notebook.cells if cell.cell_type == "code")
