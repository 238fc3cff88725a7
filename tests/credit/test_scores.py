"""Paid for what a turn changed in the score, or for the score as it is: worked examples."""

from dataclasses import replace

import numpy as np
import pytest

from workbench.credit import return_to_go, score_changes, turn_scores


@pytest.fixture
def scored(by_hand):
    """Two attempts of three and two turns, with scores."""
    return with_scores(by_hand.of_lengths(3, 2), (0.2, 0.5, 0.9), (0.4, 0.1))


def with_scores(group, *given):
    """The group, each attempt with the scores of its turns."""
    return replace(
        group,
        trajectories=tuple(
            replace(t, evidence=replace(t.evidence, turn_scores=scores))
            for t, scores in zip(group.trajectories, given)
        ),
    )


def test_changes_are_a_potential_and_sum_to_reward_minus_the_start(scored):
    first, second = score_changes(scored, [1.0, 0.0], lam=0.0)  # the other is where each starts
    assert np.allclose(first, [0.2 - 0.4, 0.5 - 0.2, 1.0 - 0.5])
    assert np.allclose(second, [0.4 - 0.2, 0.0 - 0.4])
    assert [first.sum(), second.sum()] == pytest.approx([0.6, -0.2])


def test_from_a_turn_on_they_come_to_the_reward_minus_the_score_before_it(scored):
    first, second = score_changes(scored, [1.0, 0.0])
    assert np.allclose(first, [1 - 0.4, 1 - 0.2, 1 - 0.5])
    assert np.allclose(second, [0 - 0.2, 0 - 0.4])


def test_talking_the_score_up_pays_a_turn_only_where_it_gets_its_own_change_alone(scored):
    """The second attempt says something that lifts its score to 0.99, and fails all the same."""
    lost = scored.trajectories[1]
    evidence = replace(lost.evidence, turn_scores=(0.4, 0.99, 0.1))
    talker = replace(lost, turns=lost.turns[:1] * 3, evidence=evidence)
    group = replace(scored, trajectories=(scored.trajectories[0], talker))
    alone, to_go = (score_changes(group, [1.0, 0.0], lam=lam)[1] for lam in (0.0, 1.0))
    assert alone[1] == pytest.approx(0.59) and alone[2] == pytest.approx(-0.99)
    assert (to_go < 0).all()


def test_a_turn_that_talks_the_score_up_and_one_that_lets_it_fall_gain_nothing(scored):
    long = scored.trajectories[0]
    evidence = replace(long.evidence, turn_scores=(0.2, 0.99, 0.2, 0.5, 0.9))
    padded = replace(long, turns=long.turns[:1] + long.turns[:1] * 2 + long.turns[1:],
                     evidence=evidence)  # fmt: skip
    more = replace(scored, trajectories=(padded, scored.trajectories[1]))
    changes, sums = (s(more, [1.0, 0.0])[0].sum() for s in (_changes, _returns))
    before, sums_before = (s(scored, [1.0, 0.0])[0].sum() for s in (_changes, _returns))
    assert changes == pytest.approx(before)
    assert sums > sums_before


def _changes(group, rewards):
    return score_changes(group, rewards, lam=0.0)


def _returns(group, rewards):
    """The first turn's credit alone: what the attempt as a whole is paid."""
    return [c[:1] for c in _paid_as_they_are(group, rewards)]


def _paid_as_they_are(group, rewards):
    return return_to_go(group, rewards, turn_rewards=turn_scores, scale="none")


def test_scores_paid_as_they_are_pay_every_further_turn(scored):
    first, second = _paid_as_they_are(scored, [1.0, 0.0])
    assert np.allclose(first, [2.6 - 0.5, 2.4 - 0.5, 1.9 - 0.5])
    assert np.allclose(second, [0.5 - 2.6, 0.1 - 2.6])


def test_scaled_by_the_spread_of_the_attempts(scored):
    plain, scaled = (
        score_changes(scored, [1.0, 0.0], lam=0.0, scale=s) for s in ("none", "std")
    )
    squares = [(0.04 + 0.09 + 0.25) / 3, (0.04 + 0.16) / 2]
    spread = np.sqrt(sum(squares) / 1) + 1e-4
    assert np.allclose(np.concatenate(scaled), np.concatenate(plain) / spread)


def test_an_attempt_that_could_not_be_judged_has_no_credit(scored):
    first, second = score_changes(scored, [np.nan, 0.0], scale="std")
    assert np.isnan(first).all() and np.isfinite(second).all()
    _, alone = score_changes(scored, [np.nan, 0.0])  # compared with its own 0.4, not with 0.2
    assert np.allclose(alone, [0 - 0.4, 0 - 0.4])
    assert all(np.isnan(c).all() for c in score_changes(scored, [np.nan, np.nan]))


def test_the_first_turn_is_not_compared_with_its_own_score(scored):
    """Else a turn that lifts its score would be charged for it, whatever comes of it."""
    first = scored.trajectories[0]
    evidence = replace(first.evidence, turn_scores=(0.6, 0.5, 0.9))
    attempts = (replace(first, evidence=evidence), scored.trajectories[1])
    raised = replace(scored, trajectories=attempts)
    credit = score_changes(raised, [1.0, 0.0])
    assert credit[0][0] == pytest.approx(1.0 - 0.4) and credit[1][0] == pytest.approx(0.0 - 0.6)


def test_three_attempts_start_from_the_mean_of_the_other_two(by_hand):
    group = with_scores(by_hand.of_lengths(1, 1, 1), (0.2,), (0.4,), (0.9,))
    credit = np.concatenate(score_changes(group, [1.0, 0.0, 0.5]))
    assert np.allclose(credit, [1.0 - 0.65, 0.0 - 0.55, 0.5 - 0.3])
    credit = np.concatenate(score_changes(group, [1.0, np.nan, 0.5]))
    assert np.allclose(credit, [1.0 - 0.9, np.nan, 0.5 - 0.2], equal_nan=True)


def test_attempts_without_scores_are_refused(by_hand):
    group = by_hand.of_lengths(2, 2)
    with pytest.raises(ValueError, match="process_rewards.score_turns"):
        score_changes(group, [1.0, 0.0])
    with pytest.raises(ValueError, match="expected scores of the turns"):
        turn_scores(group.trajectories[0])


def test_an_unknown_scale_is_refused(scored):
    with pytest.raises(ValueError, match='expected "std" or "none"'):
        score_changes(scored, [1.0, 0.0], scale="mean")
