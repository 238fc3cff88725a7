"""What a sandbox has on this machine, seen from outside: processes, temporary folders, mounts."""

import os
import tempfile
import time
from pathlib import Path

from workbench.sandbox.process import FOLDER_PREFIX


def servers(sandbox):
    """Process ids of the servers for solutions and of those for tests."""
    found = [keeper._worker.server for keeper in sandbox._pool._keepers]
    return [s.pid for s in found], [s.tests.pid for s in found if s.tests]


def descendants(pid):
    """Process ids below `pid`, itself included."""
    found = [pid]
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    for child in children:
        found += descendants(int(child))
    return found


def running(pids):
    """Those that are there and no zombies."""
    found = []
    for pid in pids:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except OSError:
            continue
        found += [pid] * (state != "Z")
    return found


def wait_until_gone(pids, seconds=20):
    """Those that still run after that time: [] if all goes well."""
    for _ in range(seconds * 20):
        if not running(pids):
            return []
        time.sleep(0.05)
    return running(pids)


def folders(owner):
    """Work folders of the process `owner` in the temporary folder."""
    names = os.listdir(tempfile.gettempdir())
    return sorted(name for name in names if name.startswith(f"{FOLDER_PREFIX}{owner}-"))


def wait_until_no_folder(owner, seconds=20):
    """The work folders that are still there after that time."""
    for _ in range(seconds * 20):
        if not folders(owner):
            return []
        time.sleep(0.05)
    return folders(owner)


def settled(look):
    """What `look()` says once it says the same twice: after a run a server makes its next fork."""
    last = look()
    for _ in range(100):
        time.sleep(0.1)
        now = look()
        if now == last:
            break
        last = now
    return last
