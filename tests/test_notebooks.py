"""Every notebook is thin, stored without outputs, and runs top to bottom."""

import ast
import re
import runpy
import textwrap
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from workbench.checks import QUESTIONS
from workbench.classroom.course import course_notebook

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
        compile(cell.source, cell.id, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=ids)
def test_pip_is_called_in_a_first_cell_for_colab_alone_and_nowhere_else(path):
    cells = [c for c in nbformat.read(path, as_version=4).cells if c.cell_type == "code"]
    for number, cell in enumerate(cells):
        if number == 0 and "google.colab" in cell.source:
            imported, guard = ast.parse(cell.source).body
            assert ast.unparse(imported) == "import sys"
            assert ast.unparse(guard.test) == "'google.colab' in sys.modules" and not guard.orelse
            (install,) = guard.body
            assert ast.unparse(install).startswith("get_ipython().run_line_magic('pip', 'install ")
        else:
            for word in ("google.colab", "pip", "get_ipython", "subprocess"):
                assert not re.search(rf"\b{word}\b", cell.source), cell.source


@pytest.mark.parametrize("path", NOTEBOOKS, ids=ids)
def test_every_recall_question_has_an_answer_that_is_not_in_the_notebook(path):
    cells = nbformat.read(path, as_version=4).cells
    (last,) = (cell.source for cell in cells if "## Recall" in cell.source)
    questions = re.findall(r"^\d+\. ", last, re.MULTILINE)
    recall = runpy.run_path(str(TOP / "notebooks" / "solutions" / f"{path.stem}.py"))["RECALL"]
    assert len(questions) == len(recall) >= 3
    assert f"`RECALL` of `solutions/{path.stem}.py`" in last


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=ids)
def test_the_answers_make_every_check_of_a_notebook_right(path, tmp_path, monkeypatch):
    """The notebook with its answers filled in, each check followed by `checks.require`."""
    monkeypatch.setenv("WORKBENCH_FAST", "1")
    monkeypatch.setenv("PYTHONPATH", str(TOP))
    notebook = course_notebook(path)
    asked = re.findall(r"checks\.require", "".join(cell.source for cell in notebook.cells))
    assert len(asked) == sum(one.points > 0 for one in QUESTIONS if one.notebook == path.name[:2])
    resources = {"metadata": {"path": tmp_path}}
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources=resources).execute()


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


BEGUN = """
class Begun(Exception):
    pass

def begun(progress):
    if "/" in "".join(progress.running.values()):
        raise Begun

try:
{}
except Begun:
    print("the run has stopped")
"""
"""A cell that compares arms, left as soon as one of them has finished an iteration; or one that
trains several times by a function of its own, left when the first training has begun."""
LEFT = re.compile(r"compare\(arms|^    training = train\(", re.MULTILINE)

ONE_ITERATION = """
from transformers import TrainerCallback

class OneIteration(TrainerCallback):
    def on_step_end(self, args, state, control, **_):
        if state.global_step == args.steps_per_generation:
            control.should_training_stop = True
            print("the run has stopped")

trainer.add_callback(OneIteration())
"""
"""Before a cell that trains through TRL: it stops after one generation batch."""


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=ids)
def test_a_notebook_begins_its_full_size_and_can_be_stopped(path, tmp_path, monkeypatch):
    """What the fast size does not see: full-size settings that `train` refuses, say."""
    monkeypatch.delenv("WORKBENCH_FAST", raising=False)
    monkeypatch.setenv("PYTHONPATH", str(TOP))
    notebook = nbformat.read(path, as_version=4)
    places = [i for i, cell in enumerate(notebook.cells) if "run = train(" in cell.source]
    for place in reversed(places):
        notebook.cells.insert(place + 1, nbformat.v4.new_code_cell("run.stop()"))
    compared = [i for i, cell in enumerate(notebook.cells) if LEFT.search(cell.source)]
    for place in compared[:1]:
        cell = notebook.cells[place]
        source = cell.source.replace("on_progress=tell", "on_progress=begun")
        source = source.replace("training.wait()", "training.stop()\n    raise Begun")
        cell.source = BEGUN.format(textwrap.indent(source, "    "))
        del notebook.cells[place + 1 :]
    through_trl = [c for c in notebook.cells if c.source.endswith("trainer.train();")]
    for cell in through_trl:
        place = notebook.cells.index(cell)
        notebook.cells.insert(place, nbformat.v4.new_code_cell(ONE_ITERATION))
    assert places or compared or through_trl
    resources = {"metadata": {"path": tmp_path}}
    NotebookClient(notebook, timeout=600, kernel_name="python3", resources=resources).execute()
    outputs = [str(output) for cell in notebook.cells for output in cell.get("outputs", [])]
    assert any("the run has stopped" in output for output in outputs)


def test_the_answers_to_notebook_00_are_right(sandbox):
    from workbench import evaluate, load_tasks
    from workbench.policies import ScriptedPolicy

    answers = runpy.run_path(str(TOP / "notebooks" / "solutions" / "00_watch_it_learn.py"))
    tasks = load_tasks("bugfix", split="dev", count=2)
    found = evaluate(ScriptedPolicy(["ls", "submit"]), tasks, sandbox)
    assert answers["solve_rate"](found.groups) == found.solve_rate.estimate == 0.0
    assert [answers["teaches"](r) for r in ([0, 0], [1, 1], [0, 1])] == [False, False, True]
    untouched = found.groups[0].trajectories[0]
    fixed = replace(untouched, final_files={**tasks[0].files, **tasks[0].reference})
    assert answers["restored"](fixed, tasks[0]) and not answers["restored"](untouched, tasks[0])
