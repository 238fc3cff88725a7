"""The cases that notebooks give for their exercises: the answer passes, each near miss fails."""

import ast
import math
import re
from pathlib import Path

import nbformat
import numpy as np
import pytest

from workbench import checks
from workbench.classroom.answers import stubs
from workbench.credit import generalised_advantages

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
USED = {"checks": checks, "np": np, "generalised_advantages": generalised_advantages}
"""What the cells below use of earlier ones."""


def solves(question, answer):
    """Whether the check in the exercise's own cell takes `answer`."""
    (path,) = [path for path in NOTEBOOKS if path.name.startswith(question[:2])]
    cells = nbformat.read(path, as_version=4).cells
    (cell,) = [c for c in cells if re.search(rf'checks\.(run|same_as)\("{question}"', c.source)]
    tree = ast.parse(cell.source)
    (stub,) = stubs(tree)
    tree.body.remove(stub)
    exec(compile(tree, question, "exec"), {**USED, stub.name: answer})
    return checks.solved[question]


def last_split(text):
    """Every third mark is taken for an end."""
    return text.split("```")[-2].partition("\n")[2].rstrip("\n") if "```\n" in text else text


def last_found(text):
    """A tag is taken for a word, and a block for one line at least."""
    return ([text] + re.findall(r"```\w*\n(.*?)\n```", text, re.DOTALL))[-1]


@pytest.mark.parametrize("answer", [last_split, last_found])
def test_a_near_miss_of_exercise_17_e_is_wrong(answer):
    assert not solves("17-e", answer)


def test_a_near_miss_of_exercise_18_h_is_wrong():
    assert not solves("18-h", lambda n, turns, s, w: math.ceil(n * turns / w) * s)
    assert solves("18-h", lambda n, turns, s, w: turns * math.ceil(n / w) * s)


@pytest.mark.parametrize(
    "question, answer",
    [
        ("10-h", lambda values, reward: np.diff([*values, reward]).tolist()),
        ("11-h", lambda scores, start, reward: np.diff([start, *scores[:-1], reward])),
        ("17-g", lambda b, a, s, G: [b * s / G, s / a]),
        ("17-h", lambda pieces: [who == "model" for who, number in pieces for _ in range(number)]),
    ],
)
def test_right_numbers_are_right_in_any_type(question, answer):
    assert solves(question, answer)
