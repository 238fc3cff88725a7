"""Each test begins as a new kernel would."""

import pytest

from workbench.checks import memory


@pytest.fixture(autouse=True)
def fresh_memory():
    """Nothing was guessed, checked or asked for before the test."""
    memory.forget()
    yield
    memory.forget()
