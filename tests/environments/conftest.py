"""A task small enough to know by heart: `double` adds where it should multiply."""

import pytest

from workbench.records import Case, Task

WRONG = "def double(x):\n    # double of item\n    return x + 2\n"
RIGHT = "def double(x):\n    # double of item\n    return x * 2\n"
TESTS = "from lib import double\nassert double(2) == 4\nassert double(5) == 10\n"


@pytest.fixture
def double():
    """Multi-turn: two files, the tests among them."""
    files = {"lib.py": WRONG, "tests.py": TESTS}
    return Task(
        task_id="double",
        statement="fix double",
        entry_point="double",
        entry_file="lib.py",
        files=files,
        visible=(Case((2,), 4), Case((5,), 10)),
        hidden=(Case((0,), 0), Case((3,), 6), Case((-1,), -2)),
        reference={**files, "lib.py": RIGHT},
        tests_file="tests.py",
    )


@pytest.fixture
def write_double():
    """Single-turn: no files, the message is the body."""
    return Task(
        task_id="write double",
        statement="write f(x): double of item",
        entry_point="f",
        entry_file="solution.py",
        files={},
        beginning="def f(x):\n",
        visible=(Case((2,), 4),),
        hidden=(Case((0,), 0), Case((3,), 6)),
        reference={"solution.py": "def f(x):\n    return x * 2\n"},
    )
