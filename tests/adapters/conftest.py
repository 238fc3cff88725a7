"""Rollouts of two suites, graded once by our own loop: what every adapter must agree with."""

import sys
import types
from dataclasses import replace

import pytest

from tests.trl_config import small_config
from workbench import load_tasks
from workbench.episodes import rollout
from workbench.policies import CausalLMPolicy, ScriptedPolicy, build_model, build_tokenizer
from workbench.policies.opening import SHIPPED
from workbench.records import Limits
from workbench.rewards import RewardDesign, all_pass, compiles, pass_fraction, tampered
from workbench.tasks.mutators import mutations

BUGFIX = load_tasks("bugfix", split="train", count=4)
HONEST = RewardDesign(tests=(all_pass("hidden"), 1.0), tampering=(tampered, -1.0))


def diff_length(trajectory, task):
    """A component of the test's own: characters of the diff, in hundreds."""
    return len(trajectory.evidence.diff) / 100


DESIGN = RewardDesign(
    tests=(all_pass("hidden"), 1.0),
    fraction=(pass_fraction("hidden"), 0.1),
    loads=(compiles, 0.3),
    length=(diff_length, -0.01),
)
"""Weights that no float holds exactly: what adds them up in another order shows."""


def mutated(body):
    """The body with one line changed by the suite's own mutators, or None."""
    lines = body.splitlines()
    for index in range(len(lines) - 1, -1, -1):
        for mutation in mutations(lines[index]):
            return "\n".join([*lines[:index], mutation.line, *lines[index + 1 :]])
    return None


def answers():
    """200 pairs (task, completion): right, wrong, broken, endless, leaving early, not to judge."""
    pairs = []
    for task in load_tasks("functions", split="dev", count=48):
        body = task.reference["solution.py"].removeprefix(task.beginning)
        pairs += [(task, body), (task, mutated(body) or "    return None")]
    for task in load_tasks("warmup"):
        pairs += [(task, task.reference["solution.py"]), (task, task.wrong[0].files["solution.py"])]
    first = load_tasks("warmup", count=1)[0]
    faulty = replace(first, task_id="warmup/faulty", test_code="raise RuntimeError('ours')\n")
    endless = replace(first, task_id="warmup/endless", limits=Limits(cpu_s=0.2))
    pairs += [(endless, "while True:\n    pass\n"), (first, "import sys\nsys.exit(0)\n")]
    pairs += [(first, "def cut_label(:\n"), (faulty, first.reference["solution.py"])]
    return pairs


@pytest.fixture(scope="session")
def rollouts(sandbox):
    """[(task, trajectory)] of `answers`, as our own loop plays and grades them."""
    return [
        (task, rollout(ScriptedPolicy([text]), task, sandbox, n=1).trajectories[0])
        for task, text in answers()
    ]


@pytest.fixture(scope="session")
def expected(rollouts):
    """One RewardBreakdown a rollout."""
    return [DESIGN.score(trajectory, task) for task, trajectory in rollouts]


@pytest.fixture
def notebook_folder(tmp_path, monkeypatch):
    """The folder a notebook lies in: the current one, from which Python imports."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


@pytest.fixture
def notebook(notebook_folder, monkeypatch):
    """Runs a cell's text as a notebook does; returns the notebook's names."""
    from IPython.core.interactiveshell import InteractiveShell

    main = types.ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", main)
    shell = InteractiveShell.instance(user_module=main)

    def run(text):
        shell.run_cell(text).raise_error()
        return shell.user_ns

    yield run
    InteractiveShell.clear_instance()


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """The shipped policy's folder; an untrained one's until there is one."""
    if (SHIPPED / "tiny").is_dir():
        return str(SHIPPED / "tiny")
    path = tmp_path_factory.mktemp("policy")
    tokenizer = build_tokenizer([task.statement for task in BUGFIX])
    CausalLMPolicy(build_model(tokenizer, layers=1), tokenizer).save(path)
    return str(path)


@pytest.fixture(scope="session")
def grpo_config(tmp_path_factory):
    """Makes the configuration of one small update on the CPU."""
    return lambda **changes: small_config(tmp_path_factory.mktemp("trl"), **changes)
