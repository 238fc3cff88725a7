from math import comb

import numpy as np
import pytest

from workbench.stats import (
    Interval,
    auroc,
    bootstrap_tasks,
    chance_of_a_tie,
    func_sec_at_k,
    mean_interval,
    paired_difference,
    pass_at_k,
    student_quantile,
    wilson,
)


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [(195, 500, 0.3482, 0.4334), (20, 50, 0.2761, 0.5382), (0, 20, 0.0, 0.1611)],
)
def test_wilson_matches_the_published_intervals(successes, trials, low, high):
    interval = wilson(successes, trials)
    assert interval.estimate == successes / trials
    assert abs(interval.low - low) < 1e-4 and abs(interval.high - high) < 1e-4


def test_wilson_is_symmetric_in_success_and_failure():
    few, many = wilson(3, 20), wilson(17, 20)
    assert abs(few.low - (1 - many.high)) < 1e-12 and abs(few.high - (1 - many.low)) < 1e-12
    assert wilson(20, 20).high == 1.0


def test_wilson_covers_the_truth_about_as_often_as_it_says():
    successes = np.random.default_rng(0).binomial(256, 0.08, size=2000)
    intervals = [wilson(int(k), 256) for k in successes]
    covered = np.mean([i.low <= 0.08 <= i.high for i in intervals])
    assert 0.93 < covered < 0.98


@pytest.mark.parametrize(
    ("degrees", "quantile"), [(1, 12.7062), (2, 4.3027), (4, 2.7764), (9, 2.2622), (30, 2.0423)]
)
def test_student_quantiles_match_the_printed_table(degrees, quantile):
    assert abs(student_quantile(0.975, degrees) - quantile) < 1e-4


def test_mean_interval_of_five_seeds_by_hand():
    interval = mean_interval([0.58, 0.60, 0.62, 0.59, 0.61])
    half = 2.7764 * 0.0158114 / 5**0.5
    assert abs(interval.estimate - 0.60) < 1e-12
    assert abs(interval.high - 0.60 - half) < 1e-5 and abs(0.60 - interval.low - half) < 1e-5


def test_one_seed_has_no_interval():
    interval = mean_interval([0.6])
    assert interval.estimate == 0.6 and np.isnan(interval.low) and "no interval" in interval.method


def test_bootstrap_of_one_run_a_task_agrees_with_wilson():
    results = np.array([1.0] * 20 + [0.0] * 30)
    boot, exact = bootstrap_tasks(results), wilson(20, 50)
    assert boot.estimate == 0.4
    assert abs(boot.low - exact.low) < 0.02 and abs(boot.high - exact.high) < 0.02


def test_repeating_the_same_runs_does_not_narrow_the_interval():
    results = np.array([1.0] * 20 + [0.0] * 30)
    once, often = bootstrap_tasks(results), bootstrap_tasks(np.tile(results[:, None], (1, 8)))
    assert (once.low, once.high) == (often.low, often.high)


def test_bootstrap_averages_a_tasks_judged_runs_only():
    results = [[1.0, np.nan], [0.0, 1.0], [np.nan, np.nan]]
    interval = bootstrap_tasks(results)
    assert interval.estimate == 0.75 and "2 tasks" in interval.method


def test_pairing_finds_a_difference_that_two_separate_intervals_hide():
    rng = np.random.default_rng(0)
    difficulty = rng.random(100)
    before = difficulty
    after = np.clip(difficulty + 0.05, 0, 1)
    difference = paired_difference(before, after)
    assert difference.low > 0.03
    assert bootstrap_tasks(before).high > bootstrap_tasks(after).low


def test_pairing_leaves_out_a_task_that_one_side_could_not_judge():
    difference = paired_difference([0.0, 1.0, np.nan], [1.0, np.nan, 1.0])
    assert difference.estimate == 1.0 and "1 tasks" in difference.method


def test_pairing_needs_the_same_tasks():
    with pytest.raises(ValueError, match="got 2 and 3 rows"):
        paired_difference([0.0, 1.0], [0.0, 1.0, 1.0])


@pytest.mark.parametrize(
    ("n", "c", "k", "expected"),
    [
        (10, 3, 1, 0.3),
        (10, 3, 5, 0.916667),
        (10, 1, 5, 0.5),
        (10, 8, 5, 1.0),
        (16, 7, 8, 0.999301),
    ],
)
def test_pass_at_k_matches_the_worked_numbers(n, c, k, expected):
    assert abs(pass_at_k(n, c, k) - expected) < 1e-6


def test_pass_at_k_equals_the_share_of_subsets_with_a_success():
    for n, c, k in ((6, 2, 3), (64, 1, 16), (9, 0, 4), (5, 5, 5)):
        assert abs(pass_at_k(n, c, k) - (1 - comb(n - c, k) / comb(n, k))) < 1e-12


def test_pass_at_k_refuses_more_draws_than_samples():
    with pytest.raises(ValueError, match="sample each task k times"):
        pass_at_k(8, 3, 16)


def test_intervals_print_in_per_cent():
    assert Interval(0.39, 0.3482, 0.4334, "").percent() == "39.0 % [34.8, 43.3]"


def test_auroc_is_the_share_of_pairs_in_the_right_order():
    confidence = [0.95, 0.9, 0.8, 0.7, 0.6, 0.55, 0.4, 0.3]
    assert auroc(confidence, [1, 1, 1, 0, 1, 0, 0, 0]) == 0.9375


def test_auroc_counts_ties_half_as_counting_pairs_does():
    rng = np.random.default_rng(0)
    for _ in range(20):
        scores, right = rng.integers(0, 4, 12), rng.random(12) < 0.5
        pairs = [(a > b) + (a == b) / 2 for a in scores[right] for b in scores[~right]]
        assert np.isclose(auroc(scores, right), np.mean(pairs))


def test_auroc_needs_both_kinds_and_finite_scores():
    assert np.isnan(auroc([1.0, 2.0], [True, True])) and np.isnan(auroc([], []))
    with pytest.raises(ValueError, match="leave out what could not be judged"):
        auroc([1.0, np.nan], [True, False])
    for unknown in (np.nan, 0.5, None):  # as booleans the first two would count as right
        with pytest.raises(ValueError, match="auroc: .* leave out what could not be judged"):
            auroc([0.9, 0.1, 0.05], [1, 0, unknown])
    with pytest.raises(ValueError, match=r"got shapes \(2,\) and \(1,\)"):
        auroc([1.0, 2.0], [True])


def test_a_tie_is_all_ones_or_all_zeros():
    assert chance_of_a_tie(0.1, 8) == pytest.approx(0.1**8 + 0.43046721)  # .9 ** 8, by hand
    assert [chance_of_a_tie(p, 5) for p in (0.0, 1.0)] == [1.0, 1.0]
    with pytest.raises(ValueError, match="0 <= p <= 1"):
        chance_of_a_tie(1.5, 8)


def test_func_sec_counts_a_sample_only_if_it_works_and_is_secure():
    func, sec = [[1, 1, 1, 0, 1]], [[1, 0, 1, 1, 1]]  # 4 work, 3 of them are secure
    assert func_sec_at_k(func, sec, 1) == pytest.approx((0.8, 0.6))
    assert func_sec_at_k(func, sec, 2) == pytest.approx((1.0, 1 - comb(2, 2) / comb(5, 2)))


def test_func_sec_is_a_mean_over_tasks_and_leaves_out_samples_nobody_could_judge():
    func = [[True, False], [1.0, 1.0, np.nan, 0.0]]
    sec = [[True, True], [0.0, np.nan, 1.0, 1.0]]  # of the second task two can be judged
    assert func_sec_at_k(func, sec, 1) == pytest.approx(((1 / 2 + 1 / 2) / 2, (1 / 2 + 0) / 2))


@pytest.mark.parametrize(
    ("func", "sec", "k", "message"),
    [
        ([[1, 0]], [[1]], 1, r"got \[2\] and \[1\]"),
        ([], [], 1, "at least one row"),
        ([[1, 0]], [[1, 0]], 3, "samples 2, k 3"),
    ],
)
def test_func_sec_refuses_rows_that_do_not_match(func, sec, k, message):
    with pytest.raises(ValueError, match=message):
        func_sec_at_k(func, sec, k)
