"""Gates, blockers, optional components and normalised sums, with values worked out by hand."""

import pytest

from workbench.records import RewardBreakdown, RewardPart, from_json, to_json
from workbench.rewards import RewardDesign, all_pass, pass_fraction, tampered


def fixed(value):
    """A component that returns `value`, whatever it is shown."""
    return lambda trajectory, task: value


def score(design, make_trajectory, task):
    return design.score(make_trajectory(), task)


def total(design, make_trajectory, task):
    return score(design, make_trajectory, task).total


@pytest.mark.parametrize(("tests", "paid"), [(1.0, 1.3), (0.9, 0.9), (0.0, 0.0)])
def test_a_gate_opens_only_where_the_tests_are_good_enough(tests, paid, make_trajectory, task):
    design = RewardDesign(tests=(fixed(tests), 1.0), quality=(fixed(0.6), 0.5))
    assert total(design.gate("quality", needs="tests"), make_trajectory, task) == paid
    part = score(design.gate("quality", needs="tests"), make_trajectory, task).parts[1]
    assert (part.raw, part.gated) == (0.6, tests < 1.0)


def test_a_gate_may_open_lower_and_may_gate_a_penalty(make_trajectory, task):
    design = RewardDesign(tests=(fixed(0.5), 1.0), length=(fixed(1.0), -0.2))
    assert total(design.gate("length", needs="tests"), make_trajectory, task) == 0.5
    assert total(design.gate("length", needs="tests", at_least=0.5), make_trajectory, task) == 0.3


def test_several_gates_must_all_be_open(make_trajectory, task):
    for safe, paid in ((1.0, 3.0), (0.0, 1.0)):
        design = RewardDesign(
            tests=(fixed(1.0), 1.0), safe=(fixed(safe), 1.0), fast=(fixed(1.0), 1.0)
        )
        design = design.gate("fast", needs="tests").gate("fast", needs="safe")
        assert total(design, make_trajectory, task) == paid


def test_behind_a_closed_gate_none_does_not_matter(make_trajectory, task):
    design = RewardDesign(tests=(fixed(0.0), 1.0), fast=(fixed(None), 1.0))
    assert total(design, make_trajectory, task) is None
    assert total(design.gate("fast", needs="tests"), make_trajectory, task) == 0.0


def test_secure_code_that_does_not_work_is_paid_by_a_blend_and_not_behind_a_gate(
    make_trajectory, task
):
    blend = RewardDesign(works=(fixed(0.0), 0.5), secure=(fixed(1.0), 0.5))
    assert total(blend, make_trajectory, task) == 0.5
    assert total(blend.gate("secure", needs="works"), make_trajectory, task) == 0.0


def rubric(**values):
    """The worked example of a mergeability rubric: two blockers of weight 3 and 2."""
    weights = dict(tests=3, p2p=2, reverse=2, lint=1, scope=2)
    items = {name: (fixed(values.get(name, 1.0)), weight) for name, weight in weights.items()}
    optional = ("reverse", "lint", "scope")
    return RewardDesign(optional=optional, **items).blockers("tests", "p2p").normalised()


def test_a_rubric_has_the_scores_of_the_worked_example(make_trajectory, task):
    assert total(rubric(lint=0.0), make_trajectory, task) == 0.9
    failed = score(rubric(lint=0.0, p2p=0.0), make_trajectory, task)
    assert (failed.total, failed.blocked) == (0.0, ("p2p",))


def test_an_item_that_cannot_be_judged_takes_its_weight_along(make_trajectory, task):
    breakdown = score(rubric(lint=None, scope=0.5), make_trajectory, task)
    assert (breakdown.total, breakdown.divisor) == (8 / 9, 9.0)  # 3 + 2 + 2 + 2 * 0.5 of 9
    assert [part.omitted for part in breakdown.parts] == [False, False, False, True, False]


def test_a_failed_blocker_settles_it_and_an_unknown_one_does_not(make_trajectory, task):
    design = RewardDesign(tests=(fixed(0.0), 1.0), style=(fixed(None), 1.0))
    assert total(design, make_trajectory, task) is None
    assert total(design.blockers("tests"), make_trajectory, task) == 0.0
    unknown = RewardDesign(tests=(fixed(None), 1.0), style=(fixed(1.0), 1.0)).blockers("tests")
    assert total(unknown, make_trajectory, task) is None


def test_an_optional_component_is_left_out_and_marked(make_trajectory, task):
    design = RewardDesign(tests=(fixed(1.0), 1.0), lint=(fixed(None), 0.5), optional=("lint",))
    breakdown = score(design, make_trajectory, task)
    assert breakdown.total == 1.0 and breakdown.parts[1].omitted


def test_where_every_component_is_left_out_there_is_no_reward(make_trajectory, task):
    design = RewardDesign(lint=(fixed(None), 0.5), optional=("lint",))
    assert total(design, make_trajectory, task) is None
    assert total(design.normalised(), make_trajectory, task) is None


def test_where_nothing_that_weighs_could_be_judged_there_is_no_normalised_reward(
    make_trajectory, task
):
    design = RewardDesign(
        tests=(fixed(1.0), 0.0), lint=(fixed(None), 1.0), optional=("lint",)
    ).blockers("tests")
    assert total(design.normalised(), make_trajectory, task) is None


def test_weights_change_and_the_old_design_stays(make_trajectory, task):
    old = RewardDesign(tests=(fixed(1.0), 1.0), lint=(fixed(0.5), 1.0)).gate("lint", needs="tests")
    new = old.with_weights(lint=-0.5)
    assert total(old, make_trajectory, task) == 1.5
    assert total(new, make_trajectory, task) == 0.75
    assert new != old and new.with_weights(lint=1) == old


def test_a_design_with_rules_prints_as_the_code_that_makes_it():
    design = (
        RewardDesign(
            tests=(all_pass("hidden"), 1.0),
            partial=(pass_fraction("hidden"), 0.5),
            tampering=(tampered, 0.0),
            optional=("partial",),
        )
        .gate("partial", needs="tests", at_least=0.5)
        .blockers("tests")
        .normalised()
    )
    assert eval(repr(design), globals()) == design
    assert repr(design).splitlines()[-1] == (
        ").blockers('tests').gate('partial', needs='tests', at_least=0.5).normalised()"
    )


TWO = RewardDesign(tests=(all_pass("hidden"), 1.0), tampering=(tampered, -1.0))
THREE = RewardDesign(tests=(fixed(1.0), 1.0), style=(fixed(1.0), 0.5), intact=(fixed(1.0), 0.0))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda: TWO.gate("style", needs="tests"),
            r"gate: expected a component of this design, one of \['tests', 'tampering'\], got 'sty",
        ),
        (lambda: TWO.gate("tampering", needs="style"), "got 'style'"),
        (lambda: TWO.gate("tests", needs="tests"), "got 'tests' itself; to pay nothing"),
        (
            lambda: TWO.gate("tests", needs="tampering").blockers("tests"),
            "blockers: expected a component that always counts, got 'tests', which counts only if "
            "tampering ≥ 1; let 'tampering' block as well, or leave out the gate on 'tests'",
        ),
        (
            lambda: THREE.gate("style", needs="tests").gate("tests", needs="intact"),
            "gate on 'style': expected a component that always counts, got 'tests', which counts "
            "only if intact ≥ 1; put 'style' behind both gates, needs='tests' and 'intact', and",
        ),
        (lambda: TWO.gate("tampering", needs="tests", at_least=None), "finite number as at_least"),
        (lambda: TWO.blockers("style"), "blockers: expected a component of this design, one of"),
        (lambda: TWO.blockers("tests", at_least=float("nan")), "finite number as at_least"),
        (lambda: TWO.normalised(), "expected weights of 0 or more"),
        (lambda: TWO.with_weights(tests=0, tampering=0).normalised(), "one above 0"),
        (lambda: TWO.with_weights(style=1.0), "with_weights: expected a component"),
        (lambda: TWO.with_weights(tests=float("inf")), "finite number as weight"),
        (lambda: RewardDesign(tests=(tampered, 1.0), optional=("lint",)), "optional: expected a"),
        (lambda: RewardDesign(tests=(tampered, 1.0), optional="tests"), "expected a tuple of name"),
        (
            lambda: RewardDesign(tests=(tampered, 1.0), optional=("tests",)).blockers("tests"),
            "blockers: expected a component that is always judged, got 'tests', which is optional",
        ),
        (lambda: RewardDesign(tests=(all_pass, 1.0)), r"call it with its settings: tests=\(all_p"),
    ],
)
def test_rules_that_cannot_work_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        change()


def test_a_breakdown_that_was_stored_before_there_were_rules_still_reads():
    old = {"parts": [{"name": "tests", "raw": 1.0, "weight": 0.5}], "total": 0.5}
    assert from_json(RewardBreakdown, old) == RewardBreakdown((RewardPart("tests", 1.0, 0.5),), 0.5)


def test_a_breakdown_with_rules_survives_its_json(make_trajectory, task):
    breakdown = score(rubric(lint=None, p2p=0.0), make_trajectory, task)
    assert from_json(RewardBreakdown, to_json(breakdown)) == breakdown
