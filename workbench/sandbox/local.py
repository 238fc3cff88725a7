"""The sandbox on this machine, and how each kind of sandbox is opened.

Stage: sandbox. What to open goes in, a `Sandbox` comes out. Left out: what can be asked of it
(`base`), containers (`docker`).
"""

from __future__ import annotations

import functools
import os
import warnings

from workbench.sandbox.base import Sandbox
from workbench.sandbox.pool import Pool
from workbench.sandbox.process import ServerProcess, python_setup
from workbench.sandbox.programs import Toolboxes
from workbench.sandbox.pytest_suites import Suites


def open_sandbox(kind: str = "auto", workers: int = 2, reuse: bool = True) -> Sandbox:
    """A sandbox with `workers` servers, started in parallel; also a context manager.

    Args:
        kind: "auto" or "local": the strongest walls this machine allows. "local:2" and "local:1"
            use no stronger tier than that one. "docker": in containers, with this Python's
            standard library and numpy, and with the toolchains that are on this machine;
            "docker:IMAGE", e.g. "docker:python:3.12-slim": in containers of an image the engine
            has, which must have Python 3.11 or newer as python3; only its standard library can be
            imported, and other languages are those it has the tools of.
        workers: programs that run at the same time; 2 suits a laptop.
        reuse: give the stored result when the same program gets the same inputs again.
    Raises:
        ValueError: unknown kind, or fewer than one worker. RuntimeError: not on this system, or no
            Docker engine answers.
    """
    tiers = {"auto": 3, "local": 3, "local:3": 3, "local:2": 2, "local:1": 1}
    backend, _, image = kind.partition(":")
    if kind not in tiers and backend != "docker":
        kinds = ", ".join(map(repr, tiers))
        raise ValueError(f"kind: expected one of {kinds}, 'docker', 'docker:IMAGE', got {kind!r}")
    if workers < 1:
        raise ValueError(f"workers: expected at least 1, got {workers}")
    if os.name != "posix":
        raise RuntimeError("the sandbox needs Linux or macOS; on Windows, work in WSL2")
    if backend == "docker":
        from workbench.sandbox.docker import DockerSandbox  # loads what local ones do without

        image = "" if image == "2" else image  # "docker:2" is what such a sandbox is called
        return DockerSandbox(workers=workers, reuse=reuse, image=image)
    return LocalSandbox(workers=workers, reuse=reuse, strongest=tiers[kind])


class LocalSandbox(Sandbox):
    """A sandbox whose servers are processes on this machine."""

    kind = "local"

    def __init__(self, *, workers: int = 2, reuse: bool = True, strongest: int = 3):
        def open_pool(setup: dict, strongest: int) -> Pool:
            return Pool(functools.partial(ServerProcess, setup), workers, reuse, strongest)

        pool = open_pool(python_setup(), strongest)
        open_another = functools.partial(open_pool, strongest=pool.tier)
        toolboxes = Toolboxes(pool.tier, lambda toolchain: open_another(toolchain.setup()))
        super().__init__(pool, toolboxes, Suites(pool.tier, open_another))
        if self.tier == 1:
            warnings.warn(
                "this sandbox (tier 1) limits time and memory only: programs can read and write "
                f"your files and use the network. Stronger: {self.declined or 'not asked for'}",
                stacklevel=3,
            )
