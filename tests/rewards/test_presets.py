"""The values of four published systems, as their papers print them."""

import pytest

from workbench.rewards import coderl, ppocoder, rltf, stepcoder

PRESETS = (coderl, ppocoder, stepcoder, rltf)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize(
    ("hidden", "status", "value"),
    [
        ("mmmm", "compile_error", -1.0),
        ("eeee", "ok", -0.6),
        ("ppte", "timeout", -0.6),
        ("ppoo", "memory", -0.6),
        ("pmmm", "crash", -0.6),
        ("pwep", "ok", -0.6),  # one runtime error outweighs failures
        ("wwww", "ok", -0.3),
        ("pppp", "ok", 1.0),
        ("", "unscorable", None),
    ],
)
def test_four_outcomes_have_four_values(preset, hidden, status, value, make_trajectory, task):
    assert preset()(make_trajectory(hidden, status=status), task) == value


@pytest.mark.parametrize("preset", (coderl, ppocoder, stepcoder))
@pytest.mark.parametrize("hidden", ["pwww", "pppw", "ppps"])
def test_a_failed_test_costs_the_same_whatever_passed(preset, hidden, make_trajectory, task):
    assert preset()(make_trajectory(hidden), task) == -0.3


@pytest.mark.parametrize(
    ("hidden", "value"),
    [("wwww", -0.3), ("pwww", 0.025), ("pppww", 0.48), ("pppp", 1.0)],
)
def test_rltf_adds_the_share_that_passed(hidden, value, make_trajectory, task):
    assert round(rltf()(make_trajectory(hidden), task), 6) == value


def test_differences_between_outcomes_are_those_worked_out_for_coderl(make_trajectory, task):
    failed, crashed, passed = (coderl()(make_trajectory(h), task) for h in ("w", "e", "p"))
    assert abs((failed - crashed) - 0.3) < 1e-9
    assert abs(0.7 * (passed - failed) - 0.91) < 1e-9


@pytest.mark.parametrize("preset", PRESETS)
def test_what_was_never_handed_in_has_at_best_failed(preset, make_trajectory, task):
    ran_out = make_trajectory("pppp", stop="max_turns")
    assert preset()(ran_out, task) == -0.3
    assert preset(submitted=False)(ran_out, task) == 1.0


@pytest.mark.parametrize("preset", PRESETS)
def test_the_suite_is_chosen_and_must_have_run(preset, make_trajectory, task):
    assert preset("visible_as_left")(make_trajectory("wwww", "pp"), task) == 1.0
    with pytest.raises(ValueError, match="'visible_pristine' was not run"):
        preset("visible_pristine")(make_trajectory(), task)


def test_without_tests_ppocoder_pays_for_compiling(make_trajectory, task):
    values = [
        ppocoder(None)(make_trajectory("", "", status=status), task)
        for status in ("ok", "crash", "compile_error", "sandbox_error")
    ]
    assert values == [1.0, 1.0, -1.0, None]
