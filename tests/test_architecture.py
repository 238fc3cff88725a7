"""The code is held to the table in docs/architecture.md."""

import ast
import functools
import re
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parent.parent
PACKAGE = TOP / "workbench"
HEAVY = {"torch", "transformers", "trl", "peft", "accelerate", "datasets", "ray", "docker", "vllm"}
HEAVY |= {"verifiers", "gymnasium"}
LONG_ON_PURPOSE = {
    "improve_by_rl",  # the loop, to be read from top to bottom
}
MODULES = sorted(PACKAGE.rglob("*.py"))


def room_of(path):
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


@functools.cache
def table():
    """{room: (rooms its row names, heavy packages its row names)} from docs/architecture.md."""
    rows = {}
    for line in (TOP / "docs" / "architecture.md").read_text("utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) == 4 and re.fullmatch(r"`\w+`", cells[0]):
            allowed = set(re.findall(r"`(\w+)`", cells[2]))
            rows[cells[0].strip("`")] = allowed, set(re.findall(r"\w+", cells[3]))
    return rows


def closure(room, rows):
    reached, todo = set(), [room]
    while todo:
        for other in rows[todo.pop()][0] - reached:
            reached.add(other)
            todo.append(other)
    return reached


@pytest.fixture(scope="module", params=MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def module(request):
    """A module's path and its code, parsed once for all tests of it."""
    return request.param, parsed(request.param)


def parsed(path):
    return ast.parse(path.read_text("utf-8"))


def imports(path, tree):
    """Dotted names of everything the module imports, at any depth of the code."""
    package = ("workbench", *path.relative_to(PACKAGE).parent.parts)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = list(package[: len(package) + 1 - node.level]) if node.level else []
            base += [node.module] if node.module else []
            # `from workbench import records` names a room only in the alias
            yield from (".".join([*base, alias.name]) for alias in node.names)


def test_every_room_has_a_row_and_every_row_a_room():
    found = {room_of(path) for path in MODULES} - {"__init__"}
    assert found == set(table())


def test_a_room_imports_only_what_its_row_allows(module):
    (path, tree), rows = module, table()
    room = room_of(path)
    if room == "__init__":
        return  # loads rooms by name, when asked
    allowed = closure(room, rows) | {room}
    for name in imports(path, tree):
        parts = name.split(".")
        if parts[0] == "workbench" and len(parts) > 1 and parts[1] in rows:
            assert parts[1] in allowed, f"{path.name} may not import {parts[1]}"
        assert parts[0] not in HEAVY or parts[0] in rows[room][1], f"{path.name} imports {name}"


def test_the_directions_have_no_cycle():
    rows = table()
    assert not [room for room in rows if room in closure(room, rows)]


def test_the_environment_can_be_made_with_the_standard_library_alone():
    for name in ("__init__", "__main__", "bootstrap"):
        path = PACKAGE / f"{name}.py"
        for imported in imports(path, parsed(path)):
            first = imported.split(".")[0]
            assert first == "workbench" or first in sys.stdlib_module_names, (name, imported)


LIGHT = ("", ".rewards", ".credit", ".plots", ".widgets", ".runlog", ".stats", ".records")
LIGHT += (".checks",)


def test_the_reading_rooms_work_without_torch():
    code = "import sys\n"
    code += "".join(f"sys.modules[{name!r}] = None\n" for name in sorted(HEAVY))
    code += "".join(f"import workbench{room}\n" for room in LIGHT)
    code += "import workbench; workbench.load_run, workbench.RewardDesign, workbench.budget"
    run = subprocess.run([sys.executable, "-c", code], cwd=TOP, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_a_module_says_its_stage_and_stays_readable(module):
    path, tree = module
    text = path.read_text("utf-8")
    assert ast.get_docstring(tree), f"{path}: no docstring"
    assert len(text.splitlines()) <= 300 or path.name in LONG_ON_PURPOSE
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            lines = text.splitlines()[body[0].lineno - 1 : node.end_lineno] if body else []
            code = [line for line in lines if line.strip() and line.strip()[0] != "#"]
            assert len(code) <= 40 or node.name in LONG_ON_PURPOSE, f"{node.name}: {len(code)}"


def test_public_names_are_documented(module):
    path, tree = module
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            assert ast.get_docstring(node), f"{path.name}: {node.name} has no docstring"


def test_argparse_stays_at_the_command_line():
    naming = [path for path in MODULES if "argparse" in path.read_text("utf-8")]
    users = {room_of(path) for path in naming if "argparse" in imports(path, parsed(path))}
    assert users <= {"__main__", "commands"}
