"""Suite `functions`: "write f(xs): sum of double of even", one turn, the body is the answer.

Stage: tasks. In: a split and an index. Out: that task, always the same; the grammar and the
splits are those of `bugfix`. Left out: anything a real benchmark asks for beyond one expression
or loop (see the suite `warmup` and the loaders for those).
"""

from __future__ import annotations

import random

from workbench.records import Case, Task
from workbench.tasks import execute
from workbench.tasks.bugfix import NUM_HIDDEN, NUM_VISIBLE
from workbench.tasks.grammar import compositions, draw_inputs, make_spec

ENTRY_FILE, NAME = "solution.py", "f"


def functions_task(split: str, index: int) -> Task:
    """Task number `index` of the split: same arguments, same task."""
    rng = random.Random(f"functions/{split}/{index}")
    family = rng.choice(("list", "list", "int"))
    choices = [c for c in compositions(split) if c.family == family]
    spec = make_spec(rng.choice(choices), rng)
    header = f"def {NAME}({spec.argument}):"
    source = "\n".join((header, *rng.choice(spec.bodies))) + "\n"
    cases = [
        Case(args, execute.call(source, NAME, args))
        for args in draw_inputs(spec, rng, NUM_VISIBLE + NUM_HIDDEN)
    ]
    return Task(
        task_id=f"functions/{split}/{index}",
        statement=f"write {NAME}({spec.argument}): {spec.words}",
        entry_point=NAME,
        entry_file=ENTRY_FILE,
        files={},
        beginning=f"{header}\n",
        visible=tuple(cases[:NUM_VISIBLE]),
        hidden=tuple(cases[NUM_VISIBLE:]),
        reference={ENTRY_FILE: source},
        tags=(f"composition:{spec.composition.key}",),
        suite="functions",
        split=split,
    )
