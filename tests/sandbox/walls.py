"""Opening a sandbox whose walls are the ones a test is about, or skipping the test."""

import contextlib

import pytest

from workbench.sandbox import open_sandbox

LOCAL = ("local:3", "local:2")
EVERYWHERE = (*LOCAL, pytest.param("docker:2", marks=pytest.mark.slow))
"""Parameters of a fixture that hands its `request` to `opened`."""


@contextlib.contextmanager
def opened(request):
    """A sandbox of the kind and tier that `request.param` names, with one worker."""
    if request.param.startswith("docker"):
        request.getfixturevalue("docker_engine")
    with open_sandbox(request.param, workers=1) as sandbox:
        if sandbox.name != request.param:
            pytest.skip(f"only {sandbox.name} here: {sandbox.declined}")
        yield sandbox
