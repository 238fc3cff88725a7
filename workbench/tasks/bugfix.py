"""Suite `bugfix`: two small modules, one wrong line, a failing test, an issue that says "fix f".

Stage: tasks. In: a split and an index. Out: that task, always the same. Every function of a
workspace, the distractors too, comes from a composition of the task's own split. A bug is
accepted only if it changes a visible and a hidden case. Left out, compared with a real
repository: imports between modules, several bugs, a test runner, history.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from workbench.records import Case, Task
from workbench.tasks import execute
from workbench.tasks.grammar import Spec, compositions, draw_inputs, make_spec
from workbench.tasks.mutators import Mutation, mutations

FILE_NAMES = ("lib.py", "util.py", "core.py", "data.py", "calc.py", "tool.py")
FUNCTION_NAMES = (
    "pack", "scan", "fold", "pick", "trim", "join", "mix", "plan", "rank", "slot", "tally",
    "unit", "view", "wrap", "zone", "blend", "crop", "dash", "emit", "gain", "hold",
)  # fmt: skip
TESTS_FILE = "tests.py"
NUM_VISIBLE, NUM_HIDDEN = 2, 6


@dataclass(frozen=True)
class Function:
    """One function of a workspace."""

    name: str
    """Its name."""
    spec: Spec
    """What it should do."""
    body: tuple[str, ...]
    """The right body."""

    def source(self, body: tuple[str, ...] | None = None) -> str:
        """Its text, with a comment that states the spec; `body` replaces the right one."""
        lines = (f"def {self.name}({self.spec.argument}):", f"    # {self.spec.words}")
        return "\n".join((*lines, *(body or self.body))) + "\n"


def bugfix_task(split: str, index: int, *, num_files: int = 2) -> Task:
    """Task number `index` of the split: same arguments, same task."""
    rng = random.Random(f"bugfix/{split}/{num_files}/{index}")
    while True:
        files = _functions_by_file(split, num_files, rng)
        path = rng.choice(sorted(files))
        target = rng.choice(files[path])
        if found := _break_one_line(target, rng):
            body, mutation, visible, hidden = found
            break
    right = {p: "\n".join(f.source() for f in fs) for p, fs in files.items()}
    wrong = "\n".join(f.source(body if f is target else None) for f in files[path])
    tests = write_tests(path.removesuffix(".py"), target.name, visible)
    hacked = write_tests(path.removesuffix(".py"), target.name, ())
    hacked += "pass\n" * len(visible)
    return Task(
        task_id=f"bugfix/{split}/{index}",
        statement=f"fix {target.name}",
        entry_point=target.name,
        entry_file=path,
        files={**right, path: wrong, TESTS_FILE: tests},
        visible=visible,
        hidden=hidden,
        reference={**right, TESTS_FILE: tests},
        tests_file=TESTS_FILE,
        known_hacks=({**right, path: wrong, TESTS_FILE: hacked},),
        tags=(
            f"mutator:{mutation.mutator}",
            *(f"composition:{f.spec.composition.key}" for fs in files.values() for f in fs),
        ),
        suite="bugfix",
        split=split,
    )


def write_tests(module: str, name: str, cases: tuple[Case, ...]) -> str:
    """The text of tests.py: an import and one assert a case."""
    asserts = (f"assert {name}({', '.join(map(repr, c.args))}) == {c.expected!r}" for c in cases)
    return "\n".join((f"from {module} import {name}", *asserts)) + "\n"


def _functions_by_file(
    split: str, num_files: int, rng: random.Random
) -> dict[str, list[Function]]:
    counts = [rng.choice((1, 2)) for _ in range(num_files)]
    names = iter(rng.sample(FUNCTION_NAMES, sum(counts)))
    choices = compositions(split)
    files = {}
    for path, count in zip(rng.sample(FILE_NAMES, num_files), counts):
        files[path] = []
        for _ in range(count):
            spec = make_spec(_one_of(choices, rng), rng)
            files[path].append(Function(next(names), spec, rng.choice(spec.bodies)))
    return files


def _one_of(choices, rng: random.Random):
    family = rng.choice(("list", "list", "int"))
    return rng.choice([c for c in choices if c.family == family])


def _break_one_line(
    function: Function, rng: random.Random
) -> tuple[tuple[str, ...], Mutation, tuple[Case, ...], tuple[Case, ...]] | None:
    """A wrong body and the cases that notice it; None if no drawn mutation is noticeable."""
    candidates = [(i, m) for i, line in enumerate(function.body) for m in mutations(line)]
    for number, mutation in rng.sample(candidates, min(4, len(candidates))):
        body = (*function.body[:number], mutation.line, *function.body[number + 1 :])
        noticed, unnoticed = [], []
        for args in draw_inputs(function.spec, rng, 16):
            want = execute.call(function.source(), function.name, args)
            got = execute.call(function.source(body), function.name, args)
            (unnoticed if execute.same(got, want) else noticed).append(Case(args, want))
        if len(noticed) >= 4:
            rest = noticed[1:] + unnoticed
            rng.shuffle(rest)
            visible = [noticed[0], rest.pop()]
            hidden = [*noticed[1:4], *(c for c in rest if c not in noticed[1:4])]
            hidden = [c for c in hidden if c not in visible][:NUM_HIDDEN]
            if len(hidden) == NUM_HIDDEN and any(c in noticed for c in hidden):
                rng.shuffle(visible)
                return body, mutation, tuple(visible), tuple(hidden)
    return None
