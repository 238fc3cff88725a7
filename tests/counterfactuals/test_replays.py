"""Replays: what is left of an attempt without some of its turns."""

from dataclasses import replace

import numpy as np
import pytest

from workbench import load_tasks, rollout
from workbench.counterfactuals import replay, replay_subsets, replay_without
from workbench.counterfactuals.planted import moves
from workbench.credit import deletion, shapley
from workbench.environments import EDITOR, LOCATOR
from workbench.policies import ScriptedPolicy, Team

LOOKS = ("ls", "cat", "grep", "run")


def played(task, sandbox, *names, max_turns=8):
    """A group of one attempt that makes these moves."""
    script = [moves(task).get(name, name) for name in names]
    return rollout(ScriptedPolicy(script), task, sandbox, n=1, max_turns=max_turns)


def solved(trajectory):
    hidden = trajectory.verdict.of_suite("hidden")
    return trajectory.stop_reason == "submitted" and all(o.status == "passed" for o in hidden)


def test_a_replay_of_all_turns_is_the_attempt_again(group, task, sandbox):
    for trajectory in group.trajectories:
        again = replay(trajectory, task, sandbox)
        assert [replace(t, seconds=0) for t in again.turns] == [
            replace(t, seconds=0) for t in trajectory.turns
        ]
        assert again.final_files == trajectory.final_files
        assert again.verdict == trajectory.verdict
        assert again.stop_reason == trajectory.stop_reason


@pytest.mark.parametrize("index", [0, 1, 2])
def test_without_the_turns_that_only_look_the_final_files_are_the_same(index, sandbox):
    task = load_tasks("bugfix", split="train", count=3)[index]
    names = ["ls", "look", "spoil", "run", "search", "repair", "run", "reword", "submit"]
    trajectory = played(task, sandbox, *names, max_turns=9).trajectories[0]
    looks = [k for k, t in enumerate(trajectory.turns) if t.tool_call.name in LOOKS]
    assert len(looks) == 5
    without = replay_without(trajectory, looks, task, sandbox)
    assert without.final_files == trajectory.final_files and len(without.turns) == 4
    assert without.verdict.outcomes == trajectory.verdict.outcomes and solved(without)


def test_without_the_turn_that_decided_it_is_lost(task, sandbox):
    trajectory = played(task, sandbox, "look", "repair", "run", "submit").trajectories[0]
    assert solved(trajectory)
    assert [solved(replay_without(trajectory, [k], task, sandbox)) for k in range(4)] == [
        True, False, True, False,
    ]  # fmt: skip
    nothing = replay(trajectory, task, sandbox, kept=())
    assert nothing.turns == () and nothing.final_files == task.files and not solved(nothing)


def test_a_replay_hears_what_the_commands_say_now(task, sandbox):
    trajectory = played(task, sandbox, "repair", "run", "submit").trajectories[0]
    assert trajectory.turns[1].observation.startswith("ok ")
    without = replay_without(trajectory, [0], task, sandbox)
    assert without.turns[0].observation.startswith("FAIL")
    assert without.turns[0].workspace_hash != trajectory.turns[1].workspace_hash


def test_turns_that_are_not_there_are_refused(task, sandbox):
    trajectory = played(task, sandbox, "look", "submit").trajectories[0]
    for call in (replay, lambda t, k, s, turns: replay_without(t, turns, k, s)):
        with pytest.raises(ValueError, match=r"numbers from 0 to 1, got \[2\]"):
            call(trajectory, task, sandbox, [2])


def test_a_single_decisive_turn_gets_all_of_the_credit(task, sandbox):
    group = played(task, sandbox, "look", "reword", "repair", "run", "submit")
    known, cost = replay_subsets(group, task, sandbox)
    assert cost.num_rollouts == len(known.subset_values) == 2**4
    for scheme in (shapley, deletion):
        assert np.allclose(scheme(known, [1.0]), [[0, 0, 1, 0, 0]])


def test_either_of_two_repairs_is_enough_so_deletion_sees_none_and_shapley_shares(task, sandbox):
    group = played(task, sandbox, "repair", "look", "repair", "submit")
    known, _ = replay_subsets(group, task, sandbox)
    assert np.allclose(deletion(known, [1.0]), [[0, 0, 0, 0]])
    assert np.allclose(shapley(known, [1.0]), [[0.5, 0, 0.5, 0]])


def test_a_turn_that_spoils_is_blamed(task, sandbox):
    group = played(task, sandbox, "repair", "spoil", "submit")
    known, _ = replay_subsets(group, task, sandbox)
    assert np.allclose(deletion(known, [0.0]), [[0, -1, 0]])
    assert np.allclose(shapley(known, [0.0]), [[0.5, -0.5, 0]])


def test_handing_in_can_be_a_player_and_then_shares_the_credit(task, sandbox):
    group = played(task, sandbox, "look", "repair", "submit")
    known, _ = replay_subsets(group, task, sandbox, players=lambda turn: True)
    assert np.allclose(shapley(known, [1.0]), [[0, 0.5, 0.5]])
    assert np.allclose(deletion(known, [1.0]), [[0, 1, 1]])


def test_fewer_subsets_do_for_deletion_and_for_sampled_orders(task, sandbox):
    group = played(task, sandbox, "look", "spoil", "repair", "run", "submit")
    one_less, cost = replay_subsets(group, task, sandbox, subsets="without_one")
    assert cost.num_rollouts == 1 + 4
    assert np.allclose(deletion(one_less, [1.0]), [[0, 0, 1, 0, 0]])
    sampled, cost = replay_subsets(group, task, sandbox, num_orders=2, seed=4)
    assert cost.num_rollouts <= 2 * 5
    credit = shapley(sampled, [1.0], num_orders=2, seed=4)
    assert np.allclose(credit, [[0, 0, 1, 0, 0]])


def test_too_many_turns_for_all_subsets_are_refused_with_a_way_out(task, sandbox):
    group = played(task, sandbox, *["ls"] * 11, "submit", max_turns=12)
    with pytest.raises(ValueError, match="2048 subsets; expected at most 10 .*give num_orders"):
        replay_subsets(group, task, sandbox)
    with pytest.raises(ValueError, match='"without_one", got \'half\''):
        replay_subsets(group, task, sandbox, subsets="half")


def test_cut_and_contextless_messages_replay_as_they_were(task, sandbox):
    trajectory = played(task, sandbox, "look", "look", "submit").trajectories[0]
    cut, full = (
        replace(turn, action=replace(turn.action, finish=finish))
        for turn, finish in zip(trajectory.turns, ("length", "context"))
    )
    again = replay(replace(trajectory, turns=(cut, full)), task, sandbox)
    assert again.turns[0].parse_error == "message too long"
    assert again.stop_reason == "context" and again.turns[1].observation == ""


def test_a_team_s_turns_are_taken_by_who_took_them_when_one_is_left_out(task, sandbox):
    does = moves(task)
    looks = ScriptedPolicy([does["repair"], "hand over to you"])  # a locator may not edit
    team = Team({LOCATOR: looks, EDITOR: ScriptedPolicy(["run", "submit"])})
    [attempt] = rollout(team, task, sandbox, n=1).trajectories
    without = replay_without(attempt, [2], task, sandbox, team.agents)
    assert [turn.agent for turn in without.turns] == ["locator", "locator", "editor"]
    assert without.turns[0].parse_error == "locator has no edit" and not solved(without)
    assert without.turns[1].tool_call.name == "hand"
