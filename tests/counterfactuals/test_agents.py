"""Agents replaced by stand-ins: who plays what was said, who is sampled anew."""

from dataclasses import replace

import numpy as np
import pytest

from workbench import rollout
from workbench.counterfactuals import (
    planted_team,
    play_agents,
    replay,
    replay_subsets,
    reroll,
)
from workbench.counterfactuals.planted import moves
from workbench.credit import (
    agent_shapley,
    difference_rewards,
    reroll_advantage,
    shapley,
    sum_by_agent,
)
from workbench.evaluation import SOLVED


def sure(task, locates, edits, finds_alone=0.0):
    """A planted team that leaves nothing to chance."""
    return planted_team(task, float(locates), float(edits), float(finds_alone))


def values_of(known, i=0):
    return {v.agents: v.value for v in known.agents_values if v.trajectory_index == i}


def test_a_planted_team_solves_when_both_are_right(task, sandbox):
    solved = {}
    for locates in (True, False):
        for edits in (True, False):
            team, _ = sure(task, locates, edits)
            trajectory = rollout(team, task, sandbox, n=1).trajectories[0]
            solved[locates, edits] = SOLVED.score(trajectory, task).total
            assert [turn.agent for turn in trajectory.turns] == ["locator"] * 2 + ["editor"] * 2
    assert solved == {(1, 1): 1.0, (1, 0): 0.0, (0, 1): 0.0, (0, 0): 0.0}


def test_credit_of_a_pair_that_needs_each_other_is_shared(task, sandbox):
    team, stand_ins = sure(task, True, True)
    group = rollout(team, task, sandbox, n=1)
    known, cost = play_agents(team, stand_ins, group, task, sandbox, num_plays=2)
    assert values_of(known) == {
        (): 0.0, ("editor",): 0.0, ("locator",): 0.0, ("editor", "locator"): 1.0,
    }  # fmt: skip
    assert agent_shapley(known, [1.0]) == {"editor": [0.5], "locator": [0.5]}
    assert difference_rewards(known, [1.0]) == {"editor": [1.0], "locator": [1.0]}
    assert cost.num_rollouts == 3 * 2 and cost.num_sampled_tokens > 0


def test_an_editor_that_finds_the_place_alone_is_paid_alone(task, sandbox):
    team, stand_ins = sure(task, True, True, finds_alone=True)
    group = rollout(team, task, sandbox, n=1)
    known, _ = play_agents(team, stand_ins, group, task, sandbox, num_plays=1)
    assert values_of(known)[("editor",)] == 1.0  # handed another place, it answered to that one
    assert agent_shapley(known, [1.0]) == {"editor": [1.0], "locator": [0.0]}


def test_commands_played_again_whatever_they_meet_pay_a_locator_nothing(task, sandbox):
    team, _ = sure(task, True, True)
    group = rollout(team, task, sandbox, n=1)
    known, _ = replay_subsets(group, task, sandbox, agents=team.agents)
    paid = sum_by_agent(known, shapley(known, [1.0]))
    assert np.allclose(paid["locator"], 0.0) and np.allclose(paid["editor"], 1.0)


def test_a_replay_of_a_teams_attempt_is_the_attempt_again(task, sandbox):
    team, _ = planted_team(task, 0.5, 0.8, 0.5)
    for trajectory in rollout(team, task, sandbox, n=4, seed=2).trajectories:
        again = replay(trajectory, task, sandbox, agents=team.agents)
        assert [replace(t, seconds=0) for t in again.turns] == [
            replace(t, seconds=0) for t in trajectory.turns
        ]
        assert again.final_files == trajectory.final_files


def test_an_agent_that_hears_the_same_says_the_same(task, sandbox):
    """The stand-in hands over what this locator did: the editor's dice are not thrown again."""
    team, stand_ins = planted_team(task, locates=0.0, edits=0.5, finds_alone=0.5)
    group = rollout(team, task, sandbox, n=12, seed=1)
    rewards = [SOLVED.score(t, task).total for t in group.trajectories]
    assert 0 < sum(rewards) < 12
    known, _ = play_agents(team, stand_ins, group, task, sandbox, num_plays=3)
    for i, reward in enumerate(rewards):
        assert values_of(known, i)[("editor",)] == reward
    assert np.allclose(agent_shapley(known, rewards)["locator"], 0.0)


def test_rerolls_go_on_with_whoever_has_the_floor(task, sandbox):
    team, _ = planted_team(task, locates=0.5, edits=1.0, finds_alone=0.0)
    group = rollout(team, task, sandbox, n=6, seed=4)
    rewards = np.array([SOLVED.score(t, task).total for t in group.trajectories])
    assert 0 < rewards.sum() < 6
    known, _ = reroll(team, group, task, sandbox, num_rerolls=8)
    credit = reroll_advantage(known, rewards)
    for trajectory, numbers, reward in zip(group.trajectories, credit, rewards):
        said = [turn.action.text for turn in trajectory.turns]
        assert said[0] == moves(task)["look"] and said[1].startswith("hand ")
        assert np.allclose(numbers[2:], 0.0)  # once the place is handed over all is decided
        assert np.sign(numbers[1]) == (1 if reward else -1)


def test_stand_ins_for_all_and_at_least_one_play_are_asked_for(task, sandbox):
    team, stand_ins = sure(task, True, True)
    group = rollout(team, task, sandbox, n=1)
    with pytest.raises(ValueError, match=r"stand-in for each of \['locator', 'editor'\]"):
        play_agents(team, {"editor": stand_ins["editor"]}, group, task, sandbox)
    with pytest.raises(ValueError, match="num_plays of 1 or more, .* 0"):
        play_agents(team, stand_ins, group, task, sandbox, num_plays=0)
