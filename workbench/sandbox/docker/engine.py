"""Finding a Docker engine, and the label by which what we made there is known.

Stage: sandbox. Environment variables come in, a connection goes out. Left out: contexts of the
`docker` command other than the sockets Docker Desktop and rootless Docker make; name yours in
DOCKER_HOST.
"""

from __future__ import annotations

import os
import socket
from typing import Any

LABEL = "rl-workbench.sandbox"
"""Set on every container and image we make; a container's value says whose it is."""
TIMEOUT_S = 60
"""An engine that is silent for longer has failed."""


def connect() -> Any:
    """A docker.APIClient of an engine that answers; close it after use.

    Raises RuntimeError that says what was tried and what to do.
    """
    try:
        import docker
    except ImportError:
        raise RuntimeError(
            "the Docker sandbox needs the package docker: pip install docker; or use "
            'open_sandbox("local")'
        ) from None
    tried = []
    for address in _addresses():
        try:
            settings = docker.utils.kwargs_from_env()  # TLS, if the environment asks for it
            settings["base_url"] = address
            return docker.APIClient(**settings, version="auto", timeout=TIMEOUT_S)
        except (docker.errors.DockerException, OSError) as error:
            tried.append(f"  {address}: {_short(error)}")
    raise RuntimeError(
        "no Docker engine answers. Tried:\n"
        + "\n".join(tried)
        + "\nStart Docker, or set DOCKER_HOST to an engine's address (unix:///..., tcp://...), or "
        'use open_sandbox("local"), which needs no engine.'
    )


def owner() -> str:
    """The label's value for containers of this process: "HOST/PID"."""
    return f"{socket.gethostname()}/{os.getpid()}"


def is_gone(owner: str) -> bool:
    """True if that process ran on this machine and has ended; a process elsewhere is not known."""
    host, _, pid = owner.rpartition("/")
    return host == socket.gethostname() and pid.isdigit() and not is_running(int(pid))


def is_running(pid: int) -> bool:
    """Whether there is such a process, anybody's."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def _addresses():
    if named := os.environ.get("DOCKER_HOST"):
        return [named]
    runtime = os.environ.get("XDG_RUNTIME_DIR", f"/run/user/{os.getuid()}")
    home = os.path.expanduser("~")
    paths = ("/var/run/docker.sock", f"{runtime}/docker.sock", f"{home}/.docker/run/docker.sock")
    return [f"unix://{path}" for path in paths]


def _short(error):
    """The innermost reason: the SDK wraps it three times."""
    while cause := error.__cause__ or error.__context__:
        error = cause
    return f"{type(error).__name__}: {error}"[:200]
