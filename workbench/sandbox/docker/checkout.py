"""A repository that lies in an image of somebody else: files read and changed, one command run.

Stage: sandbox. An image's name, paths and texts go in; texts, and what a command printed, come out.
For projects whose packages exist only in their own image, as those of SWE-bench rows do. The
container has no network, no capability but those an image's root needs for its own files, and
bounds on memory and processes; it is removed afterwards. **What the command prints is the word of
the code that ran**: one interpreter runs tests and code (mode "shared"). Left out: a CPU limit,
reuse of containers, images that no engine here has.
"""

from __future__ import annotations

import contextlib
import io
import posixpath
import secrets
import shlex
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from workbench.records import Limits, VerdictStatus
from workbench.sandbox.docker import engine

PROCESSES = 1024
"""Processes and threads a command may have."""
MAX_OUTPUT = 16 << 20
"""Bytes of output that are kept: the last ones."""
MAX_FILE = 16 << 20
"""Bytes of a file that is read."""
CAPABILITIES = ["CHOWN", "DAC_OVERRIDE", "FOWNER", "SETGID", "SETUID"]
KILLED = 137
"""Exit code of a process that was killed, as the engine gives it."""


class ImageMissing(RuntimeError):
    """An image that the engine does not have; the message says how to get it."""


class FilesDoNotFit(RuntimeError):
    """A file that is no text, or that cannot be written where there is a folder."""


@dataclass(frozen=True)
class ImageRun:
    """What a command in an image did."""

    status: VerdictStatus
    """"ok": it ended by itself, with whatever exit code."""
    exit_code: int | None
    """None if it did not end by itself."""
    output: str
    """Standard output and standard error as they came; the beginning is lost if it is long."""


@contextlib.contextmanager
def checkout(image: str, folder: str, limits: Limits) -> Iterator[Checkout]:
    """A container of `image` that has not been started, with the repository in `folder`.

    limits: of them `wall_s` and `memory_mb` count, for the one command.
    Raises ImageMissing, or RuntimeError if no engine answers or it refuses; within the block too.
    """
    client = engine.connect()
    from docker.errors import DockerException, ImageNotFound

    name = f"workbench-checkout-{secrets.token_hex(4)}"
    try:
        yield Checkout(client, name, image, folder, limits)
    except ImageNotFound:
        raise ImageMissing(
            f"the Docker engine does not have it; get it first: docker pull {image}"
        ) from None
    except (DockerException, OSError) as error:
        raise RuntimeError(f"the container of {image!r} failed: {error}"[:500]) from None
    finally:
        with contextlib.suppress(DockerException, OSError):
            client.remove_container(name, force=True, v=True)
        client.close()


class Checkout:
    """A repository in a container; made by `checkout`."""

    def __init__(self, client: Any, name: str, image: str, folder: str, limits: Limits):
        """Create the container, whose command waits for `run`."""
        self._client, self._name, self._folder, self._limits = client, name, folder, limits
        client.inspect_image(image)  # a missing one is told from a missing folder
        memory = f"{limits.memory_mb}m"
        client.create_container(
            image,
            name=name,
            entrypoint=["/bin/sh", f"/{name}"],
            command=[],
            working_dir=folder,
            environment={"PYTHONDONTWRITEBYTECODE": "1"},
            labels={engine.LABEL: engine.owner()},
            healthcheck={"test": ["NONE"]},
            host_config=client.create_host_config(
                network_mode="none",
                pids_limit=PROCESSES,
                mem_limit=memory,
                memswap_limit=memory,
                cap_drop=["ALL"],
                cap_add=CAPABILITIES,
                security_opt=["no-new-privileges"],
                log_config={"Type": "json-file", "Config": {"max-size": "64m", "max-file": "1"}},
            ),
        )

    def read(self, paths: Iterable[str]) -> dict[str, str]:
        """The texts of those files that are there, by path below the folder.

        Raises FilesDoNotFit for a file that is no UTF-8 text, or too large to be one.
        """
        found = {path: self._read(path) for path in paths}
        return {path: text for path, text in found.items() if text is not None}

    def _read(self, path: str) -> str | None:
        from docker.errors import NotFound

        try:
            pieces, _ = self._client.get_archive(self._name, posixpath.join(self._folder, path))
        except NotFound:
            return None
        data = bytearray()
        for piece in pieces:
            data += piece
            if len(data) > MAX_FILE:
                raise FilesDoNotFit(f"{path}: larger than {MAX_FILE} bytes")
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            entry = archive.next()
            content = archive.extractfile(entry) if entry is not None and entry.isreg() else None
            if content is None:
                return None  # a folder or a link: no file of this name
            try:
                return content.read().decode("utf-8")
            except UnicodeDecodeError:
                raise FilesDoNotFit(f"{path}: not UTF-8 text") from None

    def write(self, files: Mapping[str, str]) -> None:
        """Put these files there, with the folders they need; raises FilesDoNotFit."""
        self._put(self._folder, files)

    def _put(self, folder: str, files: Mapping[str, str]) -> None:
        from docker.errors import APIError

        data = io.BytesIO()
        with tarfile.open(fileobj=data, mode="w") as archive:
            for path, text in files.items():
                entry = tarfile.TarInfo(path)
                entry.size, entry.mode = len(text.encode()), 0o644
                archive.addfile(entry, io.BytesIO(text.encode()))
        try:
            self._client.put_archive(self._name, folder, data.getvalue())
        except APIError as error:  # an engine that is gone raises something else
            raise FilesDoNotFit(f"{', '.join(files)[:200]}: {error.explanation}") from None

    def run(self, script: str, removed: Iterable[str] = ()) -> ImageRun:
        """Remove files, run a shell script in the folder, and say what it did.

        The history is removed as well: commits after the base commit may hold the right change.
        """
        gone = " ".join(shlex.quote(path) for path in (".git", *removed))
        script = f"rm -rf -- {gone} /{self._name}\nexec 2>&1\n{script}\n"
        self._put("/", {self._name: script})  # a name that no file of the repository can have
        self._client.start(self._name)
        exit_code = self._wait()
        output = self._output()
        if exit_code is None:
            return ImageRun("timeout", None, output)
        state = self._client.inspect_container(self._name)["State"]
        if state.get("OOMKilled") or exit_code == KILLED:
            return ImageRun("memory" if state.get("OOMKilled") else "crash", None, output)
        return ImageRun("ok", exit_code, output)

    def _wait(self) -> int | None:
        """Its exit code, or None if it was ended at the deadline."""
        from requests.exceptions import ConnectionError, ReadTimeout

        try:
            return self._client.wait(self._name, timeout=self._limits.wall_s)["StatusCode"]
        except (ReadTimeout, ConnectionError):  # the SDK gives either when the time is over
            self._client.kill(self._name)
            return None

    def _output(self) -> str:
        kept = bytearray()
        for piece in self._client.logs(self._name, stream=True):
            kept += piece
            if len(kept) > 2 * MAX_OUTPUT:
                del kept[:-MAX_OUTPUT]
        return kept[-MAX_OUTPUT:].decode("utf-8", "replace")
