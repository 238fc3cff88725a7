"""A world that was played once gives what the real environment gives, in values and in records."""

import numpy as np
import pytest

from workbench.counterfactuals import exact_turn_values, explore, planted_policy
from workbench.counterfactuals.planted import moves
from workbench.counterfactuals.world import ENDS
from workbench.environments import Environment


@pytest.fixture(scope="module")
def world(task, sandbox):
    """Everything the planted moves can lead to."""
    return explore(task, sandbox, list(moves(task).values()))


@pytest.fixture(scope="module")
def chances(world, task):
    """(S, M) what the planted policy does in each state."""
    policy = planted_policy(task)
    menus = [policy.choices(heard) for heard in world.heard]
    return np.array([[menu.get(c, 0.0) for c in moves(task).values()] for menu in menus])


def test_true_values_are_those_that_were_counted_in_the_real_environment(
    world, chances, policy, group, task, sandbox
):
    counted, _ = exact_turn_values(policy, group, task, sandbox, max_turns=5)
    first = next(v for v in counted.turn_values if v.turn_index == -1)
    assert world.values(chances, 5)[5, 0] == pytest.approx(first.estimate, abs=1e-12)
    assert world.values(chances, 0)[0].tolist() == [0.0] * len(world.heard)


def test_values_by_hand(world, task):
    """A policy that repairs and then hands in is always right with two turns, never with one."""
    names = list(moves(task))
    repaired = world.next_state[0, names.index("repair")]
    chances = np.zeros((len(world.heard), len(names)))
    chances[:, names.index("submit")] = 1.0
    chances[0] = np.eye(len(names))[names.index("repair")]
    values = world.values(chances, 2)
    assert values[2, 0] == 1.0 and values[1, 0] == 0.0 and values[1, repaired] == 1.0
    assert world.next_state[0, names.index("submit")] == ENDS
    assert world.reward[0, names.index("submit")] == 0.0


def test_episodes_are_as_good_as_their_value_and_end_in_time(world, chances):
    rng = np.random.default_rng(0)
    episodes = world.play(chances, 5, rng, 2000)
    value = world.values(chances, 5)[5, 0]
    mean = np.mean([episode.reward for episode in episodes])
    assert abs(mean - value) < 4 * np.sqrt(value * (1 - value) / 2000)
    assert max(len(episode.moves) for episode in episodes) == 5
    again = world.play(chances, 5, np.random.default_rng(0), 2000)
    assert again == episodes


def test_an_episodes_record_is_what_the_environment_says_to_its_commands(
    world, chances, task, sandbox
):
    episodes = world.play(chances, 5, np.random.default_rng(1), 20)
    assert {world.trajectory(e).stop_reason for e in episodes} == {"submitted", "max_turns"}
    for episode in episodes:
        environment, trajectory = Environment(task, sandbox, max_turns=5), world.trajectory(episode)
        environment.reset()
        for turn in trajectory.turns:
            said = environment.step(turn.action.text)
            assert said.observation == turn.observation and said.tool_call == turn.tool_call
            assert environment.workspace_hash == turn.workspace_hash
        assert environment.stop_reason == trajectory.stop_reason


def test_rests_are_played_from_where_an_episode_stands(world, chances, task):
    names = list(moves(task))
    green = next(s for s, heard in enumerate(world.heard) if heard.startswith("ok "))
    rests = world.play(chances, 3, np.random.default_rng(0), 500, start=green)
    assert all(rest.states[0] == green for rest in rests)
    assert np.mean([rest.moves[0] == names.index("submit") for rest in rests]) > 0.8
