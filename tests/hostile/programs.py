"""All hostile programs, and how one is stated as a task.

Stage: tests. In: the families. Out: PROGRAMS, and `attack_task`/`twin_task`, the task and the files
that a grader is given for a program in a mode.
"""

from __future__ import annotations

from typing import Any

from tests.hostile import (
    bombs,
    doors,
    early_exit,
    endless,
    equality,
    fake_output,
    files,
    memory_of_runs,
    network,
    patching,
    persuasion,
    processes,
    reading,
    resources,
    takeover,
    timing,
)
from tests.hostile.naive_children import PROGRAM_END
from tests.hostile.record import Attack, Twin, cases_of
from workbench.records import Case, Limits, Task

FAMILIES = (early_exit, equality, fake_output, memory_of_runs, patching, persuasion, reading)
FAMILIES += (takeover, timing, files, processes, network, doors, resources, bombs, endless)
PROGRAMS: tuple[Attack, ...] = tuple(attack for family in FAMILIES for attack in family.ATTACKS)
BY_NAME = {attack.name: attack for attack in PROGRAMS}
FAST = tuple(attack for attack in PROGRAMS if attack.fast)


def attack_task(attack: Attack, mode: str, secret: str) -> tuple[Task, dict[str, str]]:
    """The task that the attack should fail, and the files it hands in."""
    cases = cases_of(attack.cases, secret)
    task = _task(attack.name, mode, cases, attack.wall_s, attack.tolerance)
    return task, {"lib.py": _text(attack.program, mode), **attack.files}


def twin_task(twin: Twin, mode: str) -> tuple[Task, dict[str, str]]:
    """The task that the twin should pass, and the files it hands in."""
    task = _task(f"twin-{twin.name}", mode, twin.cases, 20.0, None)
    return task, {"lib.py": _text(twin.program, mode)}


def shared_task(attack: Attack, secret: str) -> tuple[Task, dict[str, str]]:
    """The attack where the tests lie in its workspace: their file as it left it decides."""
    cases = cases_of(attack.cases, secret)
    tests = "from lib import f\n"
    tests += "".join(f"assert f(*{args!r}) == {want!r}\n" for args, want in cases)
    task = _task(attack.name, "shared", cases, attack.wall_s, attack.tolerance, tests)
    return task, {**task.files, "lib.py": attack.program, **attack.files}


def _text(program: str, mode: str) -> str:
    return program + PROGRAM_END if mode == "program" else program


def _task(
    name: str, mode: str, cases: tuple, wall_s: float, tolerance: float | None, tests: str = ""
) -> Task:
    stated, test_code = [], ""
    if mode == "split":
        asserts = "".join(f"    assert candidate(*{args!r}) == {want!r}\n" for args, want in cases)
        test_code = f"def check(candidate):\n{asserts}"
    elif mode == "program":
        stated = [Case((repr(args),), repr(want) + "\n") for args, want in cases]
    else:
        stated = [_case(args, want, tolerance) for args, want in cases]
    visible = len(stated) if tests else len(stated) // 2
    files = {"lib.py": "def f(n):\n    pass\n"} | ({"tests.py": tests} if tests else {})
    return Task(
        task_id=name,
        statement="",
        entry_point="" if mode == "program" else "f",
        entry_file="lib.py",
        files=files,
        visible=tuple(stated[:visible]),
        hidden=tuple(stated if tests else stated[visible:]),
        reference={},
        test_code=test_code,
        tests_file="tests.py" if tests else None,
        limits=Limits(cpu_s=1.0, wall_s=wall_s, memory_mb=512),
    )


def _case(args: tuple, want: Any, tolerance: float | None) -> Case:
    if tolerance is None:
        return Case(args, want)
    return Case(args, want, "close", tolerance)
