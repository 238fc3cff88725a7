"""The program of a container: a sandbox server between its standard input and output.

Stage: sandbox (server side). Started as `python3 -P -s -S inside.py SIDE FOLDER MEETING SETUP
NAME...`: which side, its work folder, where the sides meet, the setup as for `server`, and the
environment variables a run may see. What the setup names and the image lacks is not there to read.
The container's first process serves solutions; the server for tests is started in the same
container later. It makes a socket in the folder MEETING, which only root may enter (and a run's
filter forbids sockets); the solutions' server sends there. Left out: every weaker kind of walls;
where these cannot be had, the server says why and does not start.
"""

from __future__ import annotations

import functools
import json
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

import _socket

from workbench.sandbox import confine, server, toolbox


class Contained:
    """Tier 2, in a container: what the walls of `confine` or `toolbox` have here besides."""

    def __init__(self, side, reads):
        super().__init__([path for path in reads if os.path.exists(path)])
        self._side = side

    def prepare(self, folder):
        """As for the walls."""
        super().prepare(folder)
        first, count = confine.RUN_UIDS  # threads are counted by user id, over all containers
        place = int.from_bytes(os.urandom(2), "little") % (count // 2)
        self.uid = first + 2 * place + (self._side == "tests")  # never the other side's


class Plain(Contained, confine.Filters):
    """For runs that start no programs."""


class Starting(Contained, toolbox.Filters):
    """For runs that do."""


class ToTests:
    """What the solutions' server sends through."""

    def __init__(self, address):
        self._address = address
        self._socket = _socket.socket(_socket.AF_UNIX, _socket.SOCK_DGRAM)

    def sendmsg(self, buffers, rights):
        """As a socket's. Raises OSError as long as there is no server for tests."""
        self._socket.sendmsg(buffers, rights, 0, self._address)


def from_solutions(address):
    """The socket at which the tests' server hears."""
    here = _socket.socket(_socket.AF_UNIX, _socket.SOCK_DGRAM)
    here.bind(address)
    return here


def main(name, folder, meeting, setup, kept):
    """Serve until standard input ends; of the environment, only the variables `kept` stay."""
    for variable in set(os.environ) - set(kept):
        del os.environ[variable]  # what the engine and the image have set
    requests, responses, errors = (os.dup(number) for number in range(3))
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(nothing, number)
    os.read(requests, 1)  # nobody may be listening before
    try:
        inner = (from_solutions if name == "tests" else ToTests)(f"{meeting}/tests")
        kind, packages = Starting if setup["programs"] else Plain, setup["packages"]
        kinds = [kind(name, setup["reads"])]
        make_side = functools.partial(server.side_of, name, inner, setup["harness"])
        server.main((requests, responses), os.getppid(), kinds, folder, make_side, packages)
    except OSError as error:
        os.write(errors, str(error).encode())


if __name__ == "__main__":
    main(*sys.argv[1:4], json.loads(sys.argv[4]), sys.argv[5:])
