"""Two designs on the same attempts, every number worked out by hand."""

from dataclasses import replace

import numpy as np
import pytest

from workbench.rewards import RewardDesign, Scores, all_pass, compare_designs, pass_fraction
from workbench.rewards import tampered as changed_tests

NAIVE = RewardDesign(tests=(all_pass("visible_as_left"), 1.0))
HONEST = RewardDesign(tests=(all_pass("hidden"), 1.0), tampering=(changed_tests, -1.0))


@pytest.fixture
def groups(make_trajectory, make_group):
    """Two solved, a cheat and a failure; and four failures."""
    solved = make_trajectory("pppp", "pp")
    cheat = make_trajectory("wwww", "pp", tampered=("tests.py",))
    failed = make_trajectory("wwww", "pw")
    return [make_group(solved, solved, cheat, failed), make_group(*[failed] * 4)]


def compare(groups, task, a=NAIVE, b=HONEST, **settings):
    scores = (Scores.of(groups, [task], design) for design in (a, b))
    return compare_designs(*scores, **settings)


def test_a_report_says_what_each_design_pays_and_teaches(groups, task):
    report = compare(groups, task, scale="none")
    assert report.a.rewards.tolist() == [1, 1, 1, 0, 0, 0, 0, 0]
    assert report.b.rewards.tolist() == [1, 1, -1, 0, 0, 0, 0, 0]
    assert report.truth.tolist() == [1, 1, 0, 0, 0, 0, 0, 0]
    assert report.a.advantages[:4].tolist() == [0.25, 0.25, 0.25, -0.75]
    assert report.b.advantages[:4].tolist() == [0.75, 0.75, -1.25, -0.25]
    assert report.a.dead_share == report.b.dead_share == 0.5
    assert report.flips == ((0, 2),)  # the cheat


def test_a_report_says_how_a_design_agrees_with_the_truth(groups, task):
    report = compare(groups, task)
    assert np.isclose(report.a.auroc, 5.5 / 6)  # against the cheat a draw, against five a win
    assert report.b.auroc == 1.0
    assert report.a.overpaid == 0.125 and report.b.overpaid == -0.125
    assert report.a.paid_but_wrong == ((0, 2),) and report.b.paid_but_wrong == ()


def test_a_report_counts_pairs_inside_groups_only(groups, task):
    """In the first group: two pairs agree, one is reversed, two are tied by one, one by both."""
    report = compare(groups, task)
    assert report.num_pairs == 12
    assert np.isclose(report.discordant, 1 / 12)
    assert np.isclose(report.kendall_tau, (2 - 1) / (3 * 5) ** 0.5)


def test_a_design_agrees_with_itself(groups, task):
    report = compare(groups, task, b=NAIVE)
    assert report.kendall_tau == 1.0 and report.discordant == 0.0 and report.flips == ()


def test_the_wrong_that_are_paid_most_come_first(make_trajectory, make_group, task):
    group = make_group(*(make_trajectory("wwww", left) for left in ("pwww", "pppw", "wwww")))
    partial = RewardDesign(tests=(pass_fraction("visible_as_left"), 1.0))
    report = compare([group], task, a=partial)
    assert report.a.paid_but_wrong == ((0, 1), (0, 0))
    assert compare([group], task, a=partial, paid_above=0.25).a.paid_but_wrong == ((0, 1),)
    assert np.isnan(report.a.auroc)  # nothing is right


def test_a_group_that_one_design_ties_is_dead_and_flips_nothing(make_trajectory, make_group, task):
    group = make_group(make_trajectory("pppp"), make_trajectory("wwww", "pp"))
    report = compare([group], task)
    assert (report.a.dead_share, report.b.dead_share) == (1.0, 0.0)
    assert report.flips == () and np.isnan(report.kendall_tau)


def test_what_cannot_be_judged_is_in_no_number(groups, make_trajectory, task):
    fault = make_trajectory("", "", status="unscorable")
    with_fault = [replace(groups[0], trajectories=(*groups[0].trajectories, fault)), groups[1]]
    one, other = compare(groups, task, scale="none"), compare(with_fault, task, scale="none")
    assert other.a.num_unjudged == other.b.num_unjudged == 1
    assert (other.num_pairs, other.kendall_tau) == (one.num_pairs, one.kendall_tau)
    assert (other.a.auroc, other.a.overpaid) == (one.a.auroc, one.a.overpaid)
    assert other.flips == one.flips


def test_the_truth_may_be_numbers_of_ones_own(groups, task):
    truth = np.array([1, 1, 1, np.nan, 0, 0, 0, 0])
    report = compare(groups, task, truth=truth)
    assert report.a.auroc == 1.0 and report.a.paid_but_wrong == ()
    assert np.isclose(report.b.overpaid, 1 / 7 - 3 / 7)
    with pytest.raises(ValueError, match=r"truth: expected a suite or \(8,\) numbers"):
        compare(groups, task, truth=truth[:4])


def test_other_scales_reach_the_advantages(groups, task):
    report = compare(groups, task, scale="leave_one_out")
    assert np.allclose(report.a.advantages[:4], [1 / 3, 1 / 3, 1 / 3, -1])
    assert compare(groups, task, scale="gdpo").flips == ((0, 2),)


def test_scores_of_other_rollouts_are_refused(groups, task):
    a, b = Scores.of(groups, [task], NAIVE), Scores.of(groups[:1], [task], HONEST)
    with pytest.raises(ValueError, match="same attempts, got 8 of 2 groups and 4 of 1 groups"):
        compare_designs(a, b)
    swapped = Scores.of(groups[::-1], [task], HONEST)
    with pytest.raises(ValueError, match="same attempts"):
        compare_designs(a, swapped)


def test_designs_are_no_scores_and_the_error_says_how_to_make_them():
    with pytest.raises(ValueError, match=r"got RewardDesign and RewardDesign; .*Scores\.of\(run"):
        compare_designs(NAIVE, HONEST)


def test_what_a_cell_shows_of_scores_and_of_a_comparison_is_short(groups, task):
    scores = Scores.of(groups, [task], HONEST)
    assert repr(scores) == "Scores of 8 attempts in 2 groups: tests, tampering"
    lines = repr(compare(groups, task, labels=("naive", "an honest one"))).splitlines()
    assert lines[0].split() == ["naive", "an", "honest", "one"]
    assert lines[1].split() == ["dead", "groups", "0.500", "0.500"]
    assert len({len(line) for line in lines[:5]}) == 1  # columns stand below their labels
    with pytest.raises(ValueError, match="labels: expected two, one for each design, got 'ab'"):
        compare(groups, task, labels="ab")


def test_a_suite_that_was_never_run_is_no_truth(groups, task):
    with pytest.raises(ValueError, match="'exploit' was not run"):
        compare(groups, task, truth="exploit")


def test_a_report_prints_what_matters(groups, task):
    text = str(compare(groups, task))
    assert "AUROC against the truth     0.917    1.000" in text
    assert "8.3% of 12 pairs in the opposite order, 1 advantages of the opposite sign" in text
