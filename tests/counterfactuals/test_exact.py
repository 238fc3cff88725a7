"""Exact values, by hand on a policy of two moves."""

import numpy as np
import pytest

from workbench import RewardDesign, rollout
from workbench.counterfactuals import decisive_turn, exact_turn_values, planted_policy
from workbench.counterfactuals.planted import moves
from workbench.evaluation import SOLVED
from workbench.policies import MenuPolicy, ScriptedPolicy


def test_values_of_repair_or_submit_at_even_odds_by_hand(task, sandbox):
    """With n turns left: repaired 1/2, 3/4, ... of it is handed in; broken: half of that, a turn
    later. Three turns: 3/8 at the start, 3/4 after a repair, 1/2 after two."""
    commands = moves(task)
    policy = MenuPolicy(lambda observation: {commands["repair"]: 0.5, "submit": 0.5})
    script = [commands["repair"], commands["repair"], "submit"]
    group = rollout(ScriptedPolicy(script), task, sandbox, n=1, max_turns=3)
    known, cost = exact_turn_values(policy, group, task, sandbox, max_turns=3)
    found = [(v.turn_index, v.estimate, v.standard_error, v.how) for v in known.turn_values]
    assert found == [(-1, 0.375, 0, "exact"), (0, 0.75, 0, "exact"), (1, 0.5, 0, "exact")]
    # it ends handed in broken (turn 1), repaired (turn 2 or 3), or not handed in at all
    assert cost.num_rollouts == 4


def test_a_look_costs_a_turn(task, sandbox):
    commands = moves(task)
    policy = MenuPolicy(lambda observation: {commands["repair"]: 0.5, "submit": 0.5})
    script = [commands["look"], commands["look"], "submit"]
    group = rollout(ScriptedPolicy(script), task, sandbox, n=1, max_turns=3)
    known, _ = exact_turn_values(policy, group, task, sandbox, max_turns=3)
    assert [v.estimate for v in known.turn_values] == [0.375, 0.25, 0.0]


def test_another_reward_has_other_values(task, sandbox):
    def handed_in(trajectory, task):
        return float(trajectory.stop_reason == "submitted")

    policy = MenuPolicy(lambda observation: {"ls": 0.5, "submit": 0.5})
    group = rollout(policy, task, sandbox, n=1, seed=0, max_turns=3)
    design = RewardDesign(handed_in=(handed_in, 2.0))
    known, _ = exact_turn_values(policy, group, task, sandbox, reward=design, max_turns=3)
    assert known.turn_values[0].estimate == 2 * (1 - 0.5**3)


def test_the_value_of_the_start_is_the_mean_reward_of_many_attempts(policy, task, sandbox, group):
    known, _ = exact_turn_values(policy, group, task, sandbox, max_turns=5)
    many = rollout(policy, task, sandbox, n=300, seed=7, max_turns=5)
    solved = np.mean([SOLVED.score(t, task).total for t in many.trajectories])
    start = known.turn_values[0].estimate
    assert 0.05 < start < 0.5
    assert abs(solved - start) < 4 * np.sqrt(start * (1 - start) / 300)


def test_the_decisive_turn_is_the_last_repair_of_what_was_wrong(task, sandbox):
    m = moves(task)
    for names, expected in (
        (["look", "repair", "run", "submit"], 1),
        (["repair", "spoil", "repair", "repair", "submit"], 2),
        (["repair", "spoil", "submit"], None),
        (["look", "repair", "run"], None),  # not handed in
        (["reword", "submit"], None),
    ):
        script = [m[name] for name in names]
        group = rollout(ScriptedPolicy(script), task, sandbox, n=1, max_turns=len(script))
        trajectory = group.trajectories[0]
        assert decisive_turn(trajectory, task) == expected, names
        solved = all(o.status == "passed" for o in trajectory.verdict.of_suite("hidden"))
        handed_in = trajectory.stop_reason == "submitted"
        assert (solved and handed_in) == (expected is not None), names


def test_probabilities_of_a_planted_policy_are_those_it_was_given(task):
    policy = planted_policy(task, {"repair": 0.3, "submit": 0.7}, {"submit": 1.0})
    assert policy.choices("fix it") == {moves(task)["repair"]: 0.3, "submit": 0.7}
    assert policy.choices("ok 2 passed") == {"submit": 1.0}


def test_what_cannot_be_judged_has_no_value(task, sandbox):
    def cannot(trajectory, task):
        return None

    policy = MenuPolicy(lambda observation: {"submit": 1.0})
    group = rollout(policy, task, sandbox, n=1)
    with pytest.raises(ValueError, match="expected a verdict on every continuation"):
        exact_turn_values(policy, group, task, sandbox, reward=RewardDesign(no=(cannot, 1.0)))
