"""How the tests of mode "split" ask, and the program and limits that most of them use."""

import textwrap

from workbench.records import Limits

DOUBLE = "def f(x):\n    return 2 * x\n"
LIMITS = Limits(cpu_s=0.5, wall_s=5.0, memory_mb=256)


def split(sandbox, program, tests, limits=LIMITS, name="f"):
    """run_split of two texts, indented as they stand here."""
    files = {"lib.py": textwrap.dedent(program)}
    return sandbox.run_split(files, "lib.py", name, textwrap.dedent(tests), limits)


def statuses(result):
    return [status for _, status, _ in result.outcomes]
