"""The image of a sandbox's containers: a Python, what a setup needs, and the sandbox's server.

Stage: sandbox. Three layers, each made once, from what this machine has or on top of an image the
engine has; no registry is asked. A layer's tag is a hash of what goes in (of this machine's files:
their sizes and times). Left out: removing what is out of date, which `leftovers` does on request.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import platform
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import IO, Any

from workbench.sandbox.docker import contents
from workbench.sandbox.docker.engine import LABEL, owner

SERVER_REPOSITORY, PYTHON_REPOSITORY = "rl-workbench-sandbox", "rl-workbench-python"
PARTS_REPOSITORY = "rl-workbench-parts"
OPTIONS = ["-P", "-s", "-S", "/sandbox/workbench/sandbox/docker/inside.py"]
"""What Python is started with, as in the local sandbox, and the server's program in the image."""


def ensure(
    client: Any,
    base: str = "",
    also: Sequence[str] = (),
    parts: Mapping[str, str] | None = None,
) -> str:
    """The tag of an image with our server in it, made now if the engine lacks it.

    base: an image the engine has, with Python 3.11 or newer as python3; "": this Python alone,
        and the folders `also` of this machine.
    parts: more files, path in the image -> path here.
    Raises RuntimeError that says what to do.
    """
    from docker.errors import DockerException, ImageNotFound

    try:
        python = "python3" if base else contents.interpreter()
        below = client.inspect_image(base or _ensure_python(client, also))["Id"]
        if parts:
            tag = f"{PARTS_REPOSITORY}:{_digest(below, _sizes_and_times(parts))}"
            below = _ensure_above(client, below, tag, _files(parts), [])
        server = list(contents.server())
        tag = f"{SERVER_REPOSITORY}:{_digest(below, server)}"
        entry_point = f"ENTRYPOINT {json.dumps([python, *OPTIONS])}"
        _ensure_above(client, below, tag, _texts(server), [entry_point])
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
    files = contents.python(also)
    tag = f"{PYTHON_REPOSITORY}:{_digest(sys.version, _sizes_and_times(files))}"
    if not client.images(tag):
        with _archive(_files(files)) as file:
            said = client.import_image_from_stream(
                _pieces(file), *tag.split(":"), changes=[f"LABEL {LABEL}=image"]
            )
        if '"error' in said:
            raise OSError(said[-300:])
    return tag


def _ensure_above(client, below, tag, entries, changes):
    """Put files on top of the image `below` by a container that is never started; the new image's
    id. (The engine's builder would leave a volume behind for every one that an image declares.)"""
    if not client.images(tag):
        container = client.create_container(below, command=[""], labels={LABEL: owner()})["Id"]
        try:
            with _archive(entries) as file:
                client.put_archive(container, "/", _pieces(file))
            changes = [*changes, f"LABEL {LABEL}=image"]
            client.commit(container, *tag.split(":"), changes=changes)
        finally:
            client.remove_container(container, force=True, v=True)
    return client.inspect_image(tag)["Id"]


def _check_same_kind(engine):
    here = (sys.platform, {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine()))
    there = (engine["Os"], engine["Arch"])
    if here != there:
        raise RuntimeError(
            f"this Python is for {here[0]}/{here[1]} and the Docker engine runs {there[0]}/"
            f'{there[1]}: name an image with Python, e.g. open_sandbox("docker:python:3.12-slim")'
        )


def _digest(start: str, parts: Iterable[tuple[str, bytes]]) -> str:
    digest = hashlib.sha256(start.encode())
    for name, data in parts:
        digest.update(f"{name} {len(data)} ".encode() + data)
    return digest.hexdigest()[:16]


def _sizes_and_times(files: Mapping[str, str]) -> Iterator[tuple[str, bytes]]:
    for name, path in files.items():
        status = os.stat(path)
        yield name, repr((status.st_size, int(status.st_mtime))).encode()


def _archive(entries: Iterable[tuple[tarfile.TarInfo, IO[bytes]]]) -> IO[bytes]:
    """A temporary file with a tar archive of the entries; close it after use."""
    file = tempfile.TemporaryFile()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for entry, data in entries:
            archive.addfile(entry, data)
    file.seek(0)
    return file


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    """What it holds; a file itself would be sent wrongly."""
    return iter(lambda: file.read(1 << 20), b"")


def _files(files: Mapping[str, str]) -> Iterator[tuple[tarfile.TarInfo, IO[bytes]]]:
    """Files with their times (compiled modules are compared with them), readable by every user;
    and the libraries they are linked with."""
    for name, path in {**files, **contents.libraries(files)}.items():
        entry = tarfile.TarInfo(os.path.normpath(name))
        status = os.stat(path)
        entry.size, entry.mtime = status.st_size, int(status.st_mtime)
        entry.mode = 0o755 if os.access(path, os.X_OK) else 0o644
        with open(path, "rb") as file:
            yield entry, file


def _texts(texts: Iterable[tuple[str, bytes]]) -> Iterator[tuple[tarfile.TarInfo, IO[bytes]]]:
    for name, data in texts:
        entry = tarfile.TarInfo(name)
        entry.size = len(data)
        yield entry, io.BytesIO(data)
