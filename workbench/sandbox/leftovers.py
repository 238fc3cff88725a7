"""Removing what sandboxes of processes that ended badly may have left on this machine.

Stage: sandbox. A sandbox leaves nothing behind when it is closed, nor when its process is killed;
this is for what an engine or a machine that broke off in between has kept. Goes out: a line for
each thing that was removed. Left out: other machines' processes, unless everything is to go.
"""

from __future__ import annotations

import os
import tempfile

from workbench.sandbox import removal
from workbench.sandbox.docker import engine
from workbench.sandbox.guarantees import PROBE_PREFIX
from workbench.sandbox.process import FOLDER_PREFIX


def remove_leftovers(*, everything: bool = False) -> list[str]:
    """Remove temporary folders, containers and images of sandboxes; what was done, in lines.

    Only what belongs to processes of this machine that have ended, and images that no container
    uses; with `everything`, also what is in use. No engine is a line of the result, not an error.
    """
    return _remove_folders(everything) + _remove_from_engine(everything)


def _remove_folders(everything):
    lines = []
    top = tempfile.gettempdir()
    for name in sorted(os.listdir(top)):
        prefix = next((p for p in (FOLDER_PREFIX, PROBE_PREFIX) if name.startswith(p)), None)
        if prefix is None:
            continue
        pid = name.removeprefix(prefix).partition("-")[0]
        if everything or (pid.isdigit() and not engine.is_running(int(pid))):
            removal.remove_folder(path := os.path.join(top, name))
            lines.append(f"could not remove {path}" if os.path.exists(path) else f"folder {path}")
    return lines


def _remove_from_engine(everything):
    try:
        client = engine.connect()
    except RuntimeError as error:
        return [f"containers and images were not looked for: {error}"]
    from docker.errors import APIError, NotFound

    ours = {"label": engine.LABEL}
    lines = []
    try:
        for found in client.containers(all=True, filters=ours):
            owner = found["Labels"][engine.LABEL]
            if everything or engine.is_gone(owner):
                lines.append(f"container {found['Names'][0].lstrip('/')} of {owner}")
                try:
                    client.remove_container(found["Id"], force=True, v=True)
                except NotFound:  # it was ending by itself
                    lines.pop()
        for found in client.images(filters=ours):
            name = (found["RepoTags"] or [found["Id"]])[0]
            try:
                client.remove_image(name, force=everything)
                lines.append(f"image {name}")
            except APIError as error:
                lines.append(f"kept image {name}: {error.explanation}")
    finally:
        client.close()
    return lines
