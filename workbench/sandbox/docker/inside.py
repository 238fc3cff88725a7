"""The program of a container: a sandbox server between its standard input and output.

Stage: sandbox (server side). Started by the engine as `python3 -P -s -S inside.py FOLDER NAME...`:
the work folder, and the environment variables a run may see. Left out: every weaker kind of walls;
where these cannot be had, the server says why and does not start.
"""

from __future__ import annotations

import os
import sys

if __name__ == "__main__":  # our files, without the packages' __init__, which load much more
    _here = os.path.dirname(os.path.abspath(__file__))
    _sandbox = os.path.dirname(_here)
    for _name, _folder in (
        ("workbench", os.path.dirname(_sandbox)),
        ("workbench.sandbox", _sandbox),
    ):
        sys.modules[_name] = type(sys)(_name)
        sys.modules[_name].__path__ = [_folder]

from workbench.sandbox import confine, server

UID = 65532
"""The user of every run."""


class Contained(confine.Filters):
    """Tier 2 in a container of its own, whose processes a cgroup counts."""

    own_user = {}

    def prepare(self, folder):
        super().prepare(folder)
        self.uid = UID


def main(folder, kept):
    """Serve until standard input ends; of the environment, only the variables `kept` stay."""
    for name in set(os.environ) - set(kept):
        del os.environ[name]  # what the engine and the image have set
    requests, responses, errors = (os.dup(number) for number in range(3))
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(nothing, number)
    try:
        server.main((requests, responses), os.getppid(), [Contained], folder)
    except SystemExit as error:
        os.write(errors, str(error).encode())


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
