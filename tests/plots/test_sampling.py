"""pass@k is drawn with its bands, and the last curve's first try is marked."""

import pytest

from workbench.plots import pass_at_k_curve, save_png
from workbench.stats import Interval


def curve(*rates):
    return {2**i: Interval(r, r - 0.04, r + 0.04, "by hand") for i, r in enumerate(rates)}


@pytest.fixture
def curves():
    base = curve(0.08, 0.14, 0.23, 0.35, 0.47, 0.58, 0.67)
    return {"base": base, "RFT, then RL": curve(0.6, 0.68, 0.74, 0.79, 0.83, 0.86, 0.88)}


def test_each_policy_has_a_line_and_the_last_one_s_first_try_is_marked(curves):
    axes = pass_at_k_curve(curves, title="Sharpened or new?").axes[0]
    base, trained, mark = axes.get_lines()
    assert list(base.get_xdata()) == [1, 2, 4, 8, 16, 32, 64] and base.get_ydata()[0] == 0.08
    assert set(mark.get_ydata()) == {0.6} and trained.get_label() == "RFT, then RL"
    words = [text.get_text() for text in axes.texts]
    assert words == ["8%", "67%", "60%", "88%", "RFT, then RL: one try"]
    assert [label.get_text() for label in axes.get_xticklabels()] == list(
        "1 2 4 8 16 32 64".split()
    )


def test_the_picture_is_small_enough_for_a_repository(curves, tmp_path):
    assert save_png(pass_at_k_curve(curves), tmp_path / "curve.png").stat().st_size < 150_000


def test_curves_without_points_are_refused(curves):
    for wrong in ({}, {"base": {}}, {str(n): curves["base"] for n in range(4)}):
        with pytest.raises(ValueError, match="expected one to 3"):
            pass_at_k_curve(wrong)
