"""What each command does once the environment exists.

Stage: outside the loop. Comes in: parsed options. Goes out: an exit status. Each command imports
its rooms when it runs, so that `test` does not wait for torch.
"""

from __future__ import annotations

import argparse
import os
import socket
import sys

from workbench.bootstrap import TOP, SetupError, become

NOTEBOOK = "00_watch_it_learn.ipynb"
TWO_PROCESSES = ("-n", "2", "--dist", "worksteal")
"""pytest-xdist's words for it: half of the tests each, and who is done first takes over."""


def run(options: argparse.Namespace) -> int:
    """The exit status of the chosen command."""
    return {
        "demo": _demo,
        "test": _test,
        "lab": _lab,
        "pretrain": _pretrain,
        "reproduce": _reproduce,
        "nbgrader": _nbgrader,
        "gallery": _gallery,
        "doctor": _doctor,
        "clean": _clean,
        "setup": lambda _: 0,
    }[options.command](options)


def _demo(options: argparse.Namespace) -> int:
    from workbench.demo import cheat, demo
    from workbench.learning.folder import AnotherRun

    run_one = cheat if options.cheat else demo
    try:
        run_one(seed=options.seed, minutes=options.minutes, out=options.out, resume=options.resume)
    except AnotherRun as error:  # begun on a machine with other arithmetic, say
        raise SetupError(str(error))
    return 0


def _test(options: argparse.Namespace) -> int:
    return become(pytest_command(options.pytest_args, fast=options.fast))


def pytest_command(pytest_args: list[str], *, fast: bool) -> list[str]:
    """The command that runs the tests: all in two processes, those asked for by name in one."""
    command = [sys.executable, "-m", "pytest", *(pytest_args or TWO_PROCESSES)]
    return [*command, "-m", "not slow"] if fast else command


def _lab(options: argparse.Namespace) -> int:
    check_port(options.port)
    _let_kernels_find_us()
    return become(lab_command(options.port, open_browser=not options.no_browser))


def _pretrain(options: argparse.Namespace) -> int:
    from workbench.pretraining import PretrainConfig, make_policy

    make_policy(options.out, PretrainConfig(seed=options.seed))
    return 0


def _reproduce(options: argparse.Namespace) -> int:
    from workbench.reproduce import listing, reproduce

    if options.list or options.claim is None:
        print(listing())
        return 0
    reproduce(
        options.claim,
        seeds=options.seeds,
        fast=options.fast,
        policy=options.policy,
        out=options.out,
    )
    return 0


def _nbgrader(options: argparse.Namespace) -> int:
    from workbench.classroom import ClassroomError, make_course

    try:
        points = make_course(options.out, options.notebooks)
    except ClassroomError as error:
        raise SetupError(str(error))
    for name, worth in points.items():
        print(f"{options.out}/source/{name}: {worth:g} points")
    print(
        f"Next, with nbgrader (pip install nbgrader): cd {options.out}, then for each assignment\n"
        "  nbgrader generate_assignment NAME\n"
        "  nbgrader autograde NAME              once there are submissions"
    )
    return 0


def _gallery(options: argparse.Namespace) -> int:
    from workbench.classroom import ClassroomError, make_gallery

    _let_kernels_find_us()
    if options.fast:
        os.environ["WORKBENCH_FAST"] = "1"
    try:
        made = make_gallery(options.out, options.notebooks)
    except ClassroomError as error:
        raise SetupError(str(error))
    print("written:", *made, sep="\n  ")
    return 0


def _doctor(options: argparse.Namespace) -> int:
    from workbench.diagnostics import doctor

    try:
        report = doctor(options.run)
    except ValueError as error:  # no run of that name
        raise SetupError(str(error))
    print(report)
    return 0 if report.healthy else 1


def _clean(options: argparse.Namespace) -> int:
    from workbench.sandbox.leftovers import remove_leftovers

    for line in remove_leftovers(everything=options.all) or ["nothing was left behind"]:
        print(line)
    return 0


def _let_kernels_find_us() -> None:
    """Put the repository on the path of kernels, which run in another folder."""
    paths = (str(TOP), os.environ.get("PYTHONPATH", ""))
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))


def lab_command(port: int, *, open_browser: bool = True, notebooks: str = "notebooks") -> list[str]:
    """The command that starts JupyterLab at notebook 00 without asking the network for anything."""
    command = [
        sys.executable,
        "-m",
        "jupyter",
        "lab",
        f"--port={port}",
        "--ServerApp.port_retries=0",
        f"--ServerApp.root_dir={notebooks}",
        f"--LabApp.default_url=/lab/tree/{NOTEBOOK}",
        "--LabApp.news_url=",
        "--LabApp.extension_manager=readonly",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]
    if not open_browser:
        command.append("--no-browser")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")
    return command


def check_port(port: int) -> None:
    """Nothing, or SetupError if something already listens on that port of this machine."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            raise SetupError(
                f"Port {port} is taken, perhaps by another JupyterLab.\n"
                f"Close that one, or choose another: python3 -m workbench lab --port {port + 1}"
            )
