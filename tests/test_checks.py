"""Exercises tell a reader what is wrong and never raise."""

from workbench import checks


def test_a_missing_guess_gets_a_nudge_and_a_made_one_is_remembered(capsys):
    checks.predict("00-a", None)
    assert "no guess yet" in capsys.readouterr().out
    checks.predict("00-a", 30)
    checks.reveal("00-a", 58.8, " %")
    assert "00-a: 58.8 % (you guessed 30 %)" in capsys.readouterr().out


def test_a_wrong_answer_is_shown_beside_the_right_one(capsys):
    checks.run("00-b", lambda xs: sum(xs), [(([1, 2],), 3), (([2, 2],), 5)])
    assert checks.solved["00-b"] is False
    out = capsys.readouterr().out
    assert "for [2, 2]" in out and "expected 5" in out and "got      4" in out


def test_a_stub_is_not_attempted_and_a_raising_answer_is_reported(capsys):
    def stub(xs):
        raise NotImplementedError

    checks.run("00-c", stub, [(([],), 0)])
    assert "not attempted yet" in capsys.readouterr().out
    checks.run("00-c", lambda xs: xs[0], [(([],), 0)])
    assert "IndexError" in capsys.readouterr().out


def test_numbers_are_equal_within_tolerance_and_types_matter():
    checks.run("00-d", lambda x: x / 3, [((1,), 0.3333333333333)])
    assert checks.solved["00-d"]
    checks.run("00-d", lambda x: [x], [((1,), (1,))])
    assert not checks.solved["00-d"]
