"""Labels from the outcome, from re-rolls, from execution and exact ones; and the worked numbers."""

import math
from dataclasses import replace

import numpy as np
import pytest

from workbench import load_tasks, rollout
from workbench.counterfactuals import exact_turn_values, planted_policy, reroll
from workbench.counterfactuals.planted import moves
from workbench.environments import EDITOR, LOCATOR
from workbench.policies import ScriptedPolicy, Team
from workbench.process_rewards import (
    any_succeeds,
    execution_labels,
    first_error,
    outcome_labels,
    value_labels,
)
from workbench.records import TurnValue
from workbench.rewards import RewardDesign


@pytest.fixture(scope="module")
def repair():
    """A real task to repair."""
    return load_tasks("bugfix", split="train", count=1)[0]


def valued(by_hand, estimates, **options):
    """A group of one attempt with these values before its turns, and standard errors of 0.1."""
    values = tuple(TurnValue(0, k - 1, v, 0.1, 8, "reroll") for k, v in enumerate(estimates))
    attempt = by_hand.attempt([by_hand.good] * len(estimates), **options)
    return replace(by_hand.group(attempt), turn_values=values)


def test_the_outcome_is_a_label_for_every_turn(by_hand, task):
    words = [by_hand.good, by_hand.bad]
    lost = by_hand.attempt(words, hidden="pw")
    unjudged = by_hand.attempt(words)
    unjudged = replace(unjudged, verdict=replace(unjudged.verdict, status="sandbox_error"))
    labels = outcome_labels([by_hand.group(by_hand.attempt(words), lost, unjudged)], [task])
    assert [numbers.tolist() for numbers in labels[0][:2]] == [[1.0, 1.0], [0.0, 0.0]]
    assert np.isnan(labels[0][2]).all()


def test_values_before_turns_become_labels_of_either_side(by_hand, task):
    groups = [valued(by_hand, [0.25, 0.5, 0.0], hidden="w")]
    (before,) = value_labels(groups, [task], reads="before")[0]
    (after,) = value_labels(groups, [task])[0]
    (hard,) = value_labels(groups, [task], hard=True)[0]
    assert before.tolist() == [0.25, 0.5, 0.0]
    assert after.tolist() == [0.5, 0.0, 0.0]  # after the last turn: the reward
    assert hard.tolist() == [1.0, 0.0, 0.0]


def test_a_value_that_is_missing_is_no_label(by_hand, task):
    group = valued(by_hand, [0.25, 0.5, 0.75])
    group = replace(group, turn_values=group.turn_values[:1] + group.turn_values[2:])
    for hard in (False, True):
        (after,) = value_labels([group], [task], hard=hard)[0]
        assert np.isnan(after[0]) and not np.isnan(after[1:]).any()
    with pytest.raises(ValueError, match="expected turn values, got none"):
        value_labels([replace(group, turn_values=())], [task])


def test_the_noise_of_monte_carlo_labels_is_what_the_formulas_say():
    """Handbook: N = 8, c = 5; a chance of 0.1 is seen as 0 with probability 0.43."""
    rng = np.random.default_rng(0)
    share = rng.binomial(8, 0.625, size=40_000) / 8
    assert share.std() == pytest.approx(math.sqrt(0.625 * 0.375 / 8), abs=2e-3)
    assert math.sqrt(0.625 * 0.375 / 8) == pytest.approx(0.171163, abs=1e-6)
    assert 0.9**8 == pytest.approx(0.430467, abs=1e-6)
    assert (rng.binomial(8, 0.1, size=40_000) == 0).mean() == pytest.approx(0.430467, abs=0.01)


def test_soft_labels_are_right_on_average_where_the_truth_can_be_counted(repair, sandbox):
    policy = planted_policy(repair)
    group = rollout(policy, repair, sandbox, n=4, seed=3, max_turns=4)
    exact, _ = exact_turn_values(policy, group, repair, sandbox, max_turns=4)
    rerolled, _ = reroll(policy, group, repair, sandbox, num_rerolls=40, seed=1, max_turns=4)
    said, truth = (
        np.concatenate(value_labels([g], [repair])[0]) for g in (rerolled, exact)
    )
    allowed = 4 * np.sqrt(truth * (1 - truth) / 40) + 1e-9
    assert (np.abs(said - truth) <= allowed).all() and (truth * (1 - truth) > 0).any()


def test_execution_says_when_the_workspace_is_right(repair, sandbox):
    does = moves(repair)
    policy = ScriptedPolicy([does["look"], does["repair"], does["spoil"], does["submit"]])
    group = rollout(policy, repair, sandbox, n=1)
    for suite in ("hidden", "visible_pristine"):
        (after,) = execution_labels([group], [repair], sandbox, suite=suite)[0]
        assert after.tolist() == [0.0, 1.0, 0.0, 0.0]
    (before,) = execution_labels([group], [repair], sandbox, reads="before")[0]
    assert before.tolist() == [0.0, 0.0, 1.0, 0.0]
    with pytest.raises(ValueError, match="no task 'bugfix.* among the 0 given"):
        execution_labels([group], [], sandbox)


@pytest.mark.parametrize("wrong", range(16))
def test_halving_finds_the_first_error_in_four_looks_of_sixteen(wrong):
    found = first_error(16, lambda k: k <= wrong)  # the first `wrong` turns are good
    assert found.turn_index == wrong and found.num_asked == math.ceil(math.log2(16)) == 4


def test_halving_and_labels_for_every_turn_in_rollouts():
    assert math.ceil(math.log2(16)) * 8 == 32 and 16 * 8 == 128
    found = first_error(16, lambda k: k < 11)
    assert (found.turn_index, found.num_asked) == (10, 4)
    assert first_error(1, lambda k: True).num_asked == 0
    with pytest.raises(ValueError, match="expected at least 1"):
        first_error(0, lambda k: True)


def test_halving_on_a_real_attempt_agrees_with_asking_about_every_turn(repair, sandbox):
    """This policy repairs at its second turn or not at all, so what is spoilt stays spoilt."""
    does = moves(repair)
    attempt = rollout(
        ScriptedPolicy([does["look"], does["spoil"], does["look"], does["submit"]]),
        *(repair, sandbox),
        n=1,
    ).trajectories[0]
    policy = ScriptedPolicy(lambda heard: does["repair" if len(heard) == 2 else "submit"])
    can_succeed = any_succeeds(policy, attempt, repair, sandbox, num_rerolls=2)
    assert [can_succeed(k) for k in (1, 2, 3)] == [True, False, False]
    found = first_error(len(attempt.turns), can_succeed)
    assert (found.turn_index, found.num_asked) == (1, 2)


def test_rests_that_nobody_could_judge_are_no_failures(repair, sandbox):
    policy = ScriptedPolicy(["ls", "submit"])
    attempt = rollout(policy, repair, sandbox, n=1).trajectories[0]
    unjudged = RewardDesign(unknown=(lambda trajectory, task: None, 1.0))
    ask = any_succeeds(policy, attempt, repair, sandbox, num_rerolls=2, reward=unjudged)
    with pytest.raises(RuntimeError, match="a verdict on the rests after 1 turns, got none"):
        ask(1)


def test_an_attempt_that_does_not_replay_and_no_rerolls_at_all_are_refused(repair, sandbox):
    other = load_tasks("bugfix", split="train", count=2)[1]
    does = moves(repair)
    policy = ScriptedPolicy([does["look"], "submit"])
    attempt = rollout(policy, repair, sandbox, n=1).trajectories[0]
    with pytest.raises(ValueError, match="turn 0: expected the recorded answer"):
        any_succeeds(policy, attempt, replace(other, task_id=repair.task_id), sandbox)(1)
    with pytest.raises(ValueError, match=f"expected '{repair.task_id}', .* got '{other.task_id}'"):
        any_succeeds(policy, attempt, other, sandbox)
    with pytest.raises(ValueError, match="num_rerolls: expected at least 1, got 0"):
        any_succeeds(policy, attempt, repair, sandbox, num_rerolls=0)


def test_the_first_error_of_a_team_is_looked_for_in_the_team(repair, sandbox):
    """The editor hears what the locator handed over, in the place of an answer to its own words."""
    does = moves(repair)
    place = does["repair"].split("|")[0].removeprefix("edit ").replace(" ", ":")
    spoils = ScriptedPolicy([does["spoil"], "submit"])
    team = Team({LOCATOR: ScriptedPolicy([f"hand {place}"]), EDITOR: spoils})
    attempt = rollout(team, repair, sandbox, n=1).trajectories[0]
    helped = team.replaced({"editor": ScriptedPolicy([does["repair"], "submit"])})
    can_succeed = any_succeeds(helped, attempt, repair, sandbox, num_rerolls=2)
    assert [can_succeed(k) for k in (1, 2)] == [True, False]
