"""How far scores can be trusted: worked by hand, and against counting."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from workbench.process_rewards import (
    average_precision,
    best_of_n,
    best_of_n_curve,
    best_threshold,
    harmonic_mean,
    rank_correlation,
    reliability,
    turning_point,
)
from workbench.records import TurnValue


@pytest.fixture
def measured(by_hand):
    """Three attempts with values: one lost at its second turn, one sound, one hopeless at once."""
    values = ([0.5, 0.8, 0.0], [0.5, 0.5, 1.0], [0.0, 0.0, 0.0])  # before each turn
    attempts = [by_hand.attempt([by_hand.good] * 3, hidden=h) for h in ("w", "p", "w")]
    known = tuple(
        TurnValue(i, k - 1, v, 0.0, 8, "reroll") for i, row in enumerate(values)
        for k, v in enumerate(row)
    )  # fmt: skip
    return [replace(by_hand.group(*attempts), turn_values=known)]


def test_a_score_that_knows_everything(measured, task):
    perfect = [[np.array([0.8, 0.0, 0.0]), np.array([0.5, 1.0, 1.0]), np.zeros(3)]]
    found = reliability(measured, [task], perfect, threshold=0.25)
    assert found.num_turns == 9 and found.auroc_dead == 1.0 and found.auroc_lost == 1.0
    assert found.share_lost == pytest.approx(1 / 5) and found.precision_lost == 1.0
    assert found.ece == pytest.approx(0) and found.brier == 0 and found.rank_correlation == 1.0
    assert (found.accuracy_on_failed, found.accuracy_on_sound, found.f1) == (1.0, 1.0, 1.0)


def test_a_score_that_is_wrong_in_known_ways(measured, task):
    scores = [[np.array([0.9, 0.7, 0.1]), np.array([0.4, 0.6, 0.8]), np.full(3, 0.2)]]
    found = reliability(measured, [task], scores, threshold=0.25)
    # possible before: 0.9 (to 0.8), 0.7 (to 0.0, lost), 0.4, 0.6, 0.8 (sound)
    assert found.auroc_lost == pytest.approx(2 / 4)  # above 0.7 are 0.9 and 0.8
    assert found.precision_lost == pytest.approx(1 / 3)  # third from below among five
    assert found.auroc_dead == pytest.approx((4 * 5 - 2) / 20)
    # first error at turn 1, first mark at turn 2; the sound one is not marked; one is left out
    assert (found.accuracy_on_failed, found.accuracy_on_sound, found.f1) == (0.0, 1.0, 0.0)
    errors = np.array([0.1, 0.7, 0.1, -0.1, -0.4, -0.2, 0.2, 0.2, 0.2])
    assert found.brier == pytest.approx((errors**2).mean())
    bins = {round(b.low, 1): b for b in found.bins}
    assert bins[0.2].num_turns == 3 and bins[0.2].predicted == pytest.approx(0.2)
    assert bins[0.2].observed == 0.0 and np.isnan(bins[0.3].observed)
    assert found.ece == pytest.approx(np.abs(errors).sum() / 9)  # no other bin holds two turns
    assert "ProcessBench F1" in repr(found)


def test_the_threshold_is_the_one_that_finds_the_errors(measured, task):
    scores = [[np.array([0.9, 0.3, 0.1]), np.array([0.4, 0.6, 0.8]), np.zeros(3)]]
    assert best_threshold(measured, [task], scores) == 0.32  # above 0.3, below 0.4
    assert reliability(measured, [task], scores, threshold=0.32).f1 == 1.0


@pytest.mark.parametrize("only", [0, 1, 2], ids=["lost", "sound", "hopeless"])
def test_attempts_of_one_kind_decide_on_no_threshold(measured, task, recwarn, only):
    [group] = measured
    values = [replace(v, trajectory_index=0) for v in group.turn_values[3 * only : 3 * only + 3]]
    alone = [replace(group, trajectories=group.trajectories[:1], turn_values=tuple(values))]
    said = np.array([0.9, 0.3, 0.1])
    threshold = best_threshold(alone, [task], [[said]])
    found = reliability(measured, [task], [[said] * 3], threshold=threshold)
    assert np.isnan([threshold, found.accuracy_on_failed, found.accuracy_on_sound, found.f1]).all()
    assert np.isnan(reliability(alone, [task], [[said]]).f1)
    assert not recwarn


def test_processbench_f1():
    assert harmonic_mean(0.6, 0.9) == pytest.approx(0.72)
    assert harmonic_mean(0.0, 1.0) == harmonic_mean(0.0, 0.0) == 0.0
    assert np.isnan(harmonic_mean(np.nan, 0.0)) and np.isnan(harmonic_mean(0.0, np.nan))


def test_average_precision_by_hand():
    # listed: wanted, not, wanted: precision 1 and 2/3
    assert average_precision([3, 2, 1], [True, False, True]) == pytest.approx(5 / 6)
    # equal scores are listed at once: two of four at every threshold
    assert average_precision([1, 1, 1, 1], [True, False, True, False]) == 0.5
    assert np.isnan(average_precision([1, 2], [False, False]))
    with pytest.raises(ValueError, match="finite scores"):
        average_precision([np.nan, 1], [True, False])
    with pytest.raises(ValueError, match="average_precision: .* leave out what could not be"):
        average_precision([0.9, 0.1, 0.05], [1, 0, np.nan])


def test_rank_correlation_by_hand():
    assert rank_correlation([1, 2, 3], [10, 100, 1000]) == 1.0
    assert rank_correlation([1, 2, 3], [3, 2, 1]) == -1.0
    # ranks 1, 2.5, 2.5, 4 against 1, 2, 3, 4: covariance 4.5 over sqrt(4.5 * 5)
    assert rank_correlation([1, 2, 2, 3], [1, 2, 3, 4]) == pytest.approx(4.5 / (4.5 * 5) ** 0.5)
    assert np.isnan(rank_correlation([1, 1], [1, 2]))
    with pytest.raises(ValueError, match="n >= 2"):
        rank_correlation([1], [1])
    with pytest.raises(ValueError, match="finite numbers.* leave out what could not be judged"):
        rank_correlation([1, 2, np.nan], [1, 2, 3])


def test_best_of_n_agrees_with_drawing_every_choice():
    scores, right = [0.1, 0.7, 0.7, 0.3, 0.9], [1, 0, 1, 1, 0]
    for n in range(1, 6):
        outcomes = []
        for chosen in itertools.combinations(range(5), n):
            top = max(scores[i] for i in chosen)
            best = [right[i] for i in chosen if scores[i] == top]
            outcomes.append(sum(best) / len(best))
        assert best_of_n(scores, right, n) == pytest.approx(np.mean(outcomes))


def test_best_of_one_is_the_mean_and_the_truth_as_score_is_pass_at_k():
    from workbench.stats import pass_at_k

    right = [1, 0, 0, 1, 0, 0]
    assert best_of_n([5, 4, 3, 2, 1, 0], right, 1) == pytest.approx(2 / 6)
    for n in (1, 2, 4):
        assert best_of_n(right, right, n) == pytest.approx(pass_at_k(6, 2, n))


def test_a_score_that_one_attempt_fools_turns_down():
    scores, right, sizes = [[0.2, 0.5, 0.5, 0.9]], [[0, 1, 1, 0]], (1, 2, 4)
    curve = best_of_n_curve(scores, right, sizes).mean(axis=0)
    assert curve.tolist() == pytest.approx([0.5, 0.5, 0.0])
    assert turning_point(curve, sizes) == 1
    assert turning_point([0.1, 0.2, 0.3], sizes) is None


def test_best_of_n_refuses_what_it_cannot_count():
    with pytest.raises(ValueError, match="1..2"):
        best_of_n([1, 2], [0, 1], 3)
    with pytest.raises(ValueError, match="finite scores"):
        best_of_n([1, np.nan], [0, 1], 1)
    with pytest.raises(ValueError, match="of the same tasks, got 1 and 2"):
        best_of_n_curve([[1, 2]], [[0, 1], [1, 1]], [1])  # a task would be lost


@pytest.mark.parametrize(
    "scores, message",
    [
        ([[np.zeros(2), np.zeros(4), np.zeros(3)]], "scores: expected one number a turn"),
        ([[np.zeros(3), np.zeros(3), np.full(3, 1.5)]], r"expected chances in \[0, 1\]"),
        ([[np.zeros(3), np.zeros(3), np.full(3, np.nan)]], r"expected chances in \[0, 1\]"),
    ],
)
def test_scores_of_other_attempts_and_other_numbers_are_refused(measured, task, scores, message):
    """As many numbers in all would be compared with other turns; outside [0, 1] is no bin."""
    for compares in (reliability, best_threshold):
        with pytest.raises(ValueError, match=message):
            compares(measured, [task], scores)


def test_a_model_is_not_compared_with_a_model(measured, task):
    [group] = measured
    guessed = tuple(replace(value, how="critic") for value in group.turn_values)
    with pytest.raises(ValueError, match=r"got those of a model \(critic\); a model agrees"):
        reliability([replace(group, turn_values=guessed)], [task], [[np.zeros(3)] * 3])


def test_what_nobody_has_measured_is_not_compared(measured, task):
    [group] = measured
    alone = replace(group, turn_values=group.turn_values[:1])
    with pytest.raises(ValueError, match="expected two or more turns with a value"):
        reliability([alone], [task], [[np.zeros(3)] * 3])
