"""The nbgrader course: metadata as nbgrader's schema wants it, answers where it takes them out."""

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from workbench import checks
from workbench.classroom import ClassroomError, find_notebooks, make_course, make_gallery
from workbench.classroom.course import CHECKS, PICTURES, course_notebook
from workbench.commands import run as run_command

TOP = Path(__file__).resolve().parents[2]
STUB = "# YOUR CODE HERE\nraise NotImplementedError()"


def graded(notebook):
    """{grade_id: cell} of the cells that nbgrader knows."""
    return {c.metadata.nbgrader.grade_id: c for c in notebook.cells if "nbgrader" in c.metadata}


def for_students(source):
    """What nbgrader's generate_assignment leaves of a cell."""
    lines = []
    keep = True
    for line in source.split("\n"):
        if "BEGIN SOLUTION" in line:
            indent = line[: len(line) - len(line.lstrip())]
            lines += [indent + text for text in STUB.split("\n")]
        keep = keep and "BEGIN SOLUTION" not in line and "BEGIN HIDDEN TESTS" not in line
        if keep:
            lines.append(line)
        keep = keep or "END SOLUTION" in line or "END HIDDEN TESTS" in line
    return "\n".join(lines)


@pytest.mark.parametrize("path", find_notebooks(), ids=lambda path: path.stem)
def test_every_notebook_s_metadata_follows_the_schema(path):
    """nbgraderformat/v3.json of nbgrader 0.9, and what its validator adds to that."""
    notebook = course_notebook(path)
    nbformat.validate(notebook)
    cells = graded(notebook)
    assert len(cells) == sum("nbgrader" in cell.metadata for cell in notebook.cells)
    for grade_id, cell in cells.items():
        meta = dict(cell.metadata.nbgrader)
        assert re.fullmatch(r"[a-zA-Z0-9_\-]+", grade_id) and meta.pop("grade_id") == grade_id
        assert meta.pop("schema_version") == 3
        assert (meta["grade"] and meta.pop("points") > 0) or "points" not in meta
        assert set(meta) == {"grade", "locked", "solution", "task"}
        assert all(type(value) is bool for value in meta.values()) and not meta["task"]
        assert meta["locked"] != meta["solution"] and not (meta["grade"] and meta["solution"])
        assert ("BEGIN SOLUTION" in cell.source) is meta["solution"]
        assert ("checks.require(" in cell.source) is meta["grade"]
        assert cell.cell_type == "code"


def test_an_exercise_becomes_an_answer_and_a_locked_check_with_points(folder):
    cells = graded(course_notebook(folder / "00_small.ipynb"))
    assert list(cells) == [
        "given-imports", "given-wait", "answer-00-e", "check-00-e", "answer-00-d", "check-00-d",
        "given-results",
    ]  # fmt: skip
    assert cells["answer-00-e"].source == (
        'def teaches(rewards):\n    """Whether it does."""\n    ### BEGIN SOLUTION\n'
        "    return max(rewards) != min(rewards)\n    ### END SOLUTION"
    )
    check = cells["check-00-e"]
    assert check.source.startswith("# both kinds\nchecks.run(")
    assert check.source.endswith('checks.require("00-e")\n### END HIDDEN TESTS')
    assert check.metadata.nbgrader.points == 1 and cells["check-00-d"].metadata.nbgrader.points == 2


def test_what_an_answer_uses_moves_into_it_and_nothing_of_it_is_left_for_students(folder):
    source = graded(course_notebook(folder / "00_small.ipynb"))["answer-00-d"].source
    space = {}
    exec(source, space)
    assert space["half"](3) == 1.5 and set(space) == {"half", "__builtins__"}
    left = for_students(source)
    assert left == "def half(x):\n    # YOUR CODE HERE\n    raise NotImplementedError()"
    exec(left, space)
    with pytest.raises(NotImplementedError):
        space["half"](3)


@pytest.mark.parametrize(
    "change, words",
    [
        (("def half(x)", "def third(x)"), "has no answer to the exercise `half`"),
        (("def half(x)", "def half(x, y=1)"), "`half` takes other arguments than its stub"),
        (("def half(x):\n", "def half(x): return 2\ndef other(x):\n"), "write its body on lines"),
        (("def half(x):\n", "def half(x):\n    'Text.'\n\ndef b(x):\n"), "but a docstring"),
        (("import math", "import math:"), "00_small.py: cannot be read"),
    ],
)
def test_an_exercise_without_a_fitting_answer_is_refused(change, words, folder, tmp_path):
    answers = folder / "solutions" / "00_small.py"
    answers.write_text(answers.read_text().replace(*change))
    with pytest.raises(ClassroomError, match=words):
        make_course(tmp_path / "course", folder=folder)
    assert not (tmp_path / "course").exists()


def test_an_answer_that_cannot_be_moved_is_refused(folder):
    answers = folder / "solutions" / "00_small.py"
    text = answers.read_text().replace("import math\n", "from __future__ import annotations\n", 1)
    answers.write_text(text.replace("math.isnan(x)", "annotations"))
    with pytest.raises(ClassroomError, match="filled in, it is not Python"):
        course_notebook(folder / "00_small.ipynb")


def test_texts_of_several_lines_in_an_answer_stay_as_they_are(folder, write_notebook):
    write_notebook(
        folder / "00_small.ipynb",
        [("code", "one", 'def told(x):\n  raise NotImplementedError\n\nchecks.run("00-d", told)')],
    )
    (folder / "solutions" / "00_small.py").write_text(
        'START = """a\n  b"""\n\n\ndef told(x):\n    text = f"""{x}\n    c\n"""\n'
        "# a remark\n    if x:\n        return START + text\n"
    )
    source = graded(course_notebook(folder / "00_small.ipynb"))["answer-00-d"].source
    space = {}
    exec(source, space)
    assert space["told"](7) == "a\n  b7\n    c\n"
    assert source.endswith("\n# a remark\n  if x:\n      return START + text\n  ### END SOLUTION")


@pytest.mark.parametrize(
    "source, words",
    [
        ("%matplotlib inline", "00_small.ipynb: cell one: is not Python (invalid syntax"),
        ("!ls", "write %magic and !command as get_ipython()"),
        ("%%time\nx = 1", "cell one: is not Python"),
        ("def half(x): raise NotImplementedError", "`half`: write its body on lines of its own"),
    ],
)
def test_cells_that_cannot_be_read_are_named(source, words, folder, write_notebook):
    write_notebook(folder / "00_small.ipynb", [("code", "one", source)])
    with pytest.raises(ClassroomError, match=re.escape(words)):
        course_notebook(folder / "00_small.ipynb")


def test_a_file_that_is_no_notebook_and_a_folder_that_is_none_are_told(folder, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ClassroomError, match="cannot be made"):
        make_course(tmp_path / "file" / "course", folder=folder)
    with pytest.raises(ClassroomError, match="cannot be made"):
        make_gallery(tmp_path / "file", folder=folder)
    (folder / "00_small.ipynb").write_text("not JSON")
    for make in (make_course, make_gallery):
        with pytest.raises(ClassroomError, match="00_small.ipynb: is not a notebook"):
            make(tmp_path / make.__name__, folder=folder)
    nbformat.write(nbformat.v4.new_notebook(), folder / "00_small.ipynb")
    with pytest.raises(ClassroomError, match="00_small.ipynb: has no cells"):
        make_gallery(tmp_path / "gallery", folder=folder)


def test_an_exercise_without_points_is_refused(folder, tmp_path, write_notebook):
    cells = [("code", "one", 'checks.run("00-zz", abs, [])')]
    write_notebook(folder / "01_other.ipynb", cells)
    with pytest.raises(ClassroomError, match="00-zz: has no record in .*questions.py"):
        make_course(tmp_path / "course", folder=folder)


STUB_CELL = "def half(x):\n    raise NotImplementedError\n\n"


@pytest.mark.parametrize(
    "source, words",
    [
        (STUB_CELL + "print(1)", "cell one: after a stub, expected `checks.run"),
        (STUB_CELL + 'checks.grade_new("00-d", half)', "cell one: after a stub, expected"),
        (STUB_CELL + 'if True:\n    checks.run("00-d", half, [])', "expected a line of its own"),
        ('if True:\n    checks.run("00-d", abs, [])', "expected a line of its own"),
        (STUB_CELL + 'name = "00-d"\nchecks.run(name, half, [])', "in quotes, as the first"),
        (STUB_CELL + 'checks.run(question="00-d", attempt=half)', "in quotes, as the first"),
        ("TWO = 2\n\n" + STUB_CELL + 'checks.run("00-d", half, [])', "the stub comes first"),
        (STUB_CELL + 'checks.run("00-d", half, [])\n\n' + STUB_CELL, "the stub comes first"),
    ],
)
def test_a_check_that_would_be_lost_is_refused(source, words, folder, write_notebook):
    write_notebook(folder / "00_small.ipynb", [("code", "one", source)])
    with pytest.raises(ClassroomError, match=re.escape(words)):
        course_notebook(folder / "00_small.ipynb")


def test_every_function_that_judges_an_exercise_is_recognised():
    judging = {name for name in checks.__all__ if name.startswith("grade_")}
    assert set(CHECKS) == {"run", "same_as"} | judging


@pytest.mark.parametrize("path", find_notebooks(), ids=lambda path: path.stem)
def test_a_course_has_all_points_of_its_notebook(path, tmp_path):
    asked = [one for one in checks.QUESTIONS if one.notebook == path.name[:2]]
    worth = {path.stem: sum(one.points for one in asked)}
    assert make_course(tmp_path, [path.stem]) == worth


def test_a_course_s_notebook_finds_its_pictures(tmp_path):
    make_course(tmp_path, ["01"])
    (notebook,) = tmp_path.glob("source/01*/*.ipynb")
    shown = PICTURES.findall(notebook.read_text("utf-8"))
    assert shown and all((notebook.parent / name).stat().st_size > 1000 for name in shown)


def test_a_course_is_never_written_over(folder, tmp_path):
    assert make_course(tmp_path / "course", ["00"], folder) == {"00_small": 3}
    with pytest.raises(ClassroomError, match="00_small.ipynb: exists; remove it or choose another"):
        make_course(tmp_path / "course", folder=folder)


def test_a_course_is_not_mixed_with_what_is_none(folder, tmp_path):
    (tmp_path / "thesis.md").write_text("mine")
    with pytest.raises(ClassroomError, match="expected a new folder or a course, found other"):
        make_course(tmp_path, ["00"], folder)
    assert not (tmp_path / "source").exists()


def test_a_notebook_that_is_not_there_is_told_with_those_that_are(folder):
    with pytest.raises(ClassroomError, match="there is no notebook '7'; there are 00_small"):
        find_notebooks(["7"], folder)
    assert find_notebooks(["00_small.ipynb"], folder) == find_notebooks([], folder)


def test_the_command_says_what_it_wrote(tmp_path, capsys):
    from workbench.__main__ import parser

    options = parser().parse_args(["nbgrader", str(tmp_path / "c"), "00"])
    assert run_command(options) == 0
    out = capsys.readouterr().out
    assert "source/00_watch_it_learn: 5 points" in out and "nbgrader generate_assignment" in out
    config = (tmp_path / "c" / "nbgrader_config.py").read_text()
    compile(config, "nbgrader_config.py", "exec")
    assert repr(str(TOP)) in config


WRONG = "def teaches(rewards):\n    return sum(rewards) > 5"


def submit(course, student, answers):
    """Hand in the released notebook with these answers by grade_id."""
    name = "00_small"
    notebook = json.loads((course / "release" / name / f"{name}.ipynb").read_text("utf-8"))
    for cell in notebook["cells"]:
        grade_id = cell["metadata"].get("nbgrader", {}).get("grade_id")
        cell["source"] = answers.get(grade_id, cell["source"])
    target = course / "submitted" / student / name / f"{name}.ipynb"
    target.parent.mkdir(parents=True)
    target.write_text(json.dumps(notebook), "utf-8")


@pytest.mark.slow
def test_nbgrader_takes_the_answers_out_and_grades_what_comes_back(folder, tmp_path):
    if importlib.util.find_spec("nbgrader") is None:
        pytest.skip("nbgrader is not installed here: pip install nbgrader")
    course = tmp_path / "course"
    make_course(course, folder=folder)
    environment = {**os.environ, "HOME": str(tmp_path), "IPYTHONDIR": str(tmp_path / "ipython")}
    environment |= {f"JUPYTER_{n}_DIR": str(tmp_path / n) for n in ("CONFIG", "DATA", "RUNTIME")}

    def nbgrader(command):
        line = [sys.executable, "-m", "nbgrader", command, "00_small"]
        run = subprocess.run(line, cwd=course, env=environment, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr

    nbgrader("generate_assignment")
    released = (course / "release" / "00_small" / "00_small.ipynb").read_text("utf-8")
    assert not re.search("SOLUTION|HIDDEN|min\\(rewards|halved", released)
    source = nbformat.read(course / "source" / "00_small" / "00_small.ipynb", as_version=4)
    right = {grade_id: cell.source for grade_id, cell in graded(source).items()}
    submit(course, "right", right)
    submit(course, "stub", {})
    submit(course, "wrong", right | {"answer-00-e": WRONG, "check-00-e": "pass"})
    nbgrader("autograde")

    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        found = gradebook.assignment_submissions("00_small")
        scores = {one.student.id: (one.score, one.max_score) for one in found}
    assert scores == {"right": (3, 3), "stub": (0, 3), "wrong": (2, 3)}
