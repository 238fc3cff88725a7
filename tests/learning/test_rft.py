"""What rejection fine-tuning keeps, and what it learns from."""

import pytest

from workbench.learning.batch import pack
from workbench.learning.config import RFTConfig, TrainConfig
from workbench.learning.forward import policy_logprobs
from workbench.learning.optimiser import make_optimiser
from workbench.learning.rft import (
    Selection,
    _imitate,
    imitation_batch,
    select,
    tasks_of_rft,
)
from workbench.records import Task


def task(name):
    return Task(name, f"fix {name}", "f", "lib.py", {}, (), (), {})


@pytest.fixture
def attempt(by_hand):
    """A function that makes an attempt which says these texts, one a turn."""

    def make(*texts, errors=(), **outcome):
        turns, kept = [], 0
        for k, text in enumerate(texts):
            error = "unknown command" if k in errors else None
            turns.append(by_hand.turn([30 + k, 2], [-1.0, -1.0], [1, 3, 2, 4], kept, text, error))
            kept += 6
        return by_hand.trajectory(turns, **outcome)

    return make


def test_only_solved_attempts_with_untouched_tests_are_kept(by_hand, attempt):
    good = attempt("edit", "submit")
    group = by_hand.group(
        attempt("a", "submit", hidden="pw"),
        attempt("b", stop="max_turns"),
        attempt("c", "submit", tampered=("tests.py",)),
        good,
    )
    found = select([group], [task("by-hand")], keep_per_task=2)
    assert found.groups[0].trajectories == (good,)
    assert (found.num_examples, found.num_tampered, found.num_duplicates) == (1, 1, 0)


def test_an_attempt_that_says_the_same_is_no_second_example(by_hand, attempt):
    group = by_hand.group(attempt("x", "submit"), attempt("x", "submit"), attempt("y", "submit"))
    found = select([group], [task("by-hand")], keep_per_task=8)
    said = [[t.action.text for t in a.turns] for a in found.groups[0].trajectories]
    assert said == [["x", "submit"], ["y", "submit"]] and found.num_duplicates == 1


def test_an_easy_task_gets_no_more_than_its_share(by_hand, attempt):
    group = by_hand.group(*(attempt(f"{i}", "submit") for i in range(8)))
    assert select([group], [task("by-hand")], keep_per_task=2).num_examples == 2


def test_a_task_nobody_solved_is_absent(by_hand, attempt):
    group = by_hand.group(attempt("a", hidden="ww"))
    assert select([group], [task("by-hand")], keep_per_task=2).groups == ()


def test_turns_with_format_errors_are_seen_but_not_imitated(by_hand, attempt):
    kept = by_hand.group(attempt("oops", "edit", "submit", errors=(0,)))
    batch = imitation_batch(Selection((kept,), 0, 0))
    assert batch.ids[0, :6].tolist() == [1, 3, 2, 4, 30, 2]  # the slip is in the context
    assert batch.ids[batch.loss_mask].tolist() == [31, 2, 32, 2]


def test_imitation_raises_the_logprob_of_what_was_kept(by_hand, attempt, make_policy):
    class Quiet:
        def check_stop(self):
            pass

    kept = by_hand.group(*(attempt(f"{i}", "edit", "submit") for i in range(4)))
    selection, policy = Selection((kept,), 0, 0), make_policy()
    config = TrainConfig(rft=RFTConfig(lr=1e-2, epochs=5, batch_size=2), dtype="float32")
    batch = pack(selection.groups, [[1.0] * 4])
    before = policy_logprobs(policy.model, batch)[0].sum().item()
    optimiser = make_optimiser(policy.model, config.rft)
    updates = _imitate(policy, optimiser, selection, config, 0, Quiet())
    after = policy_logprobs(policy.model, batch)[0].sum().item()
    assert len(updates) == 10 and updates[-1].loss < updates[0].loss
    assert after > before / 2  # logprobs are negative: the surprise fell by more than half


def test_tasks_are_drawn_without_repetition_and_differ_by_seed():
    tasks = [task(str(i)) for i in range(10)]
    drawn = tasks_of_rft(tasks, 4, seed=0)
    assert len({t.task_id for t in drawn}) == 4
    assert drawn == tasks_of_rft(tasks, 4, seed=0) != tasks_of_rft(tasks, 4, seed=1)
    assert len(tasks_of_rft(tasks, 99, seed=0)) == 10
