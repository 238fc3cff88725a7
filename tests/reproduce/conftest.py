"""A bug written by hand, and a base policy that has learned nothing."""

import pytest

from workbench.records import Case, Task

BROKEN = """def keep(xs):
    # all of them
    return xs

def pack(xs):
    # sum of item of below 3
    ys = [x for x in xs if x > 3]
    return sum(ys)

def last(xs):
    return xs[-1]
"""
RIGHT = BROKEN.replace("x > 3", "x < 3")
TESTS = "from lib import pack\nassert pack([2, 5]) == 2\nassert pack([1]) == 1\n"


def make_task(broken=BROKEN, visible=(([2, 5], 2), ([1], 1)), hidden=(([3, 1], 1), ([9, 2], 2))):
    return Task(
        task_id="by-hand",
        statement="fix pack",
        entry_point="pack",
        entry_file="lib.py",
        files={"lib.py": broken, "tests.py": TESTS},
        visible=tuple(Case((xs,), want) for xs, want in visible),
        hidden=tuple(Case((xs,), want) for xs, want in hidden),
        reference={"lib.py": RIGHT, "tests.py": TESTS},
        tests_file="tests.py",
    )


@pytest.fixture
def task():
    return make_task()


@pytest.fixture
def another_task():
    """A function that makes the task with another text or other cases."""
    return make_task


@pytest.fixture(scope="session")
def untrained(tmp_path_factory):
    """Folder of a policy with random weights; its tokenizer is trained on a few tasks."""
    from workbench.policies import CausalLMPolicy, build_model, build_tokenizer
    from workbench.tasks import load_tasks

    tasks = load_tasks("bugfix", count=8)
    texts = [t.statement for t in tasks] + [text for t in tasks for text in t.files.values()]
    tokenizer = build_tokenizer(texts)
    folder = tmp_path_factory.mktemp("untrained")
    model = build_model(tokenizer, hidden=32, layers=1, heads=2, intermediate=32)
    CausalLMPolicy(model, tokenizer).save(folder)
    return folder
