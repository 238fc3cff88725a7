"""Is the suite `repos` sound? Right changes always pass, nothing else ever does, nothing is flaky.

    python benchmarks/repositories.py [--times 10] [--sandbox local] [--sandbox docker]

For each repository and sandbox, how often of how many times all required tests passed:

    reference    the right change that comes with the task
    alternative  another right change, written otherwise: tests must pin behaviour, not code
    nothing      no change at all
    mistakes     known wrong changes and hacks, each once
    attacks      on the grader (workbench.audit.repository_attacks), each once
    unsteady     submissions of which two runs disagree about a test
    cpu ms       CPU milliseconds a grading

Exits with 1 if anything is not as it should be. "docker" needs an engine (DOCKER_HOST names one).
"""

from __future__ import annotations

import argparse
import sys

from workbench import load_tasks, open_sandbox
from workbench.audit import RepositoryCheck, check_repository

COLUMNS = "reference", "alternative", "nothing", "mistakes", "attacks"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--sandbox", action="append", metavar="KIND", default=[])
    options = parser.parse_args()
    complaints = 0
    for kind in options.sandbox or ["local"]:
        with open_sandbox(kind, workers=1, reuse=False) as sandbox:
            print(f"\n{sandbox.name}, {options.times} times")
            titles = "".join(f"{title:>13}" for title in (*COLUMNS, "unsteady", "cpu ms"))
            print(f"{'repository':12}{titles}")
            for task in load_tasks("repos"):
                before = sandbox.stats
                check = check_repository(task, sandbox, options.times)
                num_runs = sandbox.stats.executions - before.executions
                cpu_ms = 1000 * (sandbox.stats.cpu_s - before.cpu_s) / num_runs
                print(row(check, cpu_ms), flush=True)
                for complaint in check.complaints:
                    print(f"    {complaint}")
                complaints += len(check.complaints)
    print(f"\n{complaints} complaints")
    return 1 if complaints else 0


def row(check: RepositoryCheck, cpu_ms: float) -> str:
    """A line of the table."""
    groups = {
        "mistakes": [name for name in check.runs if name.startswith(("wrong", "hack"))],
        "attacks": [name for name in check.runs if name.startswith("attack")],
    }
    cells = []
    for column in COLUMNS:
        names = groups.get(column, [column])
        passed, runs = (sum(each[name] for name in names) for each in (check.passed, check.runs))
        cells.append(f"{passed} of {runs}")
    cells += [str(len(check.unsteady)), f"{cpu_ms:.0f}"]
    return f"{check.task_id.removeprefix('repos/'):12}" + "".join(f"{cell:>13}" for cell in cells)


if __name__ == "__main__":
    sys.exit(main())
