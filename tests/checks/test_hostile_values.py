"""Whatever a reader's function returns or raises, the checks print something and go on."""

import json

import pytest

from workbench import checks, load_tasks


def test_exercises_survive(hostile, capsys):
    checks.run("a", lambda x: hostile, [((1,), 1.0)])
    checks.same_as("b", lambda x: hostile, float, lambda rng: (1.5,))
    checks.grade_reward("c", lambda trajectory, task: hostile)
    checks.grade_grader("d", lambda result, cases: hostile)
    checks.grade_grader("e", lambda result, cases: [hostile], each=False)
    assert checks.solved == dict.fromkeys("abcde", False)
    assert len(capsys.readouterr().out) > 200


def test_exceptions_without_words_are_reported(capsys):
    class Wordless(Exception):
        def __str__(self):
            raise RuntimeError("no")

    def attempt(*arguments):
        raise Wordless

    checks.run("a", attempt, [((1,), 1.0)])
    checks.grade_reward("b", attempt)
    checks.grade_grader("c", attempt)
    assert checks.solved == dict.fromkeys("abc", False)
    assert capsys.readouterr().out.count("(Wordless, which cannot be printed)") > 3


def test_written_cases_survive(hostile, sandbox, capsys):
    task = load_tasks("warmup", count=1)[0]
    for cases in (hostile, [hostile], [((hostile,), 1)], [((1,), hostile)]):
        checks.solved["a"] = True
        checks.grade_cases("a", lambda cases=cases: cases, task, sandbox)
        assert checks.solved["a"] is False
    assert capsys.readouterr().out.count("a: ") == 4


def test_predictions_and_results_survive(hostile, tmp_path, capsys):
    checks.predict("00-a", hostile)
    checks.predict("00-c", hostile)
    checks.reveal("00-a", hostile)
    assert "00-a" in repr(checks.results())
    (tmp_path / "r.json").write_text("old")
    checks.save_results(tmp_path / "r.json", name="\ud800")
    assert json.loads((tmp_path / "r.json").read_text("utf-8"))["schema"] == 1
    table = checks.collect(tmp_path)
    assert set(table.name) == {"?"} and not table.attrs["left_out"]
    str(table).encode("utf-8")
    capsys.readouterr().out.encode("utf-8")


def test_endless_cases_are_ended(sandbox, capsys):
    def endless():
        while True:
            pass

    task = load_tasks("warmup", count=1)[0]
    checks.grade_cases("a", endless, task, sandbox, time_limit_s=0.1)
    assert "not done after 0.1 s" in capsys.readouterr().out and not checks.solved["a"]


@pytest.mark.parametrize("answer", [lambda x: 10**400, lambda x: x / 0])
def test_a_failure_forgets_an_earlier_success(answer):
    checks.run("a", abs, [((-1.0,), 1.0)])
    assert checks.solved["a"]
    checks.run("a", answer, [((-1.0,), 1.0)])
    assert not checks.solved["a"]
