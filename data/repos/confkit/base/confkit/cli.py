"""The command line: `get` one setting, `list` all of them."""

import argparse
import sys

from confkit.reader import load


def main(arguments):
    """Run a command; returns the exit status."""
    options = _parser().parse_args(arguments)
    settings = load(options.file)
    if options.command == "list":
        for key in sorted(settings):
            print(f"{key} = {settings[key]}")
        return 0
    value = settings.get(options.key, options.default)
    if value is None:
        print(f"missing: {options.key}", file=sys.stderr)
        return 1
    print(value)
    return 0


def _parser():
    parser = argparse.ArgumentParser(prog="confkit")
    commands = parser.add_subparsers(dest="command", required=True)
    get = commands.add_parser("get", help="print one setting")
    get.add_argument("file")
    get.add_argument("key")
    get.add_argument("--default", help="printed when there is no such setting")
    listing = commands.add_parser("list", help="print all settings")
    listing.add_argument("file")
    return parser
