"""The sandbox in containers: the same servers, each inside a locked-down Docker container.

Stage: sandbox. Names an engine and an image; gives the same methods as the local sandbox. One
container a worker: what one program uses up (memory, processes, disk, CPU) is not missing from
another, and a server's stream, its container and what is in it end together. Several servers in
one container start faster from the third on, but share all that. Left out: Docker on Windows,
processors and kernels where the inner walls (tier 2) cannot be had, copying files in and out (a
request carries them), packages of a named image, languages other than Python, pytest suites.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

from workbench.records import Limits
from workbench.sandbox.base import Sandbox
from workbench.sandbox.docker import container, engine, image
from workbench.sandbox.pool import Pool
from workbench.sandbox.process import python_setup
from workbench.sandbox.programs import NoToolboxes
from workbench.sandbox.pytest_suites import NoSuites

__all__ = ["DockerSandbox"]

PLAIN = {"reads": [], "packages": {}}
"""Setup of servers in a named image: Python and its standard library."""


class DockerSandbox(Sandbox):
    """A sandbox whose servers are containers of the Docker engine that `engine.connect` finds."""

    kind = "docker"

    def __init__(self, *, workers: int = 2, reuse: bool = True, image: str = ""):
        """image: one the engine has, with Python 3.11 or newer; "" builds one of this Python.

        Raises RuntimeError if no engine answers, or no server starts in a container.
        """
        setup = PLAIN if image else python_setup()
        tag = _ready_image(image, setup["reads"])
        start = functools.partial(container.ContainerServer, tag, setup)
        pool = ContainerPool(start, workers, reuse, strongest=2)
        super().__init__(pool, NoToolboxes(), NoSuites())
        self.layers = (*container.LAYERS, *self.layers)


class ContainerPool(Pool):
    """A pool whose servers are in containers, which have a bound of their own on memory."""

    def execute(self, request: dict, files: Mapping[str, str], limits: Limits, *more, **options):
        """As for `Pool`; raises ValueError also for a limit above what a container has."""
        if limits.memory_mb > container.MEMORY_MB:
            raise ValueError(
                f"limits: expected memory_mb of at most {container.MEMORY_MB}, what a container "
                f"has, got {limits.memory_mb}; the local sandbox has no such bound"
            )
        return super().execute(request, files, limits, *more, **options)


def _ready_image(base, also):
    client = engine.connect()
    try:
        return image.ensure(client, base, also)
    finally:
        client.close()
