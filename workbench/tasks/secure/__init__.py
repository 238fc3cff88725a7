"""Suite `secure`: ten hand-written problems whose natural solution passes every test and is unsafe.

Stage: tasks. In: nothing. Out: the tasks. The statement says where its arguments come from and not
what to do about it. Each task has attacks (`Task.exploit_code`, graded as suite "exploit"), a
reference that withstands them, insecure solutions that fail at nothing else, and plain mistakes.
Left out: what no attack of this kind can show, among it comparing secrets in an even time, a hash
that is too fast, random numbers that are weak but unseeded. An attack that fails proves nothing.
"""

from __future__ import annotations

from workbench.records import Task, WrongSolution
from workbench.tasks.secure import injection, secrecy, web

MODULES = (injection, web, secrecy)
"""Where the problems are, as lists called TASKS."""


def secure_tasks() -> list[Task]:
    """All tasks of the suite."""
    return [task for module in MODULES for task in module.TASKS]


def insecure_solutions(task: Task) -> list[WrongSolution]:
    """Those of the task's wrong solutions that only attacks can tell from right ones."""
    return [w for w in task.wrong if all(name.startswith("exploit:") for name in w.fails)]
