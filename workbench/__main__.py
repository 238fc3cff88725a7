"""The command line: `python3 -m workbench demo|test|lab|...`.

Stage: outside the loop. Only the standard library is imported until the environment exists;
`bootstrap` makes it on first use and this file runs again inside it.
"""

from __future__ import annotations

import argparse
import functools
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from workbench import bootstrap

NEED_TEST_EXTRA = ("test", "setup", "nbgrader", "gallery")
"""Commands that use the packages of pyproject.toml's extra "test"."""
Number = TypeVar("Number", int, float)


def parser() -> argparse.ArgumentParser:
    """The command line's parser; every command's options are here."""
    top = argparse.ArgumentParser(
        prog="python3 -m workbench",
        description="Reinforcement learning for coding agents, on a laptop. "
        "The first command makes .venv from the lock files (a few minutes, once).",
    )
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    command = functools.partial(commands.add_parser, allow_abbrev=False)

    _demo_options(command("demo", help="watch a policy learn to repair bugs"))

    test = command("test", help="run the tests")
    test.add_argument("--fast", action="store_true", help="leave out tests marked slow")
    test.add_argument("pytest_args", nargs="*", help="passed on to pytest (after --)")

    lab = command("lab", help="open JupyterLab at the first notebook")
    lab.add_argument("--port", type=_port, default=8888, help="of this machine (default 8888)")
    lab.add_argument("--no-browser", action="store_true", help="print the address, open nothing")

    pretrain = command("pretrain", help="make the shipped tiny policy again")
    pretrain.add_argument("--seed", type=_seed, default=0, help="of corpus and weights (default 0)")
    pretrain.add_argument(
        "--out", type=_folder, default="runs/pretrain", help="folder (default runs/pretrain)"
    )

    again = command("reproduce", help="measure a published figure again")
    again.add_argument("claim", nargs="?", help="its name; without one, the list of them")
    again.add_argument("--list", action="store_true", help="what each shows, and what it does not")
    again.add_argument("--seeds", type=int, help="how many (default: the claim's own number)")
    again.add_argument("--fast", action="store_true", help="tiny sizes, to see that it runs")
    again.add_argument("--policy", default="tiny", help="base policy: a name or a folder")
    again.add_argument("--out", type=_folder, help="folder of the results (default runs/reproduce)")

    course = command("nbgrader", help="write an nbgrader course from the notebooks")
    course.add_argument("out", type=_folder, help="folder of the course")
    course.add_argument(
        "notebooks", nargs="*", default=[], metavar="NOTEBOOK", help='e.g. "00" (default all)'
    )

    gallery = command("gallery", help="run the notebooks and write them as HTML")
    gallery.add_argument("notebooks", nargs="*", metavar="NOTEBOOK", help='e.g. "00" (default all)')
    gallery.add_argument("--fast", action="store_true", help="tiny runs, to see that it works")
    gallery.add_argument(
        "--out", type=_folder, default="runs/gallery", help="folder (default runs/gallery)"
    )

    _add_upkeep(command)
    return top


def _add_upkeep(command: Callable[..., argparse.ArgumentParser]) -> None:
    """The commands that look after the workbench itself."""
    examine = command("doctor", help="what is wrong with this machine, or with a run")
    examine.add_argument("run", nargs="?", help="a run's folder or name (default: the machine)")

    clean = command("clean", help="remove what sandboxes left behind: containers, images, folders")
    clean.add_argument("--all", action="store_true", help="also what running processes use")

    command("setup", help="make the environment and stop")


def _demo_options(demo: argparse.ArgumentParser) -> None:
    demo.add_argument("--seed", type=_seed, default=0, help="seed of the whole run (default 0)")
    begin_or_go_on = demo.add_mutually_exclusive_group()
    begin_or_go_on.add_argument(
        "--minutes",
        type=_minutes,
        help="fit the run into about this many minutes; two idle cores need at least about 2, with "
        "--cheat 3, and a machine that needs more says so within seconds",
    )
    demo.add_argument("--cheat", action="store_true", help="reward a forgeable test; then repair")
    demo.add_argument("--out", type=_folder, help="run folder (default runs/demo-SEED)")
    begin_or_go_on.add_argument(
        "--resume",
        action="store_true",
        help="go on with an interrupted run, as long as it was begun to be: with its --out, --seed "
        "and --cheat",
    )


def _minutes(text: str) -> float:
    return _between(1, 10_000, float, "1 to 10000 minutes", text)


def _seed(text: str) -> int:
    return _between(0, 2**32 - 1, int, "a seed from 0 to 2**32 - 1", text)


def _folder(text: str) -> str:
    for place in (Path(text), *Path(text).parents):
        if place.is_file():
            raise argparse.ArgumentTypeError(f"expected a folder, but {place} is a file")
    return text


def _port(text: str) -> int:
    return _between(1, 65535, int, "a port from 1 to 65535", text)


def _between(low: int, high: int, kind: type[Number], wanted: str, text: str) -> Number:
    """The number that `text` says, if it is one in [low, high]."""
    try:
        number = kind(text)
    except ValueError:
        number = None
    if number is None or not low <= number <= high:
        raise argparse.ArgumentTypeError(f"expected {wanted}, got {text}")
    return number


def main(argv: list[str] | None = None) -> int:
    """Run one command; returns the exit status (2 = something to fix first, with its text)."""
    argv = sys.argv[1:] if argv is None else argv
    try:
        bootstrap.check_python()
        options = parser().parse_args(argv)
        extras = ("test",) if options.command in NEED_TEST_EXTRA else ()
        python = bootstrap.ensure_environment(extras)
        # Two torch threads beside a busy neighbour are several times slower than one.
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        # Bars for loading a 3 MB model would tear our own lines.
        os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
        if str(python) != sys.executable:
            return bootstrap.become([str(python), "-m", "workbench", *argv])
        from workbench import commands

        return commands.run(options)
    except bootstrap.SetupError as error:
        print(f"workbench: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
