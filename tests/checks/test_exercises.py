"""Exercises tell a reader what is wrong and never raise."""

import signal
import threading
import time
from pathlib import Path

import nbformat
import numpy as np
import pytest
from nbclient import NotebookClient

from workbench import checks
from workbench.checks import memory
from workbench.credit import group_advantages


def rewards(rng):
    return (rng.normal(size=(rng.integers(1, 6), rng.integers(2, 9))),)


def test_a_wrong_answer_is_shown_beside_the_right_one(capsys):
    checks.run("00-b", lambda xs: sum(xs), [(([1, 2],), 3), (([2, 2],), 5)])
    assert checks.solved["00-b"] is False
    out = capsys.readouterr().out
    assert "for [2, 2]" in out and "expected 5" in out and "got      4" in out


def test_a_stub_is_not_attempted_and_a_raising_answer_is_reported(capsys):
    def stub(xs):
        raise NotImplementedError

    checks.run("00-c", stub, [(([],), 0)])
    checks.same_as("00-c", stub, sum, lambda rng: ([1],))
    assert capsys.readouterr().out.count("not attempted yet") == 2
    assert not checks.memory.attempts
    checks.run("00-c", lambda xs: xs[0], [(([],), 0)])
    assert "IndexError" in capsys.readouterr().out


def test_numbers_are_equal_within_tolerance_and_a_text_is_no_number():
    checks.run("00-d", lambda x: x / 3, [((1,), 0.3333333333333)])
    assert checks.solved["00-d"]
    checks.run("00-d", lambda x: [str(x)], [((1,), (1,))])
    assert not checks.solved["00-d"]


def test_an_exception_can_be_the_right_answer(capsys):
    checks.run("x", lambda x: int(x), [(("one",), ValueError)])
    assert checks.solved["x"]
    checks.run("x", lambda x: 1, [(("one",), ValueError)])
    assert "expected ValueError to be raised\n  got      1" in capsys.readouterr().out


def test_the_same_function_is_right_on_random_input_and_edges(capsys):
    edges = [(np.zeros((1, 1)),), (np.full((2, 3), np.nan),)]  # the first raises, in both
    checks.same_as("x", lambda r: group_advantages(r), group_advantages, rewards, edges=edges)
    assert capsys.readouterr().out == (
        "x: right, the same as the package's on 50 inputs and 2 edge cases.\n"
    )


def test_a_difference_is_shown_on_a_small_input(capsys):
    def without_the_mean(r):
        return r / (r.std(1, ddof=1, keepdims=True) + 1e-4)

    checks.same_as("x", without_the_mean, group_advantages, rewards, seed=3)
    out = capsys.readouterr().out
    assert not checks.solved["x"]
    assert "for [[" in out and "at [0, " in out and len(out.splitlines()) <= 5


def test_shrinking_keeps_axes_that_belong_together_equal():
    seen = []

    def wrong(values, mask):
        seen.append((values.shape, mask.shape))
        return float(values.sum())

    def masked_sum(values, mask):
        return float((values * mask).sum())

    checks.same_as("x", wrong, masked_sum, lambda rng: (rng.normal(size=8), np.zeros(8)))
    assert all(one == other for one, other in seen) and seen[-1] == ((1,), (1,))


def test_a_function_that_changes_its_argument_is_told_and_the_reader_s_own_is_kept(capsys):
    mine = [3, 1, 2]

    def sort_in_place(xs):
        xs.sort()
        return xs

    checks.run("x", sort_in_place, [((mine,), [1, 2, 3])])
    assert mine == [3, 1, 2] and not checks.solved["x"]
    assert "your function changed its argument; work on a copy" in capsys.readouterr().out
    numbers = np.ones(3)

    def add(a, b):
        b += 1
        return a + b - 1

    checks.same_as("x", add, lambda a, b: a + b, lambda rng: (1.0, numbers))
    assert "changed its argument 2" in capsys.readouterr().out and numbers.sum() == 3


def test_an_endless_loop_is_ended_and_the_alarm_put_back(capsys):
    def endless(x):
        while True:
            try:
                time.sleep(0.01)
            except Exception:
                pass

    before = signal.getsignal(signal.SIGALRM)
    checks.run("x", endless, [((1,), 1)], time_limit_s=0.2)
    checks.same_as("x", endless, abs, lambda rng: (1,), time_limit_s=0.2)
    assert capsys.readouterr().out.count("not done after 0.2 s; an endless loop?") == 2
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_an_answer_in_time_leaves_no_alarm_set():
    checks.run("x", abs, [((-1,), 1)], time_limit_s=60)
    assert checks.solved["x"]
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_an_endless_answer_is_not_tried_on_smaller_inputs():
    calls = []

    def endless(xs):
        calls.append(xs)
        while True:
            pass

    checks.same_as("x", endless, sum, lambda rng: ([5, 6, 7, 8],), time_limit_s=0.1)
    assert calls == [[5, 6, 7, 8]] * 2  # found, and once more for the report


def test_a_tensor_that_is_changed_is_told_and_the_reader_s_own_is_kept(capsys):
    torch = pytest.importorskip("torch")
    mine = torch.ones(3)
    checks.run("x", lambda x: x.add_(1), [((mine,), 2 * torch.ones(3))])
    assert mine.tolist() == [1.0, 1.0, 1.0] and not checks.solved["x"]
    assert "your function changed its argument; work on a copy" in capsys.readouterr().out


def test_what_was_solved_once_stays_so_for_the_reader_and_a_grader_asks_for_the_newest(capsys):
    def stub(x):
        raise NotImplementedError

    checks.run("00-e", abs, [((-1,), 1)])
    checks.run("00-e", stub, [((-1,), 1)])
    assert checks.solved["00-e"] is False and checks.results()["00-e"].status == "solved"
    with pytest.raises(AssertionError, match="not attempted yet"):
        checks.require("00-e")
    checks.run("00-e", lambda x: x, [((-1,), 1)])
    assert checks.solved["00-e"] is False and checks.results()["00-e"].status == "solved"
    with pytest.raises(AssertionError, match="expected 1"):
        checks.require("00-e")
    memory.forget()
    assert checks.results("00")["00-e"].status == "not attempted"


def test_a_case_s_story_is_told_in_place_of_its_arguments(capsys):
    checks.run("x", abs, [((-1,), 1, "one below zero"), ((-2,), 3, "two below zero")])
    assert capsys.readouterr().out.startswith("x: for two below zero\n  expected 3\n")


def test_a_loop_that_is_endless_only_on_small_inputs_does_not_stop_the_shrinking(monkeypatch):
    monkeypatch.setattr("workbench.checks.exercises.SHRINK_S", 0.2)

    def fussy(xs):
        while len(xs) < 3:
            pass
        return 0

    checks.same_as("x", fussy, sum, lambda rng: ([5, 6, 7, 8],), time_limit_s=5)
    assert not checks.solved["x"]


def test_checks_work_where_no_alarm_does():
    thread = threading.Thread(target=checks.run, args=("x", abs, [((-1,), 1)]))
    thread.start()
    thread.join()
    assert checks.solved["x"]


def test_require_raises_with_what_was_printed():
    with pytest.raises(AssertionError, match="x: its check was not run"):
        checks.require("x")
    checks.run("x", abs, [((-1,), 2)])
    with pytest.raises(AssertionError, match="expected 2"):
        checks.require("x")
    checks.run("x", abs, [((-1,), 1)])
    checks.require("x")


@pytest.mark.slow
def test_an_endless_loop_is_ended_in_a_notebook_too(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    source = (
        "from workbench import checks\n"
        "def endless(x):\n    while True: pass\n"
        'checks.run("x", endless, [((1,), 1)], time_limit_s=0.5)'
    )
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    resources = {"metadata": {"path": tmp_path}}
    NotebookClient(notebook, timeout=60, kernel_name="python3", resources=resources).execute()
    assert "not done after 0.5 s" in notebook.cells[0].outputs[0].text
