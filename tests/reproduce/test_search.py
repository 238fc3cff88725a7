"""Random edits and the search, on a bug written by hand."""

import random

import numpy as np
import pytest

from workbench.reproduce.baselines import random_summary, search_summary
from workbench.reproduce.search import (
    Found,
    body_lines,
    candidates,
    random_edit,
    random_edits,
    try_every_mutation,
)
from workbench.tasks.mutators import mutations


def test_only_code_lines_of_the_target_s_body_are_searched(task):
    lines = task.files["lib.py"].splitlines()
    assert [lines[n].strip() for n in body_lines(lines, "pack")] == [
        "ys = [x for x in xs if x > 3]",
        "return sum(ys)",
    ]


def test_candidates_are_all_mutations_of_those_lines_each_once_in_order(task):
    filter_line = "    ys = [x for x in xs if x > 3]"
    wanted = [m.line for line in (filter_line, "    return sum(ys)") for m in mutations(line)]
    texts = list(candidates(task))
    assert len(texts) == len(set(wanted)) == len(set(texts))
    assert texts[0] == task.reference["lib.py"]  # greater_to_less is the first rule that applies


def test_the_search_submits_the_first_candidate_that_passes_the_visible_cases(
    task, another_task, sandbox
):
    ambiguous = another_task(visible=(([9, 4], 0), ([3], 0)))  # "x < 3" passes, and is right
    never = another_task(visible=(([2], "no such value"),))
    fooled = another_task(visible=(([], 0), ([1], 0)))  # the first one to pass is wrong
    found = try_every_mutation([task, ambiguous, never, fooled], sandbox)
    assert found[0] == Found(executions=1, submitted=True, solved=True, reachable=True)
    assert found[1] == Found(executions=1, submitted=True, solved=True, reachable=True)
    assert found[2] == Found(len(list(candidates(never))), False, False, True)
    assert found[3].submitted and found[3].solved is False and found[3].executions > 1


def test_what_no_mutator_can_make_is_not_reachable(another_task, sandbox):
    broken = another_task().files["lib.py"].replace("return sum(ys)", "return ys")
    (found,) = try_every_mutation([another_task(broken)], sandbox)
    assert not found.reachable and not found.submitted


def test_a_random_edit_mutates_exactly_one_line_of_the_right_file(task):
    before = task.files["lib.py"].splitlines()
    rng = random.Random(0)
    for _ in range(50):
        after = random_edit(task, rng).splitlines()
        (changed,) = [
            n for n, pair in enumerate(zip(before, after, strict=True)) if len({*pair}) > 1
        ]
        assert after[changed] in {m.line for m in mutations(before[changed])}


def test_random_edits_are_a_row_a_task_and_the_seed_decides(task, sandbox):
    first, again, other = (random_edits([task, task], sandbox, 20, seed) for seed in (0, 0, 1))
    assert first.shape == (2, 20) and (first == again).all() and (first != other).any()
    assert 0 < first.mean() < 0.5  # one of about thirty edits is right


def test_chance_is_averaged_over_tries_and_the_best_of_them_over_tasks():
    by_seed = {
        0: np.array([[1.0, 0, 0, 0], [0, 0, 0, 0]]),
        1: np.array([[1.0, 1, 0, np.nan], [0] * 4]),
    }
    found = random_summary(by_seed, tries=4)
    assert found["one_edit"].estimate == pytest.approx((3 / 7 + 0) / 2)  # tasks, then their mean
    assert [row["best_of_all"] for row in found["per_seed"]] == [0.5, 0.5]


def test_the_search_s_rate_leaves_out_what_could_not_be_judged():
    found = search_summary(
        [Found(3, True, True, True), Found(9, True, False, False), Found(30, False, False, False),
         Found(6, True, None, True)]
    )  # fmt: skip
    assert found["solved"].estimate == pytest.approx(1 / 3) and found["num_dropped"] == 1
    assert (found["mean_executions"], found["median_executions"]) == (12.0, 7.5)
    assert (found["submitted_share"], found["reference_reachable_share"]) == (0.75, 0.5)
