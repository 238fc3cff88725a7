"""Rewards of a notebook as modules: cells are run by IPython, as a notebook's are."""

import json
import os
import pickle
import subprocess
import sys

import pytest

from workbench.adapters import save_as_module
from workbench.rewards import RewardDesign, all_pass, turn_penalty

FIRST = """
import math
import os.path as files
import math as m
from math import sqrt
from workbench.rewards import RewardDesign, all_pass, configured
from workbench.adapters import from_trl
LIMIT = 10
"""


@pytest.fixture
def cell(notebook):
    """Runs a cell's text and gives what it defines."""
    notebook(FIRST)
    return lambda text, name: notebook(text)[name]


@pytest.fixture
def path(notebook_folder):
    """Where the module goes."""
    yield notebook_folder / "saved_reward.py"
    sys.modules.pop("saved_reward", None)


def elsewhere(path, expression):
    """What an expression of the module's names is in a fresh interpreter, as JSON."""
    code = f"import json; from saved_reward import *; print(json.dumps({expression}))"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=path.parent,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def test_a_function_arrives_with_its_imports_and_helpers(cell, path):
    reward = cell(
        """
def half(x: float) -> float:
    return sqrt(x) / m.sqrt(4)

async def reward(completions: list[str], power=2, **kwargs) -> list[float]:
    "Its docstring."
    sizes = [len(text) for text in completions]
    return [math.floor(half(size ** power)) + len(files.join("a", "b")) for size in sizes]
""",
        "reward",
    )
    saved = save_as_module(reward, path)
    assert saved.__module__ == "saved_reward" and saved is not reward
    assert pickle.loads(pickle.dumps(saved)) is saved  # TRL sends it so
    text = path.read_text()
    assert "import posixpath as files" in text and text.index("def half") < text.index("def reward")
    # floor(sqrt(6 ** 2) / 2) + len("a/b")
    assert elsewhere(path, "__import__('asyncio').run(reward(['longer']))") == [6]


def test_a_design_arrives_with_its_components(cell, path):
    design = cell(
        """
def brevity(trajectory, task):
    return 1 / len(trajectory.turns)

@configured
def at_most(turns: int):
    def component(trajectory, task):
        return float(len(trajectory.turns) <= turns)
    return component

def said(completions, **kwargs):
    return [1.0]

design = RewardDesign(
    tests=(all_pass("hidden", submitted=False), 1.0),
    brevity=(brevity, 0.1),
    short=(at_most(4), 0.5),
    said=(from_trl(said, conversational=True), 1.0),
)
""",
        "design",
    )
    saved = save_as_module(design, path)
    shown = [repr(c.component) for c in saved.components]
    assert shown[0] == "all_pass('hidden', submitted=False)" and shown[2] == "at_most(4)"
    assert [c.weight for c in saved.components] == [1.0, 0.1, 0.5, 1.0]
    assert elsewhere(path, "[c.name for c in design.components]") == [
        "tests", "brevity", "short", "said",
    ]  # fmt: skip
    assert pickle.loads(pickle.dumps(saved)) == saved


def test_a_design_of_the_package_alone_needs_no_notebook(path):
    design = RewardDesign(tests=(all_pass("hidden"), 1.0), turns=(turn_penalty(3, 8), 0.5))
    assert save_as_module(design, path) == design


REFUSED = {
    "lambda": ("reward = lambda completions, **_: [1.0]", "a lambda has no name .* write `def`"),
    "closure": (
        "def make(scale):\n    def reward(completions):\n        return [scale]\n"
        "    return reward\nreward = make(2)",
        r"make.<locals>.reward is a closure over \['scale'\], .* as default values",
    ),
    "value": (
        "def reward(completions):\n    return [LIMIT]",
        "reward uses 'LIMIT', a int of the notebook, .* inside the function",
    ),
    "value of a helper": (
        "def helper():\n    return LIMIT\ndef reward(completions):\n    return [helper()]",
        "helper uses 'LIMIT', a int of the notebook",
    ),
    "default": (
        "def reward(completions, most=LIMIT):\n    return [most]",
        "reward uses 'LIMIT', a int of the notebook",
    ),
    "inner": (
        "def reward(completions):\n    return [len(c) > LIMIT for c in completions]",
        "reward uses 'LIMIT'",
    ),
    "class": (
        "class Scale:\n    by = 2\ndef reward(completions):\n    return [Scale.by]",
        "reward uses 'Scale', a type of the notebook",
    ),
    "nowhere": ("def reward(completions):\n    return [nothing_such]", "which is defined nowhere"),
    "method": (
        "class Grader:\n    def reward(self, completions):\n        return [1.0]\n"
        "reward = Grader().reward",
        "Grader.reward is a method; write a function of its own",
    ),
    "function of a class": (
        "class Grader:\n    def reward(self, completions):\n        return [1.0]\n"
        "reward = Grader.reward",
        "Grader.reward is a method",
    ),
    "object": (
        "class Grader:\n    def __call__(self, completions):\n        return [1.0]\n"
        "reward = Grader()",
        "expected a function or a RewardDesign, got an object",
    ),
    "built in": ("reward = len", "expected a function or a RewardDesign"),
    "no source": ("exec('def reward(completions): return [1.0]')", "does not know its source"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_text_cannot_carry_is_refused_with_the_reason(cell, path, name):
    text, reason = REFUSED[name]
    reward = cell(text, "reward")
    with pytest.raises(ValueError, match=reason):
        save_as_module(reward, path)
    assert not path.exists()


def test_two_functions_of_one_name_are_told(cell, path):
    text = "def part(trajectory, task):\n    return {}.0\n"
    first, second = cell(text.format(1), "part"), cell(text.format(2), "part")
    with pytest.raises(ValueError, match="part: two things have this name"):
        save_as_module(RewardDesign(a=(first, 1.0), b=(second, 1.0)), path)


def test_a_design_that_is_more_than_components_is_refused(cell, path):
    class More(RewardDesign):
        def __repr__(self):
            return super().__repr__() + ".gate()"

    with pytest.raises(ValueError, match="more than components and weights"):
        save_as_module(More(tests=(all_pass("hidden"), 1.0)), path)


GOOD = "def reward(completions):\n    return [1.0]\n"


def test_a_module_is_written_anew_but_nobody_else_s_file_is_lost(cell, path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)  # bytecode of the same second and length
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    save_as_module(cell(GOOD, "reward"), path)
    again = save_as_module(cell(GOOD.replace("1.0", "2.0"), "reward"), path)
    assert again([]) == [2.0]
    path.write_text("precious = 1\n")
    with pytest.raises(ValueError, match="is there and was not written by save_as_module"):
        save_as_module(cell(GOOD, "reward"), path)
    assert path.read_text() == "precious = 1\n"


def test_a_path_that_cannot_be_imported_is_told(cell, path, tmp_path):
    reward = cell(GOOD, "reward")
    (tmp_path / "sub").mkdir()
    with pytest.raises(ValueError, match="Python does not import from"):
        save_as_module(reward, tmp_path / "sub" / "saved_reward.py")
    with pytest.raises(ValueError, match="expected a name such as 'my_reward.py', got 'my-reward"):
        save_as_module(reward, tmp_path / "my-reward.py")
    with pytest.raises(ValueError, match="a module 'json' is imported from elsewhere"):
        save_as_module(reward, tmp_path / "json.py")


def test_what_a_fresh_interpreter_cannot_import_leaves_nothing_behind(cell, path):
    cell("state = {'here': True}\n", "state")
    reward = cell("def reward(completions, now=__import__('__main__').state):\n    return [1.0]\n",
                  "reward")  # fmt: skip
    with pytest.raises(ValueError, match="a fresh interpreter cannot import it: AttributeError"):
        save_as_module(reward, path)
    assert not path.exists()
