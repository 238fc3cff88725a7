"""A guess is kept whatever it is; hints come one at a time."""

import math
import re
from pathlib import Path

import nbformat
import numpy as np
import pytest

from workbench import checks

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))


def test_a_missing_guess_gets_a_nudge_and_a_made_one_is_remembered(capsys, monkeypatch):
    monkeypatch.delenv("WORKBENCH_FAST", raising=False)
    checks.predict("00-a", None)
    assert "no guess yet" in capsys.readouterr().out
    checks.predict("00-a", 30)
    checks.reveal("00-a", 58.8, " %")
    assert "00-a: 58.8 % (you guessed 30 %)" in capsys.readouterr().out


@pytest.mark.parametrize(
    "question, is_cut", [("00-b", True), ("11-d", True), ("10-a", False), ("11-a", False)]
)
def test_in_the_fast_size_an_answer_says_whether_its_run_was_cut(
    question, is_cut, capsys, monkeypatch
):
    monkeypatch.setenv("WORKBENCH_FAST", "1")
    checks.reveal(question, 3.1)
    assert ("the run was cut short" in capsys.readouterr().out) == is_cut


@pytest.mark.parametrize(
    "question, guess, nudge",
    [
        ("00-a", "30", "asks for a number. Leave out the quotes"),
        ("00-a", True, "asks for a number"),
        ("00-a", [1], "asks for a number"),
        ("00-a", 130, "between 0 and 100"),
        ("00-a", math.nan, "between 0 and 100"),
        ("00-a", 0.3, "did you mean 30?"),
        ("00-c", 3, "asks for a text, in quotes"),
        ("00-c", "sleep", "one of ls, cat, grep, run, edit, submit"),
        ("00-c", "run", "On to the answer"),
    ],
)
def test_a_guess_of_another_kind_gets_a_nudge_and_is_kept(question, guess, nudge, capsys):
    checks.predict(question, guess)
    assert nudge in capsys.readouterr().out and checks.guesses[question] is guess


def test_a_guess_for_a_question_that_no_notebook_asks_is_refused_and_not_listed(capsys):
    checks.predict("10-z", 1)
    assert "10-z: no notebook asks this" in capsys.readouterr().out
    assert "10-z" not in checks.guesses and "10-z" not in checks.results()


@pytest.mark.parametrize("guess", [np.int64(4), np.float32(4), np.array(4)])
def test_a_number_of_numpy_is_a_number(guess, capsys):
    checks.predict("00-a", guess)
    assert capsys.readouterr().out.endswith("On to the answer.\n")
    assert checks.guesses["00-a"] == 4 and type(checks.guesses["00-a"]) in (int, float)


def test_hints_come_one_at_a_time_and_are_counted(capsys):
    for _ in range(3):
        checks.hint("00-e")
    first, second, third = capsys.readouterr().out.splitlines()
    assert first.startswith("00-e, hint 1 of 2: ") and second.startswith("00-e, hint 2 of 2: ")
    assert third == f"00-e: no more hints. The last: {second.partition(': ')[2]}"
    assert checks.results()["00-e"].hints_used == 2
    checks.hint("00-zz")
    assert "00-zz: no hints here. There are some for 00-d" in capsys.readouterr().out


def test_every_question_is_asked_once_and_every_one_that_is_asked_has_a_record():
    ids = [one.id for one in checks.QUESTIONS]
    assert len(ids) == len(set(ids))
    asked = set()
    for path in NOTEBOOKS:
        for cell in nbformat.read(path, as_version=4).cells:
            kinds = r"predict|run|same_as|grade_\w+"
            found = re.findall(rf'checks\.({kinds})\(\s*"([\w-]+)"', cell.source)
            for function, question in found:
                assert question.split("-")[0] == path.name[:2]
                asked.add((question, "prediction" if function == "predict" else "exercise"))
    assert {(one.id, one.kind) for one in checks.QUESTIONS} == asked


def test_exercises_have_points_and_hints_and_predictions_have_neither():
    for one in checks.QUESTIONS:
        assert one.title and one.id.startswith(one.notebook + "-")
        assert (one.points > 0 and one.hints) if one.kind == "exercise" else not one.points
