import pytest

from workbench.policies import build_tokenizer

TEXTS = [
    "fix f",
    "lib.py:1: def f(xs):",
    "edit lib.py 3|    return sum(x for x in xs)",
    "FAIL f([3, -3]) got 2 want 4",
    "cat lib.py",
]


@pytest.fixture(scope="session")
def tokenizer():
    return build_tokenizer(TEXTS * 4)
