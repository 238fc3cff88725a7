"""What the tests of hostile programs run in."""

import pytest

from workbench.sandbox import open_sandbox


@pytest.fixture(
    scope="module", params=["local:3", "local:2", pytest.param("docker:2", marks=pytest.mark.slow)]
)
def strong(request):
    """A sandbox of tier 3, then one of tier 2, then one in containers.

    One worker: the program after an attack meets the server that the attack met.
    """
    if request.param.startswith("docker"):
        request.getfixturevalue("docker_engine")
    wanted = int(request.param[-1])
    with open_sandbox(request.param, workers=1) as sandbox:
        if sandbox.tier != wanted:
            pytest.skip(f"no tier {wanted} on this machine: {sandbox.declined}")
        yield sandbox
        assert sandbox.stats.faults == 0, "an attack looked like a fault of ours"
        assert sandbox.stats.restarts == 0, "an attack ended a server"
