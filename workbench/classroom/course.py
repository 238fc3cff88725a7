"""An nbgrader course from the notebooks: `source/NAME/NAME.ipynb` and a configuration.

Stage: outside the loop. In: a notebook and its answers in `solutions/NAME.py`; out: a notebook in
which each exercise is a solution cell (the answer between BEGIN and END SOLUTION, which nbgrader
takes out) and a locked test cell with the exercise's points. The test cell makes the notebook's
own check and, in a part that students do not get, raises unless it was right: a student's copy
runs from top to bottom. Predictions stay free and ungraded; other code is locked, so that grading
runs what was planned. nbgrader is not needed to write this. Left out: any defence against answers
that tamper with the checks.
"""

from __future__ import annotations

import ast
import copy
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from workbench.checks import QUESTIONS
from workbench.classroom.answers import Answers, stubs
from workbench.classroom.notebooks import (
    NOTEBOOKS,
    ClassroomError,
    find_notebooks,
    make_folder,
    read_notebook,
)

SCHEMA_VERSION = 3
"""Of nbgrader's cell metadata."""
CHECKS = ("run", "same_as", "grade_cases", "grade_design", "grade_reward", "grade_grader")
"""Functions of `checks` that judge an exercise."""

CONFIG = '''"""nbgrader's settings for this course; written by `python3 -m workbench nbgrader`."""

import os
import sys
from pathlib import Path

c = get_config()  # noqa: F821  (nbgrader gives it)
c.CourseDirectory.course_id = "rl-workbench"
# Grading runs each notebook in its fast size; kernels inherit this.
os.environ.setdefault("WORKBENCH_FAST", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
# nbgrader starts `alembic` by its name, also where the environment was not activated.
os.environ["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
# Kernels work in another folder and must find the workbench if it was not installed.
os.environ["PYTHONPATH"] = os.pathsep.join(
    filter(None, ({top!r}, os.environ.get("PYTHONPATH", "")))
)
c.ExecutePreprocessor.timeout = 600  # seconds a cell
'''


PICTURES = re.compile(r"\]\((pictures/[\w./-]+)\)")
"""A notebook's own picture in its text: ![what it shows](pictures/NAME.png)."""


def make_course(
    out: str | Path, names: Sequence[str] = (), folder: Path = NOTEBOOKS
) -> dict[str, float]:
    """Write an nbgrader course to `out`; returns the points of each assignment.

    Raises ClassroomError if a file is there already or cannot be written, the folder holds
    something that is no course, or an exercise has no answer, no points or no check that is
    recognised.
    """
    import nbformat  # part of the test extra

    out, points = Path(out), {}
    config = out / "nbgrader_config.py"
    if not config.exists() and out.is_dir() and any(out.iterdir()):
        raise ClassroomError(f"{out}: expected a new folder or a course, found other files in it")
    courses = {path: course_notebook(path) for path in find_notebooks(names, folder)}
    targets = {path: out / "source" / path.stem / path.name for path in courses}
    if there := [str(target) for target in targets.values() if target.exists()]:
        raise ClassroomError(f"{', '.join(there)}: exists; remove it or choose another folder")
    for path, notebook in courses.items():
        make_folder(targets[path].parent)
        nbformat.write(notebook, targets[path])
        _copy_pictures(path, targets[path].parent)
        points[path.stem] = sum(
            cell.metadata.get("nbgrader", {}).get("points", 0) for cell in notebook.cells
        )
    if not config.exists():
        config.write_text(CONFIG.replace("{top!r}", repr(str(NOTEBOOKS.parent))), "utf-8")
    return points


def _copy_pictures(path: Path, target: Path) -> None:
    """Copy the pictures that the notebook's text shows, as PICTURES says they lie."""
    for name in sorted(set(PICTURES.findall(path.read_text("utf-8")))):
        make_folder((target / name).parent)
        shutil.copyfile(path.parent / name, target / name)


def course_notebook(path: Path) -> Any:
    """The notebook at `path` with nbgrader's metadata, exercises split and answers filled in."""
    notebook = read_notebook(path)
    answers = Answers.of(path.parent / "solutions" / f"{path.stem}.py")
    try:
        notebook.cells = [new for cell in notebook.cells for new in _course_cells(cell, answers)]
    except ClassroomError as error:
        raise ClassroomError(f"{path.name}: {error}")
    grade_ids = [c.metadata.nbgrader.grade_id for c in notebook.cells if "nbgrader" in c.metadata]
    if doubled := {one for one in grade_ids if grade_ids.count(one) > 1}:
        raise ClassroomError(f"{path.name}: checked twice: {sorted(doubled)}")
    return notebook


def _course_cells(cell: Any, answers: Answers) -> Iterator[Any]:
    """What one cell becomes: itself, or a solution cell, a test cell, or both."""
    if cell.cell_type != "code":
        yield cell
        return
    tree = _parsed(cell)
    found, asked = stubs(tree), checked(tree)
    if not found and not asked:
        given = f"given-{cell.id}"
        yield cell if _is_prediction(tree) else _marked(cell, given, cell.source, locked=True)
        return
    lines = cell.source.split("\n")
    end = max((stub.end_lineno for stub in found), default=0)
    if tree.body[: len(found)] != found:
        raise ClassroomError(f"cell {cell.id}: the stub comes first, its check after it")
    if "".join(lines[end:]).strip() and not asked:
        raise ClassroomError(f"cell {cell.id}: after a stub, expected `checks.run(...)` or its kin")
    name = asked[0] if asked else cell.id
    if found:
        answer = answers.fill("\n".join(lines[:end]))
        yield _marked(cell, f"answer-{name}", answer, solution=True)
    if asked:
        rest = "\n".join(lines[end:]).strip("\n")
        yield _marked(
            cell, f"check-{name}", rest + "\n" + _raising(asked), locked=True, points=_points(asked)
        )


def _parsed(cell: Any) -> ast.Module:
    # cells may `await`, which only this flag lets through
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT | ast.PyCF_ONLY_AST
    try:
        return compile(cell.source, cell.id, "exec", flags)
    except (SyntaxError, ValueError) as error:
        raise ClassroomError(
            f"cell {cell.id}: is not Python ({error}); write %magic and !command as "
            "get_ipython().run_line_magic(...) and .system(...)"
        )


def checked(tree: ast.Module) -> list[str]:
    """The exercises that a cell checks, in order.

    Raises ClassroomError if a check is not a statement of its own with the exercise's name first.
    """
    plain = {id(node.value) for node in tree.body if isinstance(node, ast.Expr)}
    names = []
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call) or _called(call) not in CHECKS:
            continue
        first = call.args[0] if call.args else None
        if id(call) not in plain or not isinstance(first, ast.Constant):
            raise ClassroomError(
                f"`{ast.unparse(call):.60}`: expected a line of its own and the exercise's name, "
                f'in quotes, as the first argument: checks.{_called(call)}("00-d", ...)'
            )
        names.append(first.value)
    return names


def _called(call: ast.Call) -> str:
    """NAME, if the call is `checks.NAME(...)`; else ""."""
    of_checks = isinstance(call.func, ast.Attribute) and (
        isinstance(call.func.value, ast.Name) and call.func.value.id == "checks"
    )
    return call.func.attr if of_checks else ""


def _is_prediction(tree: ast.Module) -> bool:
    return any(_called(node) == "predict" for node in ast.walk(tree) if isinstance(node, ast.Call))


def _raising(asked: list[str]) -> str:
    """The lines that raise unless the checks were right; nbgrader hides them from students."""
    lines = [f'checks.require("{question}")' for question in asked]
    return "\n".join(["### BEGIN HIDDEN TESTS", *lines, "### END HIDDEN TESTS"])


def _points(asked: list[str]) -> float:
    known = {one.id: one.points for one in QUESTIONS if one.kind == "exercise"}
    if missing := [question for question in asked if question not in known]:
        raise ClassroomError(f"{missing[0]}: has no record in workbench/checks/questions.py")
    return sum(known[question] for question in asked)


def _marked(
    cell: Any,
    grade_id: str,
    source: str,
    *,
    solution: bool = False,
    locked: bool = False,
    points: float | None = None,
) -> Any:
    """A copy of a cell with another text and nbgrader's metadata; graded if it has points."""
    new = copy.deepcopy(cell)
    new.source, new.id = source, grade_id
    new.metadata["nbgrader"] = {
        "schema_version": SCHEMA_VERSION,
        "grade": points is not None,
        "grade_id": grade_id,
        "locked": locked,
        "solution": solution,
        "task": False,
        **({} if points is None else {"points": points}),
    }
    return new
