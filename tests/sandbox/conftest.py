"""The walls that the tests of this room run programs behind."""

import pytest

from tests.sandbox.walls import EVERYWHERE, opened


@pytest.fixture(scope="module", params=EVERYWHERE)
def walled(request):
    """A sandbox of tier 3, then one of tier 2, then one in containers; one worker each."""
    with opened(request) as sandbox:
        yield sandbox


@pytest.fixture(scope="module", params=EVERYWHERE)
def strong(request):
    """The same for hostile programs.

    One worker: the program after an attack meets the server that the attack met.
    """
    with opened(request) as sandbox:
        yield sandbox
        assert sandbox.stats.faults == 0, "an attack looked like a fault of ours"
        assert sandbox.stats.restarts == 0, "an attack ended a server"
