"""Pictures of process rewards draw the numbers they were given."""

from types import SimpleNamespace

import numpy as np
import pytest

from workbench import plots


def bins(*rows):
    """Rows of (turns, predicted, observed)."""
    return [SimpleNamespace(num_turns=n, predicted=p, observed=o) for n, p, o in rows]


def test_a_reliability_diagram_leaves_out_empty_bins():
    table = bins((10, 0.1, 0.2), (0, float("nan"), float("nan")), (30, 0.8, 0.7))
    (axes,) = plots.reliability_diagram({"model": table}).axes
    diagonal, line = axes.lines
    assert diagonal.get_xydata().tolist() == [[0, 0], [1, 1]]
    assert line.get_xydata().tolist() == [[0.1, 0.2], [0.8, 0.7]]
    small, large = axes.collections[0].get_sizes()
    assert large - 20 == pytest.approx(3 * (small - 20))  # areas are shares of the turns


def test_a_choosing_curve_has_a_line_for_each_way():
    (axes,) = plots.choosing_curve({"truth": [0.2, 0.6], "last": [0.2, 0.4]}, (1, 4)).axes
    assert [line.get_label() for line in axes.lines] == ["truth", "last"]
    assert axes.lines[1].get_xydata().tolist() == [[1, 0.2], [4, 0.4]]
    assert axes.get_ylim()[1] == pytest.approx(0.66)
    with pytest.raises(ValueError, match="1 to 8 lines"):
        plots.choosing_curve({str(i): [0.1] for i in range(9)}, (1,))


def test_paid_and_true_smooths_over_three_iterations_and_averages_seeds():
    seeds = [[0.0, 0.3, 0.6, 0.9], [0.2, 0.5, 0.8, 1.0]]
    figure = plots.paid_and_true({"sum": {"paid": seeds, "solved": seeds[:1] * 2}})
    (axes,) = figure.axes
    lines = {line.get_label(): line for line in axes.lines}
    solved = lines["really solved (hidden tests)"].get_xydata()
    assert np.allclose(solved, [[2, 0.3], [3, 0.6]])  # the first three: around iteration 2
    paid = lines["reward it was paid"].get_xydata()
    assert np.allclose(paid[:, 1], [0.4, (0.6 + 2.3 / 3) / 2])
    assert axes.get_title(loc="left") == "sum" and len(axes.collections) == 2


def test_panels_go_on_in_a_second_row():
    panels = {str(i): {"paid": [[0.1]], "solved": [[0.2]]} for i in range(7)}
    figure = plots.paid_and_true(panels)
    assert [axes.get_visible() for axes in figure.axes] == [True] * 7 + [False]
    with pytest.raises(ValueError, match="at least one"):
        plots.paid_and_true({})
