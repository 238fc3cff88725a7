"""What goes into the image of a sandbox's containers, from what this machine has.

Stage: sandbox. Out: pairs (path in the image, path here) of a Python, of a toolchain, of packages;
and the sandbox's own server as (path in the image, bytes). Left out: everything else a system has
(no shell, no tools, no package but those that programs may import in the local sandbox, too).
"""

from __future__ import annotations

import glob
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

PACKAGES = "sandbox/packages"
"""Folder in the image of the packages that a suite needs: one that every user may enter."""
NOT_NEEDED = {"site-packages", "dist-packages", "test", "tests", "idlelib", "lib2to3", "ensurepip",
              "turtledemo", "tkinter"}  # fmt: skip
"""Folders of the standard library that are left out; so is the linker's material."""


def interpreter() -> str:
    """The Python that runs this, without a virtual environment's link."""
    return os.path.realpath(getattr(sys, "_base_executable", sys.executable))


def python(also: Sequence[str]) -> dict[str, str]:
    """The interpreter, the modules that come with it, the folders `also`."""
    files = {interpreter(): interpreter()}
    for top in (os.path.dirname(os.__file__), "/usr/share/zoneinfo", *also):
        files |= _below(top, top, NOT_NEEDED)
    return files


def matching(patterns: Iterable[str]) -> dict[str, str]:
    """Files that match a pattern, folders with all that is in them."""
    files: dict[str, str] = {}
    for pattern in patterns:
        for path in glob.glob(pattern):
            files |= _below(path, path) if os.path.isdir(path) else {path: path}
    return files


def packages(places: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """(files, {name: its place in the image}) of pure packages, {name: folder or file here}."""
    files, moved = {}, {}
    for name, place in places.items():
        there = f"/{PACKAGES}/{os.path.basename(place)}"
        files |= _below(place, there) if os.path.isdir(place) else {there: place}
        moved[name] = there
    return files, moved


def libraries(files: Mapping[str, str]) -> dict[str, str]:
    """The shared libraries that these files are linked with, as the linker finds them."""
    linked = [path for path in files.values() if _may_be_linked(path)]
    if not linked:
        return {}
    here = {"PATH": os.environ.get("PATH", os.defpath)}  # and no LD_LIBRARY_PATH
    said = subprocess.run(["ldd", *linked], capture_output=True, text=True, env=here).stdout
    found = {os.path.normpath(path): path for path in re.findall(r"(/\S+) \(0x", said)}
    cache = "/etc/ld.so.cache"
    return found | ({cache: cache} if os.path.exists(cache) else {})


def server() -> Iterator[tuple[str, bytes]]:
    """The package's files that a server needs, and some more."""
    package = Path(__file__).resolve().parents[2]
    for path in [package / "encoding.py", *sorted((package / "sandbox").rglob("*.py"))]:
        yield f"sandbox/workbench/{path.relative_to(package)}", path.read_bytes()


def _below(top: str, there: str, left_out: Iterable[str] = ()) -> dict[str, str]:
    """The files below the folder `top`, which is called `there` in the image."""
    files = {}
    for folder, folders, names in os.walk(top):
        folders[:] = [f for f in folders if f not in left_out and not f.startswith("config-")]
        for name in names:
            path = os.path.join(folder, name)
            if not re.search(r"\.opt-\d\.pyc$", name) and os.path.isfile(path):
                files[there + path.removeprefix(top)] = path
    return files


def _may_be_linked(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF" and not path.endswith((".o", ".a"))
