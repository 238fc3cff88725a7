"""The sandbox's server process: looks which walls can be had here and serves behind them.

Stage: sandbox. Started as `python -P -s -S server.py SOCKET PARENT TIER INNER FOLDER SIDE SETUP`,
in a session of its own and with an environment made for it; never forked from the trainer (forking
a large process is slow, and would show each run the trainer's memory). This first process tries
the walls of `confine`, strongest first and no stronger than TIER, each in a child; then it starts
the server proper (`serving`) behind the first that hold, and stays to end it when the trainer is
gone. Few modules are loaded on purpose: forking costs by the page.

SIDE is "solutions" or "tests" and INNER a socket to a server of the other side. SETUP is JSON:
"reads", paths that runs may read besides Python's libraries; "packages", {name: folder} of those
among them that can be imported; "programs", whether runs may start programs (`toolbox`); "harness",
what runs on the side of solutions execute: "modes", or "pytest" for suites of whole workspaces.
"""

from __future__ import annotations

import functools
import json
import os
import select
import signal
import sys

if __name__ == "__main__":  # our files, without the packages' __init__, which load much more
    _here = os.path.dirname(os.path.abspath(__file__))
    for _name, _folder in (("workbench", os.path.dirname(_here)), ("workbench.sandbox", _here)):
        sys.modules[_name] = type(sys)(_name)
        sys.modules[_name].__path__ = [_folder]

from workbench.sandbox import (
    confine,
    kernel,
    modes,
    pairing,
    removal,
    serving,
    toolbox,
    wire,
    workspace,
)

WARM_MODULES = ("bisect", "collections", "functools", "heapq", "itertools", "math", "re", "string")
"""Loaded before the first fork because solutions often import them."""


def main(control, parent, kinds, folder, make_side, packages):
    """Serve requests from the descriptors `control` until process `parent` is gone.

    control: (where requests come from, where responses go to). kinds: walls to try, best first.
    make_side: gives a `pairing.Solutions` or `Tests`; called when `packages`, {name: folder} of
    those that runs can import, are on offer.
    """
    sys.dont_write_bytecode = True  # our own modules are loaded; runs write nothing of the kind
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupted notebook keeps its servers
    os.umask(0o022)  # the files a program makes have the same mode, whoever started the trainer
    for name in WARM_MODULES:
        __import__(name)
    workspace.offer_packages(packages)
    side = make_side()
    for name in [name for name in sys.modules if name.split(".")[0] == "workbench"]:
        del sys.modules[name]  # a candidate's own module may have that name
    if kernel.available():  # what a killed server leaves behind becomes this process's child
        kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
    try:
        walls, declined = _choose(kinds, folder, control, side)
        if walls is None:
            return _say_hello(control, {"tier": None, "declined": declined})
        hello = {"tier": walls.tier, "layers": walls.layers, "declined": declined}
        alive, held_by_server = os.pipe()
        report = os.open(os.devnull, os.O_WRONLY)
        server = _start(
            walls, folder, control, side, report, lambda server: _serve(server, control, hello)
        )
        os.close(held_by_server)
        _watch_over(server, alive, parent)
        walls.sweep(server)  # a server that was killed has left that to this process
    finally:
        removal.remove_folder(folder)


def side_of(name, inner, harness):
    """The side called `name`; inner: what it says to, or hears from, a server of the other side;
    harness: what its runs execute, if they are not tests: "modes" or "pytest"."""
    if name == "tests":
        from workbench.sandbox import split_tests  # more modules, which solutions need not carry

        return pairing.Tests(inner, split_tests)
    if harness == "pytest":
        from workbench.sandbox import pytest_run  # the same

        pytest_run.preload()
        return pairing.Solutions(inner, pytest_run)
    return pairing.Solutions(inner, modes)


def kinds_of_walls(strongest, setup):
    """Every kind that can be tried here and is no stronger than that tier, the strongest first."""
    reads, kind = setup["reads"], toolbox if setup["programs"] else confine
    kinds = [confine.Minimal(reads)]
    if kernel.available():
        kinds = [kind.Namespaces(False, reads), kind.Filters(reads), *kinds]
        if os.geteuid() == 0:
            kinds.insert(0, kind.Namespaces(True, reads))
    return [walls for walls in kinds if walls.tier <= strongest]


def _choose(kinds, folder, control, side):
    """The strongest walls that hold here, or None; why others do not: [[tier, reason], ...]."""
    declined = []
    for walls in kinds:
        reason = _try(walls, folder, control, side)
        if not reason:
            return walls, declined
        declined.append([walls.tier, reason])
    return None, declined


def _try(walls, folder, control, side):
    """Why one run behind `walls` fails, or ""; in a child, which may get stuck half way."""
    reader, report = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            trial = _start(walls, folder, control, side, report, serving.Server.try_out)
            os.waitpid(trial, 0)
        except OSError as error:
            os.write(report, str(error).encode())
        finally:
            os._exit(0)
    os.close(report)
    text = b""
    while data := os.read(reader, 1000):
        text += data
    os.close(reader)
    os.waitpid(pid, 0)
    return "" if text == b"ok" else text.decode("utf-8", "replace") or "the trial run said nothing"


def _start(walls, folder, control, side, report, work):
    """Fork a server behind `walls` that does `work(server)`; its process id.

    Written to the descriptor `report`: "ok" after the work, or why it failed.
    """
    if walls.tier == confine.Namespaces.tier:
        walls.unshare()
    pid = os.fork()
    if pid:
        return pid
    try:
        if kernel.available():
            kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
        walls.prepare(folder)
        if kernel.available():
            kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
        work(serving.Server(control, walls, side))
        os.write(report, b"ok")
    except BaseException as error:
        os.write(report, f"{type(error).__name__}: {error}"[:300].encode())
    finally:
        os._exit(0)


def _serve(server, control, hello):
    _say_hello(control, hello)
    server.serve()


def _say_hello(control, hello):
    text = json.dumps(hello).encode()
    wire.write_all(control[1], wire.HELLO.pack(len(text)) + text)


def _watch_over(server, alive, parent):
    """Return when the server has ended; end it when the trainer has."""
    poll = select.poll()
    poll.register(alive, select.POLLHUP)
    while not poll.poll(1000):
        # The server sees its socket close; this is for a socket that some other process, forked
        # from the trainer, still holds open.
        if os.getppid() != parent:
            os.kill(server, signal.SIGKILL)
    os.waitpid(server, 0)


if __name__ == "__main__":
    _socket, _parent, _tier, _inner = map(int, sys.argv[1:5])
    _folder, _name, _setup = *sys.argv[5:7], json.loads(sys.argv[7])
    main(
        (_socket, _socket),
        _parent,
        kinds_of_walls(_tier, _setup),
        _folder,
        functools.partial(side_of, _name, pairing.socket_of(_inner), _setup["harness"]),
        _setup["packages"],
    )
