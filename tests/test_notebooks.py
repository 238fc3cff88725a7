"""Every notebook is thin, stored without outputs, and runs top to bottom."""

import ast
import json
import re
import runpy
import textwrap
from dataclasses import replace
from difflib import SequenceMatcher
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from workbench.checks import QUESTIONS
from workbench.classroom.answers import stubs
from workbench.classroom.course import course_notebook

TOP = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted((TOP / "notebooks").glob("*.ipynb"))
ids = [path.stem for path in NOTEBOOKS]


def code_of(notebook):
    """Its code cells."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def parsed(cell):
    """Its syntax tree; cells may `await`."""
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT | ast.PyCF_ONLY_AST
    return compile(cell.source, cell.id, "exec", flags)


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
    for cell in code_of(nbformat.read(path, as_version=4)):
        lines = cell.source.splitlines()
        assert len(lines) <= 15 and max(map(len, lines), default=0) <= 80, cell.source
        assert "sys.path" not in cell.source and "import *" not in cell.source
        compile(cell.source, cell.id, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=ids)
def test_pip_is_called_in_a_first_cell_for_colab_alone_and_nowhere_else(path):
    for number, cell in enumerate(code_of(nbformat.read(path, as_version=4))):
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


@pytest.mark.parametrize("path", NOTEBOOKS, ids=ids)
def test_what_an_exercise_asks_for_is_used_in_its_own_cell_alone(path):
    """Who skips an exercise gets to the end: below, cells after an answer run with the answer."""
    trees = [parsed(cell) for cell in code_of(nbformat.read(path, as_version=4))]
    for tree in trees:
        asked = {stub.name for stub in stubs(tree)}
        others = [node for other in trees if other is not tree for node in ast.walk(other)]
        used = {node.id for node in others if isinstance(node, ast.Name)}
        assert not asked & used


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=ids)
def test_a_notebook_runs_top_to_bottom_and_its_answers_make_every_check_right(
    path, tmp_path, monkeypatch
):
    """In its fast size; each exercise as it is given, then answered and followed by `require`."""
    monkeypatch.setenv("WORKBENCH_FAST", "1")
    monkeypatch.setenv("PYTHONPATH", str(TOP))  # the kernel works in another folder
    notebook, answered = nbformat.read(path, as_version=4), course_notebook(path)
    asked = re.findall(r"checks\.require", "".join(cell.source for cell in answered.cells))
    assert len(asked) == sum(one.points > 0 for one in QUESTIONS if one.notebook == path.name[:2])
    notebook.cells = in_turn(code_of(notebook), code_of(answered))
    NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
    ).execute()  # raises with the failing cell's text
    assert all(cell.execution_count for cell in notebook.cells)


def in_turn(given, answered):
    """The cells of both, what is equal once: where they differ, the given ones come first."""
    texts = [[cell.source for cell in cells] for cells in (given, answered)]
    blocks = SequenceMatcher(None, *texts, autojunk=False).get_opcodes()
    return [
        cell
        for word, i, j, m, n in blocks
        for cell in given[i:j] + (answered[m:n] if word != "equal" else [])
    ]


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

FULL_SIZE = """
import os

os.environ["WORKBENCH_FAST"] = "0"
{}
os.environ["WORKBENCH_FAST"] = "1"
"""
"""A cell in its full size where the others are in their fast one."""
BEGINS = re.compile(r"R(L|FT)Config\(|replace\(DAPO|\btrain\(|compare\(")
"""What makes the settings of a run, or begins it."""


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=ids)
def test_a_notebook_begins_its_full_size_and_can_be_stopped(path, tmp_path, monkeypatch):
    """What the fast size does not see: full-size settings that `train` refuses, say."""
    monkeypatch.setenv("WORKBENCH_FAST", "1")
    monkeypatch.setenv("PYTHONPATH", str(TOP))
    notebook = nbformat.read(path, as_version=4)
    text = "".join(cell.source for cell in code_of(notebook) if BEGINS.search(cell.source))
    notebook.cells = list(begun_and_stopped(code_of(notebook)))
    resources = {"metadata": {"path": tmp_path}}
    NotebookClient(notebook, timeout=600, kernel_name="python3", resources=resources).execute()
    outputs = [str(output) for cell in notebook.cells for output in cell.outputs]
    assert any("the run has stopped" in output for output in outputs)
    begun = settings_of_runs(tmp_path)
    asked = {(name, int(size)) for name, size in re.findall(r"(\w+) ?= ?budget\((\d+)", text)}
    asked = {(name, size) for name, size in asked if name in dict(begun)}
    assert "iterations" in dict(asked) and asked <= begun


def begun_and_stopped(cells):
    """The cells, runs and their settings in full size; each run is stopped when it has begun."""
    for cell in cells:
        source = cell.source
        if left := LEFT.search(source):
            source = source.replace("on_progress=tell", "on_progress=begun")
            source = source.replace("training.wait()", "training.stop()\n    raise Begun")
            source = BEGUN.format(textwrap.indent(source, "    "))
        if source.endswith("trainer.train();"):
            source = ONE_ITERATION + source
        if BEGINS.search(source):
            source = FULL_SIZE.format(source)
        if "run = train(" in source:
            source += "run.stop()"
        yield nbformat.v4.new_code_cell(source)
        if left:
            return


def settings_of_runs(folder):
    """{(name, value)} of the whole numbers that the runs below a folder were begun with."""
    files = [json.loads(file.read_text("utf-8")) for file in folder.rglob("config.json")]
    configs = [file["config"] for file in files if "config" in file]  # others are of models
    parts = [part for config in configs for part in (config, config["rft"], config["rl"])]
    return {pair for part in parts for pair in part.items() if isinstance(pair[1], int)}


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
