import pickle

import numpy as np
import pytest

from workbench.rewards import all_pass, compiles, pass_fraction, ran_out, tampered, turn_penalty


def test_all_pass_pays_only_for_every_test(make_trajectory, task):
    assert all_pass("hidden")(make_trajectory("pppp"), task) == 1.0
    assert all_pass("hidden")(make_trajectory("pppw"), task) == 0.0


def test_pass_fraction_is_the_share_of_one_suite(make_trajectory, task):
    trajectory = make_trajectory(hidden="pwww", as_left="pp")
    assert pass_fraction("hidden")(trajectory, task) == 0.25
    assert pass_fraction("visible_as_left")(trajectory, task) == 1.0


@pytest.mark.parametrize("stop", ["max_turns", "context", "loop"])
def test_what_was_never_handed_in_is_not_solved(make_trajectory, task, stop):
    trajectory = make_trajectory("pppp", stop=stop)
    assert all_pass("hidden")(trajectory, task) == 0.0
    assert pass_fraction("hidden")(trajectory, task) == 0.0
    assert all_pass("hidden", submitted=False)(trajectory, task) == 1.0


@pytest.mark.parametrize("status", ["sandbox_error", "unscorable"])
def test_a_fault_of_ours_is_none_and_never_zero(make_trajectory, task, status):
    trajectory = make_trajectory(hidden="", as_left="", status=status)
    assert all_pass("hidden")(trajectory, task) is None
    assert pass_fraction("hidden")(trajectory, task) is None


def test_a_fault_of_the_candidate_is_zero(make_trajectory, task):
    assert all_pass("hidden")(make_trajectory("wwww", status="crash"), task) == 0.0


def test_a_suite_that_was_never_run_is_an_error(make_trajectory, task):
    with pytest.raises(ValueError, match="'agent_on_base' was not run"):
        all_pass("agent_on_base")(make_trajectory(), task)


def test_tampered_reads_the_evidence_and_names_a_missing_collector(make_trajectory, task):
    assert tampered(make_trajectory(), task) == 0.0
    assert tampered(make_trajectory(tampered=("tests.py",)), task) == 1.0
    with pytest.raises(ValueError, match="collector 'tampering'"):
        tampered(make_trajectory(tampered=None), task)


def test_compiles_tells_a_program_that_loads_from_one_that_does_not(make_trajectory, task):
    assert compiles(make_trajectory("pppp"), task) == 1.0
    assert compiles(make_trajectory("eeee", status="ok"), task) == 1.0  # wrong, but it loads
    assert compiles(make_trajectory("eeee", status="timeout"), task) == 1.0
    assert compiles(make_trajectory("mmmm", status="compile_error"), task) == 0.0
    assert compiles(make_trajectory("pppp", status="sandbox_error"), task) is None


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
    stops = ("submitted", "max_turns", "context", "loop", "abort")
    values = [ran_out(make_trajectory(stop=stop), task) for stop in stops]
    assert values == [0.0, 1.0, 1.0, 1.0, None]


def test_a_configured_component_prints_compares_and_travels(make_trajectory, task):
    component = pass_fraction("hidden", submitted=False)
    assert repr(component) == "pass_fraction('hidden', submitted=False)"
    assert component != pass_fraction("hidden")
    copy = pickle.loads(pickle.dumps(component))
    assert copy == component and copy(make_trajectory("pw"), task) == 0.5
