"""The image of a sandbox's containers: a Python, its libraries, and the sandbox's server.

Stage: sandbox. Made from what this machine has, or on top of an image the engine has; no registry
is asked. Its tag is a hash of what goes in (of a standard library's files: their sizes and times),
so it is made once. Left out: everything else a system has (no shell, no tools, no package but those
that programs may import in the local sandbox, too).
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
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from workbench.sandbox.docker.engine import LABEL, owner

REPOSITORY, PYTHON_REPOSITORY = "rl-workbench-sandbox", "rl-workbench-python"
OPTIONS = ["-P", "-s", "-S", "/sandbox/workbench/sandbox/docker/inside.py"]
"""What Python is started with, as in the local sandbox, and the server's program in the image."""
NOT_NEEDED = {"site-packages", "dist-packages", "test", "tests", "idlelib", "lib2to3", "ensurepip",
              "turtledemo", "tkinter"}  # fmt: skip
"""Folders of the standard library that are left out; so is the linker's material."""


def ensure(client: Any, base: str = "", also: Sequence[str] = ()) -> str:
    """The tag of an image with our server in it, made now if the engine lacks it.

    base: an image the engine has, with Python 3.11 or newer as python3; "": this Python alone,
        and the folders `also` of this machine.
    Raises RuntimeError that says what to do.
    """
    from docker.errors import DockerException, ImageNotFound

    try:
        python = "python3" if base else _interpreter()
        below = client.inspect_image(base or _ensure_python(client, also))["Id"]
        tag = f"{REPOSITORY}:{_digest(below, _server())}"
        if not client.images(tag):
            _add_server(client, below, tag, [python, *OPTIONS])
        return tag
    except ImageNotFound:
        raise RuntimeError(
            f"the Docker engine has no image {base!r}; get it first: docker pull {base}"
        ) from None
    except (DockerException, OSError) as error:
        raise RuntimeError(f"the sandbox's Docker image could not be made: {error}") from None


def _ensure_python(client, also):
    """The tag of an image of this machine's Python, those folders and nothing else."""
    _check_same_kind(client.version())
    files = list(_python(also))
    sizes = ((name, repr(_size_and_time(path)).encode()) for name, path in files)
    tag = f"{PYTHON_REPOSITORY}:{_digest(sys.version, sizes)}"
    if not client.images(tag):
        with tempfile.TemporaryFile() as file:
            with tarfile.open(fileobj=file, mode="w") as archive:
                for name, path in {**dict(files), **dict(_libraries(files))}.items():
                    _add_file(archive, name, path)
            file.seek(0)
            pieces = iter(lambda: file.read(1 << 20), b"")  # a file would be sent wrongly
            said = client.import_image_from_stream(
                pieces, *tag.split(":"), changes=[f"LABEL {LABEL}=image"]
            )
            if '"error' in said:
                raise OSError(said[-300:])
    return tag


def _add_server(client, below, tag, command):
    """Put our files on top of the image `below`: by a container that is never started. (The
    engine's builder would leave a volume behind for every one that the image declares.)"""
    with io.BytesIO() as file:
        with tarfile.open(fileobj=file, mode="w") as archive:
            for name, data in _server():
                entry = tarfile.TarInfo(name)
                entry.size = len(data)
                archive.addfile(entry, io.BytesIO(data))
        files = file.getvalue()
    container = client.create_container(below, command=[""], labels={LABEL: owner()})["Id"]
    try:
        client.put_archive(container, "/", files)
        changes = [f"ENTRYPOINT {json.dumps(command)}", f"LABEL {LABEL}=image"]
        client.commit(container, *tag.split(":"), changes=changes)
    finally:
        client.remove_container(container, force=True, v=True)


def _check_same_kind(engine):
    here = (sys.platform, {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine()))
    there = (engine["Os"], engine["Arch"])
    if here != there:
        raise RuntimeError(
            f"this Python is for {here[0]}/{here[1]} and the Docker engine runs {there[0]}/"
            f'{there[1]}: name an image with Python, e.g. open_sandbox("docker:python:3.12-slim")'
        )


def _interpreter():
    return os.path.realpath(getattr(sys, "_base_executable", sys.executable))


def _python(also) -> Iterator[tuple[str, str]]:
    """(path in the image, path here) of the interpreter, the modules that come with it, more."""
    yield _interpreter(), _interpreter()
    for top in (os.path.dirname(os.__file__), "/usr/share/zoneinfo", *also):
        for folder, folders, names in os.walk(top):
            folders[:] = [f for f in folders if f not in NOT_NEEDED and not f.startswith("config-")]
            for name in names:
                if not re.search(r"\.opt-\d\.pyc$", name):
                    yield (path := os.path.join(folder, name)), path


def _libraries(files) -> Iterator[tuple[str, str]]:
    """The shared libraries that these files need, as the linker finds them."""
    programs = [path for _, path in files if path.endswith(".so")] + [_interpreter()]
    here = {"PATH": os.environ.get("PATH", os.defpath)}  # and no LD_LIBRARY_PATH
    said = subprocess.run(["ldd", *programs], capture_output=True, text=True, env=here).stdout
    for path in set(re.findall(r"(/\S+) \(0x", said)):
        yield os.path.normpath(path), path
    if os.path.exists("/etc/ld.so.cache"):
        yield "/etc/ld.so.cache", "/etc/ld.so.cache"


def _server() -> Iterator[tuple[str, bytes]]:
    """(path in the image, content) of the package's files that a server needs, and some more."""
    package = Path(__file__).resolve().parents[2]
    for path in [package / "encoding.py", *sorted((package / "sandbox").rglob("*.py"))]:
        yield f"sandbox/workbench/{path.relative_to(package)}", path.read_bytes()


def _digest(start, parts):
    digest = hashlib.sha256(start.encode())
    for name, data in parts:
        digest.update(f"{name} {len(data)} ".encode() + data)
    return digest.hexdigest()[:16]


def _size_and_time(path):
    status = os.stat(path)
    return status.st_size, int(status.st_mtime)


def _add_file(archive, name, path):
    """A file with its time (compiled modules are compared with it), readable by every user."""
    entry = tarfile.TarInfo(os.path.normpath(name))
    entry.size, entry.mtime = _size_and_time(path)
    entry.mode = 0o755 if os.access(path, os.X_OK) else 0o644
    with open(path, "rb") as file:
        archive.addfile(entry, file)
