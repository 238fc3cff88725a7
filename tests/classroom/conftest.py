"""A notebook of a few cells, with its answers, in a folder of its own."""

import nbformat
import pytest

CELLS = [
    ("markdown", "title", "# 00 · Small\nWith $\\frac{1}{2}$, and `$code$`."),
    ("code", "imports", "from workbench import checks"),
    ("code", "guess", 'my_guess = None\nchecks.predict("00-a", my_guess)'),
    ("code", "wait", "import asyncio\nawait asyncio.sleep(0)"),
    (
        "code",
        "ex-1",
        'def teaches(rewards):\n    """Whether it does."""\n    raise NotImplementedError\n\n'
        "# both kinds\n"
        'checks.run("00-e", teaches, [(([1.0, 1.0],), False), (([0.0, 1.0],), True)])',
    ),
    (
        "code",
        "ex-2",
        "def half(x):\n    raise NotImplementedError\n\n"
        'checks.same_as("00-d", half, lambda x: x / 2, lambda rng: (rng.normal(),))',
    ),
    ("code", "results", "checks.results()"),
]
ANSWERS = '''"""Answers."""

import math

TWO = 2


def halved(x):
    return x / TWO


def teaches(rewards):
    """00-e. Said in the end."""
    return max(rewards) != min(rewards)


def half(x):
    if math.isnan(x):
        return x

    return halved(x)
'''


@pytest.fixture
def folder(tmp_path):
    """The folder of the notebook `00_small` and its `solutions`."""
    made = tmp_path / "notebooks"
    (made / "solutions").mkdir(parents=True)
    (made / "solutions" / "00_small.py").write_text(ANSWERS)
    write(made / "00_small.ipynb", CELLS)
    return made


def write(path, cells):
    """Write (kind, id, text) cells as a notebook to `path`."""
    make = {"markdown": nbformat.v4.new_markdown_cell, "code": nbformat.v4.new_code_cell}
    notebook = nbformat.v4.new_notebook(cells=[make[kind](text, id=i) for kind, i, text in cells])
    notebook.metadata["kernelspec"] = {
        "name": "python3", "language": "python", "display_name": "Python 3"
    }  # fmt: skip
    nbformat.write(notebook, path)


@pytest.fixture
def write_notebook():
    """The function that writes a notebook."""
    return write
