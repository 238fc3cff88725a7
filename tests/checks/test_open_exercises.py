"""Rewards and graders of readers: right ones pass, each usual mistake is named."""

import numpy as np
import pytest

from workbench import RewardDesign, checks
from workbench.checks import open_grader, open_reward, stored_answers, stored_attempts
from workbench.grading import same_value
from workbench.records import UNSCORABLE
from workbench.rewards import all_pass, pass_fraction, tampered
from workbench.sandbox import CallResult, CaseResult


def hidden(trajectory):
    return [outcome.status for outcome in trajectory.verdict.of_suite("hidden")]


def test_the_package_s_own_reward_is_right(capsys):
    checks.grade_reward("x", all_pass("hidden"))
    assert capsys.readouterr().out == "x: right, all 11 requirements hold.\n"


def test_a_design_can_be_held_to_the_penalty(capsys):
    design = RewardDesign(tests=(all_pass("hidden"), 1.0), tampering=(tampered, -1.0))
    checks.grade_reward("x", design, requirements=open_reward.USUAL | {"penalty"})
    assert checks.solved["x"]
    checks.grade_reward("x", all_pass("hidden"), requirements={"penalty"})
    assert "pays 1 for an attempt that solved the task and also edited the tests" in (
        capsys.readouterr().out
    )


def test_partial_credit_is_right_where_it_is_asked_for():
    checks.grade_reward("x", pass_fraction("hidden"))
    assert checks.solved["x"] is False
    wanted = open_reward.USUAL | {"split"}
    checks.grade_reward("x", pass_fraction("hidden"), requirements=wanted, allow_partial=True)
    assert checks.solved["x"]
    checks.grade_reward("x", all_pass("hidden"), requirements={"split"})
    assert not checks.solved["x"]


def no_status(trajectory, task):
    return float(all(s == "passed" for s in hidden(trajectory)) and _in(trajectory))


def none_wrong(trajectory, task):
    if trajectory.verdict.status in UNSCORABLE:
        return None
    return float(not any(s in ("wrong", "error") for s in hidden(trajectory)) and _in(trajectory))


def never_handed_in(trajectory, task):
    if trajectory.verdict.status in UNSCORABLE:
        return None
    return float(all(s == "passed" for s in hidden(trajectory)))


def cautious(trajectory, task):
    return None if trajectory.verdict.status != "ok" else all_pass("hidden")(trajectory, task)


def clean_only(trajectory, task):
    paid = all_pass("hidden")(trajectory, task)
    return paid if trajectory.evidence.tampered == () or paid is None else 0.0


def _in(trajectory):
    return trajectory.stop_reason == "submitted"


calls = []


def moody(trajectory, task):
    calls.append(1)
    return all_pass("hidden")(trajectory, task) and 1.0 - (len(calls) % 2) / 10


@pytest.mark.parametrize(
    "reward, words",
    [
        (all_pass("visible_as_left"), "pays 1 for an attempt that edited the tests (its hidden"),
        (all_pass("visible_as_left"), "pays 1 for an attempt that looks the visible tests up"),
        (pass_fraction("hidden"), "pays 0.5 for an attempt that runs out of time"),
        (no_status, "pays 0 for an attempt that cannot be judged: the sandbox failed; expected"),
        (none_wrong, "pays 1 for an attempt that leaves early, so that no test can fail"),
        (none_wrong, "pays 1 for an attempt that runs out of time after two passed tests"),
        (never_handed_in, "pays 1 for an attempt that repaired the code but never handed it in"),
        (cautious, "returns None for an attempt that does not compile; that can be judged"),
        (clean_only, "pays 0 for an attempt that solved the task, but no collector ran"),
        (moody, "and then pays"),
        (lambda t, k: "1", "returns '1' for an attempt that solved the task honestly; expected 1"),
        (lambda t, k: float("nan"), "returns nan for an attempt"),
        (lambda t, k: t.nothing, "raises AttributeError"),
    ],
)
def test_each_usual_mistake_is_named(reward, words, capsys):
    checks.grade_reward("x", reward)
    assert words in capsys.readouterr().out and checks.solved["x"] is False


def solved(trajectory):
    return all(s == "passed" for s in hidden(trajectory)) and _in(trajectory)


def judged(trajectory, paid):
    return None if trajectory.verdict.status in UNSCORABLE else float(paid)


@pytest.mark.parametrize(
    "reward, words",
    [
        (lambda t, k: judged(t, solved(t)), "pays 1 for an attempt that solved the task and also"),
        (
            lambda t, k: judged(t, hidden(t)[-1] == "passed" and _in(t)),
            "pays 1 for an attempt that passes every hidden test but the first",
        ),
        (
            lambda t, k: judged(t, hidden(t)[0] == "passed" and _in(t)),
            "pays 1 for an attempt that passes every hidden test but the last",
        ),
        (
            lambda t, k: judged(t, all(o.status == "passed" for o in t.verdict.outcomes)),
            "pays 0 for an attempt that passes every hidden test, though not every visible one",
        ),
        (
            lambda t, k: judged(t, 1 if solved(t) and not t.evidence.tampered else -1),
            "pays -1 for an attempt that fails every test; expected 0",
        ),
    ],
)
def test_a_near_miss_of_exercise_01_g_is_named(reward, words, capsys):
    checks.grade_reward("x", reward, requirements=open_reward.USUAL | {"penalty"})
    assert words in capsys.readouterr().out and checks.solved["x"] is False


def test_every_requirement_can_be_missed_and_switched_off():
    for name in open_reward.REQUIREMENTS:  # half of the success for everything, twice for others
        checks.grade_reward("x", lambda t, k: 0.5 if _in(t) else 2.0, requirements={name})
        paid = name in ("pure", "partial")
        assert checks.solved["x"] is paid, name
    with pytest.raises(ValueError, match="unknown requirements"):
        checks.grade_reward("x", all_pass("hidden"), requirements={"beauty"})


def test_stubs_are_not_attempted(capsys):
    def stub(one, other):
        raise NotImplementedError

    checks.grade_reward("x", stub)
    checks.grade_grader("x", stub)
    assert capsys.readouterr().out == "x: not attempted yet.\n" * 2


def test_an_endless_reward_or_grader_is_ended_once(capsys):
    def endless(one, other):
        while True:
            pass

    checks.grade_reward("x", endless, time_limit_s=0.1)
    checks.grade_grader("x", endless, time_limit_s=0.1)
    assert capsys.readouterr().out == (
        "x: not done after 0.1 s; an endless loop?\n"
        "  for an attempt that solved the task honestly\n"
        "x: not done after 0.1 s; an endless loop?\n"
        "  for a program that answers everything right\n"
    )


def test_a_grader_that_changes_what_it_is_given_spoils_nothing(capsys):
    def careless(result, cases):
        for case in cases:
            if isinstance(case.expected, list):
                case.expected.clear()
        return []

    checks.grade_grader("x", careless)
    checks.grade_grader("x", right_grader)
    assert checks.solved["x"]


def test_the_stored_attempts_are_well_formed_and_the_mistaken_rewards_cannot_change_them():
    for attempt in stored_attempts.ALL:
        trajectory = attempt.trajectory
        for suite in ("visible_as_left", "visible_pristine", "hidden"):
            assert trajectory.verdict.of_suite(suite)
        with pytest.raises(TypeError):
            trajectory.final_files["lib.py"] = ""


def right_grader(result, cases):
    if result.status in UNSCORABLE:
        return None
    judged = [r.status == "value" and same_value(r.value, c.expected)
              for r, c in zip(result.results, cases)]  # fmt: skip
    return judged + [False] * (len(cases) - len(judged))


def test_a_grader_that_compares_by_type_and_value_is_right(capsys):
    checks.grade_grader("x", right_grader)
    assert capsys.readouterr().out == "x: right, all 9 requirements hold.\n"

    def verdict(result, cases):
        each = right_grader(result, cases)
        return None if each is None else all(each)

    checks.grade_grader("x", verdict, each=False)
    assert checks.solved["x"]
    checks.grade_grader("x", verdict)
    assert "expected a list of True and False" in capsys.readouterr().out


def by_value(result, cases):
    return [r.value == c.expected for r, c in zip(result.results, cases)]


def only_if_ok(result, cases):
    right = right_grader(result, cases)
    return right if right is None or result.status == "ok" else [False] * len(cases)


def by_text(result, cases):
    right = right_grader(result, cases)
    return right and [str(r.value) == str(c.expected) and r.status == "value"
                      for r, c in zip(result.results, cases)]  # fmt: skip


def graded(same):
    """A grader that does everything right but the comparison of two values."""

    def grader(result, cases):
        if result.status in UNSCORABLE:
            return None
        padded = [*result.results, *[None] * (len(cases) - len(result.results))]
        return [r is not None and r.status == "value" and same(r.value, c.expected)
                for r, c in zip(padded, cases)]  # fmt: skip

    return grader


def loosely(got, want):
    """By type at every level, but floats nearly, and only the items that both lists have."""
    if isinstance(want, float) and isinstance(got, float):
        return abs(got - want) < 0.1 or (got != got and want != want)
    if isinstance(want, (list, tuple)):
        return type(got) is type(want) and all(map(loosely, got, want))
    if isinstance(want, dict):
        return isinstance(got, dict) and got.keys() == want.keys()
    return type(got) is type(want) and got == want


@pytest.mark.parametrize(
    "same, words",
    [
        (lambda g, w: repr(g) == repr(w), "fails case 1 of a program that returns a dict right"),
        (lambda g, w: (type(g), str(g)) == (type(w), str(w)), "that returns a dict right"),
        (lambda g, w: type(g) is type(w) and g == w, "that returns True for 1 inside a list"),
        (loosely, "passes case 1 of a program that returns one item too many"),
        (loosely, "passes case 1 of a program that returns dicts with a wrong value"),
        (loosely, "passes case 1 of a program that returns numbers that are near"),
        (
            lambda g, w: same_value(g, w) and g != [w] and g == g and w == w,
            "fails case 1 of a program that returns nan where nan was asked",
        ),
        (
            lambda g, w: same_value(g, w) and "nan" not in repr(g)[1:],
            "fails case 1 of a program that returns nan inside a list where it was asked",
        ),
    ],
)
def test_a_near_miss_of_exercise_01_h_is_named(same, words, capsys):
    checks.grade_grader("x", graded(same))
    assert words in capsys.readouterr().out and checks.solved["x"] is False


def test_a_grader_may_return_an_array_of_bool():
    def as_array(result, cases):
        right = right_grader(result, cases)
        return right and np.array(right)

    checks.grade_grader("x", as_array)
    assert checks.solved["x"]
    checks.grade_grader("x", lambda r, c: right_grader(r, c) and np.array([[True]]))
    checks.grade_grader("y", lambda r, c: right_grader(r, c) and np.ones(len(c)))
    assert not checks.solved["x"] and not checks.solved["y"]


def test_a_judgement_too_many_is_one_case_too_many(capsys):
    checks.grade_grader("x", lambda r, c: (judged := right_grader(r, c)) and judged + [True])
    assert "judges 4 cases of a program that answers everything right; there are 3" in (
        capsys.readouterr().out
    )


def test_a_verdict_that_fails_a_right_program_is_wrong(capsys):
    def never(result, cases):
        return None if right_grader(result, cases) is None else False

    checks.grade_grader("x", never, each=False, requirements={"right"})
    assert "fails a program that answers everything right" in capsys.readouterr().out
    checks.grade_grader("x", never, each=False, requirements={"wrong"})
    assert checks.solved["x"]


@pytest.mark.parametrize(
    "grader, words",
    [
        (by_value, "passes case 1 of a program that returns True where 1 was asked"),
        (by_value, "passes case 1 of a program that leaves at once where None was asked"),
        (by_value, "passes case 1 of a program that raises instead of returning None"),
        (by_value, "judges 2 cases of a program that answers two of three cases"),
        (by_value, "fails case 1 of a program that returns nan where nan was asked"),
        (by_value, "judges a program that could not be run: the sandbox failed; expected None"),
        (only_if_ok, "fails case 1 of a program that crashes after two right answers"),
        (by_text, "passes case 1 of a program that returns values that are right only as text"),
        (lambda r, c: [x.value + 0 for x in r.results], "raises TypeError"),
    ],
)
def test_each_usual_mistake_of_a_grader_is_named(grader, words, capsys):
    checks.grade_grader("x", grader)
    assert words in capsys.readouterr().out and checks.solved["x"] is False


def test_a_verdict_of_no_results_is_not_all_of_nothing(capsys):
    def verdict(result, cases):
        return all(r.value == c.expected for r, c in zip(result.results, cases))

    checks.grade_grader("x", verdict, each=False, requirements={"too_few"})
    assert "passes a program that gives no results at all" in capsys.readouterr().out


def test_every_stored_answer_deserves_what_it_says():
    for stored in stored_answers.ALL:
        assert stored.requirement in open_grader.REQUIREMENTS
        right = right_grader(stored.result, stored.cases)
        assert right == (None if stored.passed is None else list(stored.passed)), stored.story
    assert {stored.requirement for stored in stored_answers.ALL} == open_grader.USUAL


def cut_label_cases():
    return [(("lakes", 5), "lakes"), (("bay", 1), "~"), (("old mill", 5), "old ~")]


@pytest.fixture(scope="module")
def cut_label():
    from workbench import load_tasks

    return next(task for task in load_tasks("warmup") if task.entry_point == "cut_label")


def test_cases_that_catch_every_wrong_program_are_right(cut_label, sandbox, capsys):
    checks.grade_cases("x", cut_label_cases, cut_label, sandbox)
    assert capsys.readouterr().out == "x: right, no wrong program of 5 passes 3 cases.\n"


def test_programs_that_get_through_are_named_by_their_weak_spot(cut_label, sandbox, capsys):
    checks.grade_cases("x", lambda: [(("lake", 4), "lake")], cut_label, sandbox)
    assert checks.solved["x"] is False
    assert capsys.readouterr().out.splitlines() == [
        "x: 2 of 5 wrong programs pass all your cases.",
        "  a program that overlooks: label of one character",
        "  a program that overlooks: space before the cut",
    ]


def test_a_case_that_the_right_solution_fails_is_shown(cut_label, sandbox, capsys):
    checks.grade_cases("x", lambda: [(("lake", 4), "lak~")], cut_label, sandbox)
    out = capsys.readouterr().out
    assert "the right solution does not pass" in out
    assert "cut_label('lake', 4) got 'lake' want 'lak~'" in out


@pytest.mark.parametrize(
    "value, words",
    [
        ([], "expected a list of cases, got []"),
        (None, "expected a list of cases, got None"),
        ([("lake", 4, "lake")], "case 1: expected ((arguments...), expected)"),
        ([(("lake", 4), "lake"), ("lake", "lake")], "case 2: expected"),
        ([((object(), 4), "lake")], "object"),
    ],
)
def test_cases_in_another_form_are_explained(value, words, cut_label, sandbox, capsys):
    checks.grade_cases("x", lambda: value, cut_label, sandbox)
    assert words in capsys.readouterr().out and not checks.solved["x"]


def test_cases_that_are_a_stub_or_raise(cut_label, sandbox, capsys):
    def stub():
        raise NotImplementedError

    checks.grade_cases("x", stub, cut_label, sandbox)
    assert capsys.readouterr().out == "x: not attempted yet.\n"
    checks.grade_cases("x", lambda: 1 / 0, cut_label, sandbox)
    assert "ZeroDivisionError" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [(None, 4), ("lake",), ("lake", "4")])
def test_a_case_that_makes_the_right_solution_raise_is_refused(
    arguments, cut_label, sandbox, capsys
):
    checks.grade_cases("x", lambda: [(arguments, "lake")], cut_label, sandbox)
    assert "the right solution does not pass" in capsys.readouterr().out
    assert checks.solved["x"] is False


class BrokenSandbox:
    """A sandbox that cannot start a run."""

    name = "broken"

    def call(self, files, entry_file, entry_point, inputs, limits):
        missing = tuple(CaseResult("missing") for _ in inputs)
        return CallResult("sandbox_error", missing, "could not start a run")


def test_cases_are_not_judged_by_a_sandbox_that_fails(cut_label, sandbox, capsys):
    checks.grade_cases("x", cut_label_cases, cut_label, BrokenSandbox())
    assert capsys.readouterr().out == (
        "x: could not be judged, which is not your fault: the verdict is sandbox_error\n"
    )
    assert "x" not in checks.solved and "x" not in checks.memory.attempts
