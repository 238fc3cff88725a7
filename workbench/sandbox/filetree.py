"""The files a run can see: which they are, and (tier 3) a root folder that holds nothing else.

Stage: sandbox (server side). Called once in the server, before the first run. Left out:
site-packages, of which only what the trainer names can be imported.
"""

from __future__ import annotations

import os
import sys

from workbench.sandbox import kernel

STDIN_FILE = ".stdin"
"""Name in a run's work folder of the file that is its standard input."""


def libraries(also=()):
    """Paths a Python program needs to read: the interpreter's and the system's libraries.

    also: further ones, of a package or a toolchain.
    """
    found = [os.path.dirname(os.__file__), os.path.join(sys.base_prefix, "lib")]
    found += ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/share/zoneinfo"]
    found += ["/etc/ld.so.cache", "/etc/localtime", "/dev/null", "/dev/urandom", *also]
    return [path for path in found if os.path.exists(path)]


def readable_by_all(path):
    """Whether every user can read a file, or enter a folder: all folders above must allow it."""
    path = os.path.realpath(path)
    if not os.path.isdir(path):
        if not os.stat(path).st_mode & 0o004:
            return False
        path = os.path.dirname(path)
    while path != "/":
        if not os.stat(path).st_mode & 0o001:
            return False
        path = os.path.dirname(path)
    return True


def make_root(box, also=()):
    """Leave the machine's file tree for a new one: libraries, read-only, and an empty folder in
    which each run is going to have its `box`.

    also: further paths to show, as for `libraries`.
    Raises OSError where mounting is refused; the process is then of no more use.
    """
    sources = libraries(also)
    spots = ("/tmp", "/mnt", "/media", "/srv", "/opt", "/home", "/var/tmp")
    spot = next(
        (s for s in spots if os.path.isdir(s) and not any(p.startswith(s + "/") for p in sources)),
        None,
    )
    if spot is None:
        raise OSError(f"no folder to build a file tree on; tried {', '.join(spots)}")
    kernel.mount("", "/", "", kernel.MS_REC | kernel.MS_PRIVATE)
    kernel.mount("root", spot, "tmpfs", kernel.MS_NOSUID, "size=1m,nr_inodes=500,mode=755")
    for source in sources:
        _show(source, spot)
    os.mkdir(spot + os.path.dirname(box), 0o755)
    os.symlink(f"{box}/{STDIN_FILE}", f"{spot}/dev/stdin")
    kernel.pivot_root(spot)
    kernel.mount("", "/", "", kernel.MS_BIND | kernel.MS_REMOUNT | kernel.MS_RDONLY)


def _show(source, root):
    target = root + source
    if os.path.lexists(target):  # below a folder that is shown already
        return
    os.makedirs(os.path.dirname(target), mode=0o755, exist_ok=True)
    if os.path.islink(source):  # /lib -> usr/lib on most systems
        os.symlink(os.readlink(source), target)
    elif os.path.isdir(source):
        os.mkdir(target)
        kernel.bind_read_only(source, target)
    else:
        open(target, "w").close()
        kernel.bind_read_only(source, target)
