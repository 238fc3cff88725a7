"""The image of a sandbox's containers: a Python, its libraries, and the sandbox's server.

Stage: sandbox. Made from what this machine has, or on top of an image the engine has; no registry
is asked. Its tag is a hash of what goes in, so it is built once. Left out: everything else a
system has (no shell, no packages); Python packages, as in the local sandbox.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import platform
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workbench.sandbox.docker.engine import LABEL

REPOSITORY = "rl-workbench-sandbox"
OPTIONS = ["-P", "-s", "-S", "/sandbox/workbench/sandbox/docker/inside.py"]
"""What Python is started with, as in the local sandbox, and the server's program in the image."""
NOT_NEEDED = {"site-packages", "dist-packages", "test", "tests", "idlelib", "lib2to3", "ensurepip",
              "turtledemo", "tkinter"}  # fmt: skip
"""Folders of the standard library that are left out; so is the linker's material."""


def ensure(client: Any, base: str = "") -> str:
    """The tag of an image with our server in it, built now if the engine lacks it.

    base: an image the engine has, with Python 3.11 or newer as python3; "": this Python alone.
    Raises RuntimeError that says what to do.
    """
    from docker.errors import DockerException, ImageNotFound

    try:
        if base:
            start = client.inspect_image(base)["Id"]
            python = {}
        else:
            _check_same_kind(client.version())
            start = "scratch"
            python = dict(_standard_library())
        tag = f"{REPOSITORY}:{_digest(start, python)}"
        if not client.images(tag):
            _build(client, tag, base or "scratch", python)
        return tag
    except ImageNotFound:
        raise RuntimeError(
            f"the Docker engine has no image {base!r}; get it first: docker pull {base}"
        ) from None
    except DockerException as error:
        raise RuntimeError(f"the sandbox's Docker image could not be made: {error}") from None


def _check_same_kind(engine):
    here = (sys.platform, {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine()))
    there = (engine["Os"], engine["Arch"])
    if here != there:
        raise RuntimeError(
            f"this Python is for {here[0]}/{here[1]} and the Docker engine runs {there[0]}/"
            f'{there[1]}: name an image with Python, e.g. open_sandbox("docker:python:3.12-slim")'
        )


def _standard_library() -> Iterator[tuple[str, str]]:
    """(path in the image, path here) of the interpreter and the modules that come with it."""
    interpreter = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
    yield interpreter, interpreter
    top = os.path.dirname(os.__file__)
    for folder, folders, names in os.walk(top):
        folders[:] = [f for f in folders if f not in NOT_NEEDED and not f.startswith("config-")]
        for name in names:
            if not re.search(r"\.opt-\d\.pyc$", name):
                yield (path := os.path.join(folder, name)), path
    for folder, _, names in os.walk("/usr/share/zoneinfo"):
        for name in names:
            yield (path := os.path.join(folder, name)), path


def _server() -> Iterator[tuple[str, Path]]:
    """(path in the image, path here) of the package's files that a server needs, and some more."""
    package = Path(__file__).resolve().parents[2]
    for path in [package / "encoding.py", *sorted((package / "sandbox").rglob("*.py"))]:
        yield f"sandbox/workbench/{path.relative_to(package)}", path


def _digest(start, python):
    """A hash of what goes in: our files by content, a standard library by sizes and times."""
    digest = hashlib.sha256(repr((start, sys.version)).encode())
    for path in sorted(python.values()):
        status = os.stat(path)
        digest.update(repr((path, status.st_size, int(status.st_mtime))).encode())
    for name, path in _server():
        digest.update(name.encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def _build(client, tag, start, python):
    here = python | dict(_libraries(python)) if python else {}
    command = [next(iter(python), "python3"), *OPTIONS]
    steps = [f"FROM {start}"] + (["COPY python /"] if python else [])  # in a layer of its own
    steps += ["COPY server /", f"ENTRYPOINT {json.dumps(command)}"]
    with tempfile.TemporaryFile() as context:
        with tarfile.open(fileobj=context, mode="w") as archive:
            _add_text(archive, "Dockerfile", "\n".join(steps) + "\n")
            for name, path in here.items():
                _add(archive, f"python/{name}", path)
            for name, path in _server():
                _add(archive, f"server/{name}", path)
        context.seek(0)
        said = client.build(
            fileobj=context, custom_context=True, tag=tag, rm=True, forcerm=True, decode=True,
            network_mode="none", labels={LABEL: "image"},
        )  # fmt: skip
        for line in said:
            if "error" in line:
                raise RuntimeError(f"the sandbox's Docker image was not built: {line['error']}")


def _libraries(python) -> Iterator[tuple[str, str]]:
    """The shared libraries that the interpreter and its modules need, as the linker finds them."""
    programs = [path for path in python.values() if path.endswith(".so")] + [next(iter(python))]
    said = subprocess.run(["ldd", *programs], capture_output=True, text=True).stdout
    for path in set(re.findall(r"(/\S+) \(0x", said)):
        yield path, path
    if os.path.exists("/etc/ld.so.cache"):
        yield "/etc/ld.so.cache", "/etc/ld.so.cache"


def _add(archive, name, path):
    """A file with its time (compiled modules are compared with it), readable by every user."""
    status = os.stat(path)
    entry = tarfile.TarInfo(re.sub("/+", "/", name))
    entry.size, entry.mtime = status.st_size, int(status.st_mtime)
    entry.mode = 0o755 if status.st_mode & 0o100 else 0o644
    with open(path, "rb") as file:
        archive.addfile(entry, file)


def _add_text(archive, name, text):
    entry = tarfile.TarInfo(name)
    entry.size = len(text.encode())
    archive.addfile(entry, io.BytesIO(text.encode()))
