"""The sandbox in containers: the same servers, each inside a locked-down Docker container.

Stage: sandbox. Names an engine and an image; gives the same methods as the local sandbox. One
container a worker and kind of server: what one program uses up (memory, processes, disk, CPU) is
not missing from another, and a server's stream, its container and what is in it end together.
Servers for pytest suites and for other languages get containers of their own, of images with a
layer more, when first used. Left out: Docker on Windows, processors and kernels where the inner
walls (tier 2) cannot be had, copying files in and out (a request carries them), packages of a
named image.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

from workbench.records import Limits
from workbench.sandbox.base import Sandbox
from workbench.sandbox.docker import container, contents, engine, image
from workbench.sandbox.languages import Language, tools
from workbench.sandbox.pool import Pool
from workbench.sandbox.process import python_setup
from workbench.sandbox.programs import Toolboxes, Toolchain, Unavailable
from workbench.sandbox.pytest_suites import Suites

__all__ = ["DockerSandbox"]

PLAIN = {"reads": [], "packages": {}, "programs": False, "harness": "modes"}
"""Setup of servers in a named image: Python and its standard library."""
SYSTEM = ["/usr", "/opt"]
"""What the programs of a named image's toolchain may read of it: it holds nothing of yours."""


class DockerSandbox(Sandbox):
    """A sandbox whose servers are containers of the Docker engine that `engine.connect` finds."""

    kind = "docker"

    def __init__(self, *, workers: int = 2, reuse: bool = True, image: str = ""):
        """image: one the engine has, with Python 3.11 or newer; "" builds one of this Python.

        Raises RuntimeError if no engine answers, or no server starts in a container.
        """
        servers = Servers(image, workers, reuse)
        pool = servers.open(PLAIN if image else python_setup())
        toolboxes = Toolboxes(pool.tier, servers.for_language, _as_named if image else tools)
        super().__init__(pool, toolboxes, Suites(pool.tier, servers.for_suites))
        self.layers = (*container.LAYERS, *self.layers)


class Servers:
    """Opens the pools of one sandbox, each with the image it needs."""

    def __init__(self, image: str, workers: int, reuse: bool):
        """As for `DockerSandbox`."""
        self._image, self._workers, self._reuse = image, workers, reuse
        self._also = [] if image else python_setup()["reads"]

    def open(self, setup: dict, parts: Mapping[str, str] | None = None) -> Pool:
        """Servers in containers of an image that has `parts`, path in it -> path here.

        Raises RuntimeError: no engine answers, the image cannot be made, no server starts.
        """
        client = engine.connect()
        try:
            tag = image.ensure(client, self._image, self._also, parts)
        finally:
            client.close()
        start = functools.partial(container.ContainerServer, tag, setup)
        return ContainerPool(start, self._workers, self._reuse, strongest=2)

    def for_language(self, toolchain: Toolchain) -> Pool:
        """Servers that have a toolchain."""
        setup = toolchain.setup()
        if self._image:  # it has its own, or the first program will say that it has not
            return self.open({**setup, "reads": [*SYSTEM, *toolchain.language.reads]})
        return self.open(setup, contents.matching(toolchain.parts()))

    def for_suites(self, setup: dict) -> Pool:
        """Servers that have pytest loaded. Raises Unavailable, as an engine may come back."""
        parts, places = contents.packages(setup["packages"])
        try:
            return self.open({**setup, "packages": places, "reads": [*places.values()]}, parts)
        except RuntimeError as error:
            raise Unavailable(f"pytest suites do not run in containers here: {error}") from None


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


def _as_named(language: Language) -> dict[str, str | None]:
    """The commands of a language as an image will find them: by their names."""
    return {word: word for word in tools(language)}
