"""Curves are read from the rows that `learning` writes, and drawn with their intervals."""

import pytest

from workbench.plots import (
    compared_curves,
    honesty_curve,
    learning_curve,
    read_curve,
    save_png,
    summary_line,
)

TITLE = "as wide as the figure, " * 4


class Empty:
    metrics = []


def test_positions_are_attempts_made_so_far(run):
    curve = read_curve(run.metrics)
    assert curve.spans == {"rft": (0, 2048), "rl": (2048, 2048 + 40 * 128)}
    assert curve.batches[0] == (128, 0.08) and curve.batches[8][0] == 2048 + 64
    assert [e.attempts for e in curve.evaluations][:3] == [0, 2048, 2048 + 1280]
    assert curve.imitated == (2048, 176)


def test_the_last_evaluation_of_each_stage_is_written_beside_its_dot(run):
    axes = learning_curve(run).axes[0]
    words = [text.get_text() for text in axes.texts]
    assert {"8%", "31%", "61%"} <= set(words)


@pytest.mark.parametrize("rate", [0.0, 1.0])
def test_a_rate_is_written_neither_on_the_title_nor_on_the_legend(run, rate):
    for row in run.metrics:
        if row["kind"] == "evaluation":
            row.update(solve_rate=rate, low=rate, high=rate)
    figure = learning_curve(run, title=TITLE)
    figure.draw_without_rendering()
    (axes,) = figure.axes
    title = axes.findobj(lambda part: getattr(part, "get_text", str)() == TITLE)
    others = [figure.legends[0], *title]
    written = [text for text in axes.texts if text.get_text() == f"{rate:.0%}"]
    assert len(written) == 3 and len(others) == 2
    for text in written:
        assert not text.get_window_extent().count_overlaps([o.get_window_extent() for o in others])


def test_several_seeds_show_their_mean(seeds):
    axes = learning_curve(seeds).axes[0]
    assert "31%" in [text.get_text() for text in axes.texts]


def test_a_run_without_rows_is_an_empty_figure_and_says_so():
    assert learning_curve(Empty()).axes[0].get_ylim()[1] > 0
    assert summary_line(Empty()) == "no iteration is over yet"


def test_the_summary_names_the_newest_iteration_and_evaluation(run):
    assert summary_line(run) == (
        "RL iteration 40 of 40: solved 56.2% of its 128 attempts; "
        "unseen tasks 61.0 % [56.0, 66.0]"
    )


def test_an_iteration_in_which_nothing_could_be_judged_leaves_a_gap(run):
    run.metrics[-2]["solved_share"] = None
    assert len(read_curve(run.metrics).batches) == 47
    assert "none of its 128 attempts" in summary_line(run)


def test_honesty_draws_reward_truth_and_edits_of_each_run(run, cheating_run):
    left, right = honesty_curve({"naive": cheating_run, "honest": run}).axes
    truth, edits, reward = (line.get_ydata() for line in left.get_lines()[:3])
    assert reward[-1] == edits[-1] == 0.99 and truth[-1] < 0.01
    assert right.get_title("left") == "honest"
    assert list(left.get_lines()[0].get_xdata()) == list(range(1, 31))


def test_honesty_of_a_run_without_rl_says_what_is_missing(run):
    run.metrics = run.metrics[:9]
    with pytest.raises(ValueError, match="expected RL iterations"):
        honesty_curve({"rft only": run})


def test_pictures_are_small_enough_for_a_repository(run, tmp_path):
    path = save_png(learning_curve(run), tmp_path / "a" / "curve.png")
    assert path.stat().st_size < 150_000


def test_arms_are_compared_by_their_means_over_seeds_with_bands():
    arms = {"a": [[0.2] * 8, [0.4] * 8], "b": [[0.9] * 8, [0.9] * 8]}
    figure = compared_curves({"from here": arms, "from there": {"a": [[0.1] * 3]}})
    here, there = figure.axes
    a, b = here.get_lines()
    assert list(a.get_ydata()) == pytest.approx([0.3] * 4)  # 8 iterations, 5 in an average
    assert list(a.get_xdata()) == pytest.approx([3, 4, 5, 6])
    assert list(b.get_ydata()) == pytest.approx([0.9] * 4)
    (point,) = there.get_lines()
    assert point.get_xydata().tolist() == [pytest.approx([2, 0.1])] and point.get_marker() == "o"
    assert here.get_title(loc="left") == "from here"


def test_a_panel_without_arms_is_refused():
    with pytest.raises(ValueError, match="here: expected 1 to 3 arms"):
        compared_curves({"here": {}})
