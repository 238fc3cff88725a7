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


def cyclic():
    """A list that holds itself."""
    around = [1]
    around.append(around)
    return around


def deep():
    """Lists in lists, too deep for whoever goes down into them."""
    nested = []
    for _ in range(100_000):
        nested = [nested]
    return nested


HOSTILE = {
    "an object": Hostile,
    "in a list": lambda: [Hostile()],
    "in a dict": lambda: {"a": Hostile()},
    "wordless": Wordless,
    "cyclic": cyclic,
    "deep": deep,
    "no float": lambda: 10**400,
    "no digits": lambda: 10**5000,
    "no digits in a list": lambda: [10**5000],
    "no JSON": lambda: {(1, 2): 3},
    "no UTF-8": lambda: "\ud800",
}
"""Makers of answers that break whoever looks at them without care."""


@pytest.fixture(params=HOSTILE)
def hostile(request):
    """One of the answers, made anew."""
    return HOSTILE[request.param]()


@pytest.fixture(autouse=True)
def fresh_memory():
    """Nothing was guessed, checked or asked for before the test."""
    memory.forget()
    yield
    memory.forget()
