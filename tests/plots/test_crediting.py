"""Columns of credit, agreement with the truth and shares of the update, worked out by hand."""

import io
import math
from dataclasses import replace

import numpy as np
import pytest

from workbench import plots
from workbench.credit import reroll_standard_errors
from workbench.plots.crediting import credit_columns, num_alike, rank_of_best, signed
from workbench.records import Action, Group, ToolCall, Turn, TurnValue


def turn(said, num_tokens, heard=""):
    ids = tuple(range(num_tokens))
    action = Action(ids, (-0.5,) * num_tokens, said, "end_of_turn")
    return Turn(action, ToolCall(*said.partition(" ")[::2]), None, heard, "0" * 16)


@pytest.fixture
def group(before, after):
    """A solved attempt of three turns, a failed one of two; the first turn is the same."""
    look = turn("cat lib.py", 2, "x = 1")
    solved = replace(after, turns=(look, turn("edit lib.py 1|x", 6), turn("submit", 2)))
    failed = replace(before, turns=(look, turn("submit", 2)), task_id=after.task_id)
    values = [(0, -1, 0.4, 0.03), (0, 0, 0.5, 0.04), (0, 1, 0.9, 0.0)]
    values += [(1, -1, 0.4, 0.03), (1, 0, 0.5, 0.04)]
    known = tuple(TurnValue(i, k, v, e, 8, "reroll") for i, k, v, e in values)
    return Group(after.task_id, "", (solved, failed), turn_values=known)


def test_the_truth_is_what_each_turn_changed_and_has_the_errors_of_both_ends(group):
    truth = credit_columns(group, {}, group.turn_values)[0]
    assert truth.is_truth and truth.scale == 0.5
    assert truth.credit[0] == pytest.approx([0.1, 0.4, 0.1])
    assert truth.credit[1] == pytest.approx([0.1, -0.5])
    assert truth.errors[0] == pytest.approx([0.05, 0.04, 0.0])  # 3, 4, 5; then 4; then known
    assert reroll_standard_errors(group)[1] == pytest.approx([0.05, 0.04])


def test_a_share_is_credit_times_tokens_of_the_whole_groups(group):
    said = {"spread": [np.array([1.0, 0.5, 0.0]), np.array([-1.0, np.nan])]}
    (column,) = credit_columns(group, said)
    assert column.shares[0] == pytest.approx([2 / 7, 3 / 7, 0.0])  # 2 + 3 + 0 + 2 + 0
    assert column.shares[1] == pytest.approx([2 / 7, 0.0])
    assert column.match is None and column.errors is None


def test_agreement_is_over_the_group_and_the_rank_is_the_attempts(group):
    said = {
        "right": [np.array([0.2, 0.8, 0.2]), np.array([0.2, -1.0])],
        "flat": [np.full(3, 1.0), np.full(2, -1.0)],
        "silent": [np.full(3, np.nan), np.full(2, np.nan)],
    }
    truth, right, flat, silent = credit_columns(group, said, group.turn_values)
    assert right.match.correlation == pytest.approx(1.0)
    assert right.match.rmse == pytest.approx(math.sqrt((0.01 + 0.16 + 0.01 + 0.01 + 0.25) / 5))
    assert rank_of_best(right, truth, 0) == 1.0
    assert rank_of_best(flat, truth, 0) == 2.0  # three in one place share the middle one
    assert rank_of_best(silent, truth, 0) is None and math.isnan(silent.match.correlation)
    level = credit_columns(group, {}, [np.zeros(3), np.zeros(2)])[0]
    assert rank_of_best(right, level, 0) is None  # no turn is better than another


def test_what_the_attempts_earned_may_be_given(group):
    truth = credit_columns(group, {}, group.turn_values, rewards=[2.0, 1.0])[0]
    assert truth.credit[0][-1] == pytest.approx(1.1) and truth.credit[1][-1] == pytest.approx(0.5)


def test_credit_that_does_not_fit_is_refused_by_name(group):
    with pytest.raises(ValueError, match=r"credit of 'mine'.*\[\(3,\), \(2,\)\], got \[\(2,\)"):
        credit_columns(group, {"mine": [np.zeros(2), np.zeros(2)]})
    with pytest.raises(ValueError, match="credit: expected {name of a scheme: .*such as {'broadc"):
        credit_columns(group, [np.zeros(3), np.zeros(2)])
    with pytest.raises(ValueError, match="rename that scheme"):
        credit_columns(group, {"truth": [np.zeros(3), np.zeros(2)]})
    with pytest.raises(ValueError, match="expected at least one scheme or a truth"):
        credit_columns(group, {})


def test_attempts_are_alike_as_long_as_both_messages_and_answers_are(group):
    a, b = group.trajectories
    assert num_alike(a, b) == 1 and num_alike(a, a) == 3
    heard = replace(b, turns=(replace(b.turns[0], observation="x = 2"), b.turns[1]))
    assert num_alike(a, heard) == 0


def test_numbers_have_a_sign_and_the_decimals_they_need():
    assert [signed(x) for x in (0.5, -0.25, 0.0, -0.001, float("nan"))] == [
        "+0.50", "−0.25", "0.00", "0.00", "–",
    ]  # fmt: skip
    assert signed(0.0123, 0.02) == "+0.012" and signed(-0.00031, 0.002) == "−0.0003"


@pytest.mark.parametrize("power", range(-12, 13))
def test_numbers_of_any_scale_fit_a_cell_and_can_be_read_back(power):
    for value in (1.0, -0.943, 0.5, 0.0):
        said = signed(value * 10.0**power, 10.0**power)
        assert len(said) <= 8
        read = float(said.replace("−", "-"))
        assert read == pytest.approx(value * 10.0**power, abs=0.06 * 10.0**power)


def test_the_still_table_writes_every_number(group):
    said = {"flat": [np.full(3, 1.0), np.full(2, -1.0)]}
    columns = credit_columns(group, said, group.turn_values)
    figure = plots.credit_table(group, columns, 0, turn=1)
    words = [text.get_text() for text in figure.axes[0].texts]
    assert words == ["+0.10 ±0.05", "+1.00", "+0.40 ±0.04", "+1.00", "+0.10", "+1.00"]
    names = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert names[1] == "2 ▸ edit lib.py 1|x"
    assert "SOLVED" in figure.get_supxlabel()


@pytest.mark.parametrize("num_schemes", [1, 7, 10, 20])
def test_headings_and_numbers_of_many_columns_do_not_touch(group, num_schemes):
    solved, failed = group.trajectories
    wordy = turn("edit lib.py 8|    return max([x for x in xs])", 1)
    group = replace(group, trajectories=(replace(solved, turns=(wordy,) * 3), failed))
    names = [f"{k} return_to_go" for k in range(num_schemes)]
    said = {name: [np.full(3, -1.0), np.full(2, 1.0)] for name in names}
    columns = credit_columns(group, said, group.turn_values)
    figure = plots.credit_table(group, columns, 0)
    figure.draw_without_rendering()
    (axes,) = figure.axes
    cells = np.array(axes.texts).reshape(3, -1)  # turns, columns
    for row in (axes.get_xticklabels(), *cells):
        boxes = [text.get_window_extent() for text in row]
        assert all(left.x1 < right.x0 for left, right in zip(boxes, boxes[1:]))


def test_a_long_attempt_is_cut_around_the_chosen_turn(group):
    solved = group.trajectories[0]
    long = replace(solved, turns=(turn("ls", 1),) * 99 + (turn("submit", 1),))
    many = replace(group, trajectories=(long,), turn_values=())
    columns = credit_columns(many, {"one": [np.arange(100.0)]})
    for chosen, first in ((0, 1), (50, 31), (99, 61)):
        figure = plots.credit_table(many, columns, 0, chosen)
        names = [label.get_text() for label in figure.axes[0].get_yticklabels()]
        assert len(names) == 40 and names[0].startswith(str(first))
    assert "60 more turns" in figure.get_supxlabel()


def test_values_over_turns_have_bars_of_95_per_cent_and_end_at_the_reward(group):
    critic = [np.array([0.5, 0.5, 0.5]), np.array([0.5, 0.5])]
    figure = plots.value_over_turns(group, {"re-rolls": group, "critic": critic})
    first, second = figure.axes
    assert [c.get_label() for c in first.containers] == ["re-rolls", "critic"]
    line, _, (bars,) = first.containers[0].lines
    assert line.get_ydata() == pytest.approx([0.4, 0.5, 0.9])
    low, high = bars.get_segments()[0][:, 1]
    assert (low, high) == pytest.approx((0.4 - 1.96 * 0.03, 0.4 + 1.96 * 0.03))
    assert [line.get_ydata()[-1] for line in (first.lines[-1], second.lines[-1])] == [1.0, 0.0]


def test_a_value_that_all_rerolls_agree_on_has_a_bar_too(group):
    """Wilson: 0 of 128 reaches up to z^2 / (n + z^2), 8 of 8 down to n / (n + z^2)."""
    values = (TurnValue(0, -1, 0.0, 0.0, 128, "reroll"), TurnValue(0, 0, 1.0, 0.0, 8, "reroll"))
    values += (TurnValue(0, 1, 1.0, 0.0, 0, "exact"), TurnValue(0, 2, 1.0, 0.0, 8, "reroll"))
    figure = plots.value_over_turns(replace(group, turn_values=values), trajectories=[0])
    _, _, (bars,) = figure.axes[0].containers[0].lines
    z2 = 1.959964**2
    expected = [(0.0, z2 / (128 + z2)), (8 / (8 + z2), 1.0), (1.0, 1.0)]
    assert [tuple(s[:, 1]) for s in bars.get_segments()] == [pytest.approx(e) for e in expected]


def test_messages_and_sources_are_no_formulas_in_the_picture_of_values(group):
    garbled = replace(group.trajectories[1], turns=(turn("$\\frac$ x", 2), turn("submit", 2)))
    changed = replace(group, trajectories=(group.trajectories[0], garbled))
    figure = plots.value_over_turns(changed, {"$\\frac$": changed, "$x": changed})
    figure.savefig(io.BytesIO())  # what draws it complained about the formula
    assert figure.axes[1].get_xticklabels()[0].get_text() == "1 $\\frac$"


def test_values_that_do_not_fit_are_refused(group):
    with pytest.raises(ValueError, match=r"values of 'critic': .*\[\(3,\), \(2,\)\]"):
        plots.value_over_turns(group, {"critic": [np.zeros(2)] * 2})
    with pytest.raises(ValueError, match="expected 1 to 4 of them, got 0"):
        plots.value_over_turns(group, {})
    for strangers in ([], [2], [-1]):
        with pytest.raises(ValueError, match="trajectories: expected some of 0 to 1, got"):
            plots.value_over_turns(group, trajectories=strangers)
    with pytest.raises(ValueError, match=r"rewards: expected one a trajectory, shape \(2,\)"):
        plots.value_over_turns(group, rewards=[1.0])


def test_what_a_model_guessed_is_no_truth(group):
    guessed = [replace(value, how="critic") for value in group.turn_values]
    with pytest.raises(ValueError, match=r"truth: .* got a model's \(critic\); show those as a"):
        credit_columns(group, {}, guessed)
