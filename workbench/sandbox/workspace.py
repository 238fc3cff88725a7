"""What a run finds when it starts: its files, the modules it can import, its standard streams.

Stage: sandbox (server side, in a confined fork). Paths and texts of a request come in; files in
the work folder and a finder of modules come out. What fails here is never the program's doing.
"""

from __future__ import annotations

import os
import sys

from workbench.sandbox import wire
from workbench.sandbox.filetree import STDIN_FILE


def forget(files):
    """Let the workspace's modules take the place of loaded ones: it may have its own json.py."""
    for path in files:
        sys.modules.pop(path.split("/")[0].removesuffix(".py"), None)


def write_files(request, box):
    """Write a request's files to the folder `box`, and open the text for its standard input."""
    for path, text in request["files"].items():
        if "/" in path:
            os.makedirs(os.path.dirname(f"{box}/{path}"), exist_ok=True)
        _write(f"{box}/{path}", text.encode("utf-8", "surrogatepass"), 0o600)
    for path, data in request.get("binaries", {}).items():
        import binascii  # here: most servers have no use for it

        _write(f"{box}/{path}", binascii.a2b_base64(data), 0o700)
    if "stdin" in request:
        path = f"{box}/{STDIN_FILE}"
        _write(path, request["stdin"].encode("utf-8", "surrogatepass"), 0o600)
        file = os.open(path, os.O_RDONLY)
        os.dup2(file, 0)
        os.close(file)


def _write(path, data, mode):
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    wire.write_all(file, data)
    os.close(file)


def read(path):
    """The bytes of a file."""
    file = os.open(path, os.O_RDONLY)
    data = os.read(file, os.fstat(file).st_size)
    os.close(file)
    return data


def flush():
    """Let go of what was printed and not yet written; a program may have put anything there."""
    for stream in (sys.stdout, sys.__stdout__, sys.stderr):
        try:
            stream.flush()
        except BaseException:
            pass


def offer_files(files, box):
    """Let the workspace's modules be imported; the finder of the plain ones."""
    modules = Modules(files, box)
    sys.meta_path.insert(0, modules)
    sys.path.insert(0, box)  # for packages, which the line above leaves to Python
    return modules


def offer_packages(places):
    """Let each package of {name: folder or file} be imported, and nothing that lies beside it."""
    if places:
        sys.meta_path.append(Packages(places))


class Modules:
    """Imports plain modules of the workspace: a finder that touches far less than Python's own."""

    def __init__(self, files, box):
        self._paths = {p[:-3]: f"{box}/{p}" for p in files if p.endswith(".py") and "/" not in p}

    def find_spec(self, name, path=None, target=None):
        """What importlib asks of a finder."""
        if name not in self._paths:
            return None
        spec = type(os.__spec__)(name, self, origin=self._paths[name])
        spec.has_location = True
        return spec

    def create_module(self, spec):
        """None: an ordinary module."""

    def exec_module(self, module):
        """Run the file as it now lies in the workspace."""
        path = module.__spec__.origin
        exec(compile(read(path), path, "exec", 0, True), module.__dict__)

    def load(self, name):
        """What `import name` does, by a shorter way for a plain module."""
        if name not in self._paths:
            return __import__(name)
        module = sys.modules[name] = type(sys)(name)
        module.__spec__, module.__file__ = self.find_spec(name), self._paths[name]
        module.__loader__, module.__package__ = self, ""
        return self.exec_module(module)


class Packages:
    """A finder for single packages of site-packages; asked last, so that others lose no time."""

    def __init__(self, places):
        self._places = places
        self._spec = sys.modules["_frozen_importlib_external"].spec_from_file_location

    def find_spec(self, name, path=None, target=None):
        """What importlib asks of a finder."""
        if name not in self._places:
            return None
        place = self._places[name]
        if place.endswith(".py"):
            return self._spec(name, place)
        return self._spec(name, f"{place}/__init__.py", submodule_search_locations=[place])
