"""What a run can be asked to do, and which module does it.

Stage: sandbox (server side, in a confined fork): the harness of every server but those for tests.

    call, split, tests   candidate   a Python function, or asserts next to it
    program              as_main     a Python program that reads standard input
    compile, execute     toolchain   the same in other languages
"""

from __future__ import annotations

from workbench.sandbox import as_main, candidate, toolchain

TRIAL, warm_up, unpack = candidate.TRIAL, candidate.warm_up, candidate.unpack


def run(request, pipe, box, ends=()):
    """Execute one request; the exit status it asks for. Arguments as for `candidate.run`."""
    if request["mode"] in ("call", "split", "tests"):
        candidate.run(request, pipe, box, ends)
        return 0
    candidate.close_all(ends)
    if request["mode"] == "program":
        return as_main.run(request, pipe, box)
    return toolchain.run(request, pipe, box)
