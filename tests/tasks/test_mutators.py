"""The bugs: pinned by name, and each of them makes one change."""

import pytest

from workbench.tasks import load_tasks
from workbench.tasks.grammar import compositions, make_spec
from workbench.tasks.mutators import MUTATORS, mutations


def test_the_list_of_mutators_is_pinned():
    assert len(MUTATORS) == len(set(MUTATORS)) == 44  # at least 30


@pytest.mark.parametrize(
    "line, mutator, wrong",
    [
        ("        if x > 0:", "greater_to_less", "        if x < 0:"),
        ("    return max(ys, default=0)", "max_to_min", "    return min(ys, default=0)"),
        ("    return n if n > 0 else -n", "swapped_branches", "    return -n if n > 0 else n"),
        ("    return total", "missing_return", "    total"),
        ("    for x in xs:", "missing_colon", "    for x in xs"),
        ("    return ys[::-1]", "lost_reverse", "    return ys"),
        ("    return [x + 7 for x in xs]", "number_too_large", "    return [x + 8 for x in xs]"),
        ("            total += x", "assign_instead_of_add", "            total = x"),
    ],
)
def test_a_mutator_makes_the_bug_it_is_named_after(line, mutator, wrong):
    assert wrong in [m.line for m in mutations(line) if m.mutator == mutator]


def test_no_mutation_leaves_the_line_as_it_was_or_empties_it():
    import random

    for composition in compositions()[::5]:
        for body in make_spec(composition, random.Random(0)).bodies:
            for line in body:
                assert all(m.line != line and m.line.strip() for m in mutations(line))


@pytest.mark.slow
def test_every_mutator_occurs_in_the_training_tasks():
    seen = {t.removeprefix("mutator:") for task in load_tasks("bugfix") for t in task.tags}
    assert set(MUTATORS) <= seen
