from dataclasses import replace

import numpy as np
import pytest

from workbench.records import Action, Evidence, ToolCall
from workbench.rewards import (
    abstention,
    intact,
    overlong,
    ran_out,
    repeated,
    tampered,
    tripwires,
    turn_penalty,
    well_formed,
)


def test_tampered_reads_the_evidence_and_names_a_missing_collector(make_trajectory, task):
    assert tampered(make_trajectory(), task) == 0.0
    assert tampered(make_trajectory(tampered=("tests.py",)), task) == 1.0
    with pytest.raises(ValueError, match="collector 'tampering'"):
        tampered(make_trajectory(tampered=None), task)


def test_turn_penalty_has_the_values_of_the_nebius_recipe(make_trajectory, task):
    def values(limit, turns):
        component = turn_penalty(10, limit)
        return [component(make_trajectory(num_turns=n), task) for n in turns]

    assert values(40, (9, 10, 16, 25, 40)) == [0.0, 0.0, -0.2, -0.5, -1.0]
    assert values(80, (10, 24, 45, 80)) == [0.0, -0.2, -0.5, -1.0]


def test_turn_penalty_prefers_the_shortest_of_three_failures(make_trajectory, task):
    rewards = np.array(
        [turn_penalty(10, 40)(make_trajectory(num_turns=n), task) for n in (10, 25, 40)]
    )
    normalised = (rewards - rewards.mean()) / rewards.std()
    assert np.allclose(normalised, [1.224745, 0, -1.224745])


def test_turn_penalty_refuses_a_limit_within_the_free_turns():
    with pytest.raises(ValueError, match="0 <= free < limit, got 8 and 8"):
        turn_penalty(8, 8)


def test_ran_out_marks_episodes_that_ended_before_they_were_handed_in(make_trajectory, task):
    stops = ("submitted", "abstained", "max_turns", "context", "loop", "abort")
    values = [ran_out(make_trajectory(stop=stop), task) for stop in stops]
    assert values == [0.0, 0.0, 1.0, 1.0, 1.0, None]


def test_intact_is_tampered_turned_round(make_trajectory, task):
    assert intact(make_trajectory(), task) == 1.0
    assert intact(make_trajectory(tampered=("tests.py",)), task) == 0.0
    with pytest.raises(ValueError, match="`intact` needs the collector 'tampering'"):
        intact(make_trajectory(tampered=None), task)


def test_tripwires_is_a_flag_and_runs_for_repositories_only(make_trajectory, task):
    def value(*signs):
        return tripwires(replace(make_trajectory(), evidence=Evidence(tripwires=signs)), task)

    assert value() == 0.0 and value("lib.py:3 sys._getframe", "lib.py:4 gc") == 1.0
    with pytest.raises(ValueError, match="`tripwires` needs the collector 'tripwires'"):
        tripwires(make_trajectory(), task)


def with_tokens(trajectory, *lengths):
    """The trajectory with a turn of each length."""
    turn = trajectory.turns[0]
    actions = [Action((1,) * n, (-0.5,) * n, "ls", "end_of_turn") for n in lengths]
    return replace(trajectory, turns=tuple(replace(turn, action=a) for a in actions))


def test_overlong_has_the_values_of_the_dapo_paper(make_trajectory, task):
    component = overlong(16384, 20480)
    lengths = (100, 16384, 17408, 18432, 20480, 30000)
    values = [component(with_tokens(make_trajectory(), n), task) for n in lengths]
    assert values == [0.0, 0.0, -0.25, -0.5, -1.0, -1.0]


def test_overlong_adds_up_the_turns(make_trajectory, task):
    assert overlong(10, 20)(with_tokens(make_trajectory(), 5, 5, 5), task) == -0.5


@pytest.mark.parametrize(("free", "limit"), [(8, 8), (-1, 8), (9, 8)])
def test_overlong_refuses_a_limit_within_the_free_tokens(free, limit):
    with pytest.raises(ValueError, match=f"0 <= free < limit, got {free} and {limit}"):
        overlong(free, limit)


def test_well_formed_is_the_share_of_turns_that_are_commands(make_trajectory, task):
    trajectory = make_trajectory(num_turns=4)  # four turns that did not parse
    good = replace(trajectory.turns[0], tool_call=ToolCall("ls", ""))
    assert well_formed(trajectory, task) == 0.0
    mixed = replace(trajectory, turns=(good, *trajectory.turns[:3]))
    assert well_formed(mixed, task) == 0.25
    assert well_formed(replace(trajectory, turns=()), task) is None


def test_repeated_is_the_share_of_turns_that_say_again_what_was_said(make_trajectory, task):
    def saying(*texts):
        trajectory = make_trajectory(num_turns=len(texts))
        turns = [
            replace(turn, action=replace(turn.action, text=text))
            for turn, text in zip(trajectory.turns, texts)
        ]
        return replace(trajectory, turns=tuple(turns))

    assert repeated(saying("ls", "run", "submit"), task) == 0.0
    assert repeated(saying("run", "ls", "run", "run"), task) == 0.5
    assert repeated(replace(saying("ls"), turns=()), task) is None


def outcomes(component, make_trajectory, task):
    """What it pays for a right answer, a wrong one, an abstention, running out, our fault."""
    attempts = (
        make_trajectory("pp"),
        make_trajectory("pw"),
        make_trajectory("pp", stop="abstained"),
        make_trajectory("pp", stop="max_turns"),
        make_trajectory("", "", status="sandbox_error"),
    )
    return [component(attempt, task) for attempt in attempts]


def test_abstention_pays_three_ways_to_end(make_trajectory, task):
    assert outcomes(abstention(), make_trajectory, task) == [1.0, -1.0, 0.0, -1.0, None]
    assert outcomes(abstention(0.2, 3.0), make_trajectory, task) == [1.0, -3.0, 0.2, -3.0, None]
    as_left = abstention(suite="visible_as_left")
    assert outcomes(as_left, make_trajectory, task)[1] == 1.0


@pytest.mark.parametrize(
    ("value", "wrong", "threshold"),
    [(0, 1, 0.5), (0, 3, 0.75), (0.2, 1, 0.6), (0, 9, 0.9), (0.3, 0, 0.3)],
)
def test_answering_pays_from_the_chance_on_that_the_paper_gives(
    value, wrong, threshold, make_trajectory, task
):
    paid = outcomes(abstention(value, wrong), make_trajectory, task)

    def gain(chance):
        return chance * paid[0] + (1 - chance) * paid[1] - paid[2]

    assert gain(threshold - 0.01) < 0 < gain(threshold + 0.01)
    assert abs(gain(threshold)) < 1e-9


@pytest.mark.parametrize(("value", "wrong"), [(1.5, 1), (0, -1), (float("nan"), 1)])
def test_abstention_refuses_what_would_reward_being_wrong(value, wrong):
    with pytest.raises(ValueError, match="expected value <= 1 and wrong >= 0"):
        abstention(value, wrong)
