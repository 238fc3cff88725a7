"""Each test begins as a new kernel would."""

import pytest

from workbench.checks import memory


class Hostile:
    """Raises whatever is asked of it."""

    def __repr__(self):
        raise RuntimeError("no")

    __eq__ = __float__ = __repr__
    __hash__ = None


class Wordless(Exception):
    """Cannot say what it is about."""

    def __str__(self):
        raise RuntimeError("no")


def hostile_values():
    """Answers that break whoever looks at them without care."""
    cyclic, deep = [1], []
    cyclic.append(cyclic)
    for _ in range(100_000):
        deep = [deep]
    huge = [10**400, 10**5000, [10**5000], {(1, 2): 3}, "\ud800"]
    return [Hostile(), [Hostile()], {"a": Hostile()}, Wordless(), cyclic, deep, *huge]


@pytest.fixture(params=range(len(hostile_values())))
def hostile(request):
    """One of `hostile_values`, made anew."""
    return hostile_values()[request.param]


@pytest.fixture(autouse=True)
def fresh_memory():
    """Nothing was guessed, checked or asked for before the test."""
    memory.forget()
    yield
    memory.forget()
