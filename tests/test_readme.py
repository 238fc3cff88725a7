"""The code of the README and of every page is code: it compiles, and what it takes from the package
is there."""

import ast
import re
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parent.parent
PAGE = (TOP / "README.md").read_text("utf-8")


def blocks(text):
    """The Python code on a page."""
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


EVERY = [
    pytest.param(block, id=f"{path.stem}-{number}")
    for path in (TOP / "README.md", *sorted((TOP / "docs").glob("*.md")))
    for number, block in enumerate(blocks(path.read_text("utf-8")))
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
