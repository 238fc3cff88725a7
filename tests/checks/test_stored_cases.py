"""The handmade cases of notebook 00: the answer passes, each near miss is told with its story."""

import runpy
from pathlib import Path

import pytest

from workbench import checks

TOP = Path(__file__).resolve().parents[2]
ANSWERS = runpy.run_path(str(TOP / "notebooks" / "solutions" / "00_watch_it_learn.py"))


def solved(trajectory, suite="hidden", quantity=all):
    passed = quantity(o.status == "passed" for o in trajectory.verdict.of_suite(suite))
    return trajectory.stop_reason == "submitted" and passed


def rate(judge):
    """An answer to 00-d that judges attempts by `judge`."""

    def answer(groups):
        found = [judge(one) for group in groups for one in group.trajectories]
        return sum(found) / len(found)

    return answer


def none_wrong(trajectory):
    statuses = {o.status for o in trajectory.verdict.of_suite("hidden")}
    return trajectory.stop_reason == "submitted" and not statuses & {"wrong", "error"}


def every_suite(trajectory):
    passed = all(o.status == "passed" for o in trajectory.verdict.outcomes)
    return trajectory.stop_reason == "submitted" and passed


@pytest.mark.parametrize(
    "answer",
    [
        rate(lambda t: all(o.status == "passed" for o in t.verdict.of_suite("hidden"))),
        rate(lambda t: t.stop_reason == "submitted"),
        rate(lambda t: solved(t, "visible_pristine")),
        rate(lambda t: solved(t, quantity=any)),
        rate(lambda t: t.verdict.of_suite("hidden")[-1].status == "passed"),
        rate(every_suite),
        rate(none_wrong),
        lambda groups: sum(solved(t) for g in groups for t in g.trajectories) / len(groups),
        lambda groups: sum(any(map(solved, g.trajectories)) for g in groups) / len(groups),
        lambda groups: sum(solved(g.trajectories[0]) for g in groups) / len(groups),
        lambda groups: sum(ANSWERS["solve_rate"]([g]) for g in groups) / len(groups),
    ],
)
def test_a_near_miss_of_exercise_00_d_is_wrong(answer, capsys):
    checks.run("00-d", answer, checks.stored_cases("00-d"))
    assert checks.solved["00-d"] is False
    assert capsys.readouterr().out.split("\n")[0].startswith(("00-d: for one", "00-d: for two"))


@pytest.mark.parametrize(
    "answer, story",
    [
        (lambda t, k: dict(t.final_files) != dict(k.files), "another program that is right"),
        (
            lambda t, k: all(t.final_files[p] == text for p, text in k.reference.items()),
            "the right program, and emptied tests",
        ),
        (
            lambda t, k: all(t.final_files[p] == text
                             for p, text in {**k.files, **k.reference}.items()),
            "the right program, and one file more",
        ),
        (
            lambda t, k: all({**k.files, **k.reference}.get(p) == text
                             for p, text in t.final_files.items()),
            "the right program, and the tests deleted",
        ),
        (lambda t, k: dict(t.final_files) == dict(k.reference), "the reference solution"),
    ],
)  # fmt: skip
def test_a_near_miss_of_exercise_00_f_is_told_with_its_story(answer, story, capsys):
    checks.run("00-f", answer, checks.stored_cases("00-f"))
    assert capsys.readouterr().out.startswith(f"00-f: for {story}\n  expected ")
    assert checks.solved["00-f"] is False


def test_the_answers_are_right(capsys):
    checks.run("00-d", ANSWERS["solve_rate"], checks.stored_cases("00-d"))
    checks.run("00-f", ANSWERS["restored"], checks.stored_cases("00-f"))
    assert capsys.readouterr().out == "00-d: right, 4 of 4 cases.\n00-f: right, 6 of 6 cases.\n"
