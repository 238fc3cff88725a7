"""The code of the README and of every page is code: it compiles, what it takes from the package is
there, and a page gives every name before it uses it."""

import ast
import builtins
import dis
import re
import types
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parent.parent
PAGE = (TOP / "README.md").read_text("utf-8")


def blocks(text):
    """The Python code on a page."""
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


PAGES = {
    path.stem: blocks(path.read_text("utf-8"))
    for path in (TOP / "README.md", *sorted((TOP / "docs").glob("*.md")))
}
EVERY = [
    pytest.param(block, id=f"{page}-{number}")
    for page, code in PAGES.items()
    for number, block in enumerate(code)
]


@pytest.mark.parametrize("block", EVERY)
def test_a_block_compiles_and_its_imports_exist(block):
    tree = ast.parse(block)
    imports = [
        node
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module.partition(".")[0] == "workbench"
    ]
    names = {}
    exec(compile(ast.Module(imports, []), "page", "exec"), names)
    assert {alias.name for node in imports for alias in node.names} <= names.keys()


def names_from_nowhere(source):
    """Names that are used before a line above gave them, as the bytecode has it."""
    compiled = compile(source, "page", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    return _from_nowhere(compiled, set(dir(builtins)))


def _from_nowhere(code, given):
    missing = []
    for step in dis.get_instructions(code):
        if isinstance(step.argval, types.CodeType):
            missing += _from_nowhere(step.argval, given)
        elif step.opname == "STORE_NAME":
            given.add(step.argval)
        elif step.opname in ("LOAD_NAME", "LOAD_GLOBAL") and step.argval not in given:
            missing.append(step.argval)
    return missing


@pytest.mark.parametrize("page", PAGES)
def test_a_page_gives_every_name_before_it_uses_it(page):
    assert names_from_nowhere("".join(PAGES[page])) == []


def test_a_name_from_nowhere_is_found_also_in_a_function_and_before_its_line():
    assert names_from_nowhere("import os\nx = [os.sep, here]\nhere = 1\nprint(here)") == ["here"]
    assert names_from_nowhere("def f(a):\n    return [b + a for b in c]\nawait f(1)") == ["c"]


def test_every_command_it_shows_is_one_the_program_knows():
    from workbench.__main__ import parser

    shown = set(re.findall(r"python3 -m workbench (\w+)", PAGE))
    assert {"demo", "test", "lab"} <= shown
    for command in shown:
        assert parser().parse_args([command]).command == command


def test_both_reward_designs_can_be_made():
    names = {}
    exec(blocks(PAGE)[1], names)
    assert [part.weight for part in names["honest"].components] == [1.0, -1.0]


def test_the_row_it_shows_is_complete_and_its_reference_solves_it(sandbox, capsys):
    from workbench import load_tasks

    (block,) = (block for block in blocks(PAGE) if '"reference"' in block)
    exec(block, {"load_tasks": load_tasks, "sandbox": sandbox})
    sound, broken = capsys.readouterr().out.splitlines()
    assert "visible_pristine 2 of 2 passed, hidden 1 of 1 passed" in sound
    assert "clamp(-5, 0, 3) got -5 want 0" in broken
