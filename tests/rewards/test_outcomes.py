import pickle
from dataclasses import replace

import pytest

from workbench.rewards import (
    all_pass,
    compiles,
    early_exit,
    no_regression,
    own_tests_fail_on_base,
    parses,
    pass_fraction,
    skipped_tests,
)


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


def test_compiles_tells_a_program_that_loads_from_one_that_does_not(make_trajectory, task):
    assert compiles(make_trajectory("pppp"), task) == 1.0
    assert compiles(make_trajectory("eeee", status="ok"), task) == 1.0  # wrong, but it loads
    assert compiles(make_trajectory("eeee", status="timeout"), task) == 1.0
    assert compiles(make_trajectory("mmmm", status="compile_error"), task) == 0.0
    assert compiles(make_trajectory("pppp", status="sandbox_error"), task) is None


def test_a_configured_component_prints_compares_and_travels(make_trajectory, task):
    component = pass_fraction("hidden", submitted=False)
    assert repr(component) == "pass_fraction('hidden', submitted=False)"
    assert component != pass_fraction("hidden")
    copy = pickle.loads(pickle.dumps(component))
    assert copy == component and copy(make_trajectory("pw"), task) == 0.5


def test_parses_looks_at_the_syntax_of_the_entry_file(make_trajectory, task):
    def value(text):
        return parses(replace(make_trajectory(), final_files={"lib.py": text}), task)

    assert value("import no_such_module\n") == 1.0  # cannot be loaded, but is Python
    assert value("") == 1.0
    assert [value(t) for t in ("def f(:\n", "x = '\0'", "(" * 5000)] == [0.0, 0.0, 0.0]
    assert parses(replace(make_trajectory(), final_files={"other.py": "x = 1\n"}), task) == 0.0


def test_parses_refuses_other_languages(make_trajectory, task):
    with pytest.raises(ValueError, match="`parses` reads Python, and this task is in javascript"):
        parses(make_trajectory(), replace(task, language="javascript"))


@pytest.mark.parametrize(
    ("hidden", "status", "value"),
    [
        ("mmmm", "crash", 1.0),  # sys.exit(0) at the top
        ("ppmm", "crash", 1.0),  # os._exit in the third call
        ("pppp", "crash", 0.0),  # all answered; what broke came afterwards
        ("mmmm", "compile_error", 0.0),
        ("ptmm", "timeout", 0.0),
        ("pppp", "ok", 0.0),
        ("", "sandbox_error", None),
    ],
)
def test_an_early_exit_is_a_crash_before_all_tests_answered(
    hidden, status, value, make_trajectory, task
):
    assert early_exit(make_trajectory(hidden, status=status), task) == value


def test_skipped_tests_are_counted_in_the_suite_that_is_named(make_trajectory, task):
    trajectory = make_trajectory("ppps", "ssp")
    assert skipped_tests()(trajectory, task) == 2 / 3
    assert skipped_tests("hidden")(trajectory, task) == 0.25
    assert skipped_tests()(make_trajectory(status="unscorable"), task) is None


@pytest.mark.parametrize(
    ("on_base", "as_left", "value"),
    [
        ("w", "pp", 1.0),
        ("pe", "pp", 1.0),  # one of them shows the bug; an ImportError shows a missing feature
        ("pp", "pp", 0.0),  # they pass without the change
        ("w", "pw", 0.0),  # and with it, one still fails
        ("sm", "pp", 0.0),  # not run, so nothing is shown
        ("t", "pp", 0.0),
    ],
)
def test_own_tests_must_fail_before_the_change_and_pass_after_it(
    on_base, as_left, value, make_trajectory, task
):
    trajectory = make_trajectory(as_left=as_left, on_base=on_base)
    assert own_tests_fail_on_base(trajectory, task) == value


def test_own_tests_that_were_never_run_on_the_base_are_an_error(make_trajectory, task):
    with pytest.raises(ValueError, match="'agent_on_base' was not run"):
        own_tests_fail_on_base(make_trajectory(), task)
    assert own_tests_fail_on_base(make_trajectory(status="sandbox_error"), task) is None


def test_a_regression_is_a_test_that_passed_before_and_does_not_pass_now(make_trajectory, task):
    repository = replace(task, fail_to_pass=("hidden:1",), pass_to_pass=("hidden:2", "hidden:3"))
    values = [
        no_regression(make_trajectory(hidden), repository) for hidden in ("ppp", "wpp", "pps", "pp")
    ]
    assert values == [1.0, 1.0, 0.0, 0.0]  # the skipped one, and the one that is gone
    assert no_regression(make_trajectory("wwww"), task) == 1.0  # nothing that could regress
    assert no_regression(make_trajectory(status="unscorable"), repository) is None
