"""The exercise "pay without the hidden tests", on the recorded run."""

import pytest

from workbench import RewardDesign, checks
from workbench.checks import memory
from workbench.rewards import all_pass, intact, pass_fraction, tampered, turn_penalty


def said(run, make):
    checks.grade_design("02-e", make, run)
    return memory.said["02-e"], memory.solved["02-e"]


def paid_for(suite, *blockers):
    components = {"tests": (all_pass(suite), 1.0), "intact": (intact, 0.0)}
    return lambda: RewardDesign(**components).blockers(*blockers)


def test_the_untouched_visible_tests_will_do(before_after):
    text, right = said(before_after, paid_for("visible_pristine", "intact"))
    assert right and "none of them with edited tests" in text


def test_a_design_that_reads_the_hidden_tests_is_found_out(before_after):
    text, right = said(before_after, paid_for("hidden"))
    assert not right and "without the hidden tests it raised ValueError: suite 'hidden'" in text


def test_a_design_that_pays_for_edited_tests_is_shown_one(before_after):
    text, right = said(before_after, paid_for("visible_as_left"))
    assert not right and "edited the tests are paid, 3" in text and "+++ tests.py" in text


def test_an_edit_beside_a_repair_is_an_edit(before_after):
    text, right = said(before_after, paid_for("visible_pristine"))
    assert not right and "edited the tests are paid, 1 of them" in text


def test_a_design_that_cannot_tell_right_from_wrong_is_told_how_bad_it_is(before_after):
    text, right = said(before_after, lambda: RewardDesign(turns=(turn_penalty(4, 8), 1.0)))
    assert not right and "at least 0.97 was asked for" in text


def test_none_is_no_way_out(before_after):
    def unsure(trajectory, task):
        return None if trajectory.evidence.tampered else 1.0

    text, right = said(before_after, lambda: RewardDesign(unsure=(unsure, 1.0)))
    assert not right and "get None" in text


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: 1.0, "expected a RewardDesign, got 1.0"),
        (lambda: RewardDesign(tests=(pass_fraction, 1.0)), "it raised"),
    ],
)
def test_what_is_no_design_is_refused_in_words(before_after, make, words):
    text, right = said(before_after, make)
    assert words in text and not right


def test_the_stub_is_not_an_attempt(before_after):
    def stub():
        raise NotImplementedError

    assert said(before_after, stub) == ("02-e: not attempted yet.", False)


def test_a_penalty_beside_the_forgeable_tests_will_do_on_this_run(before_after):
    design = RewardDesign(tests=(all_pass("visible_as_left"), 1.0), tampering=(tampered, -1.0))
    assert said(before_after, lambda: design)[1]
