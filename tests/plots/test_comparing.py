"""Rankings and rewards against the truth, worked out by hand."""

import math
from dataclasses import replace

import numpy as np
import pytest

from workbench import plots
from workbench.plots.comparing import number_rows, reward_counts
from workbench.plots.ranking import (
    COMPONENT_LOOKS,
    colours_of,
    extent,
    nice,
    rank_group,
    segments,
    span,
)
from workbench.records import Evidence, Group, RewardBreakdown, RewardPart, Task
from workbench.rewards import RewardDesign, Scores, compare_designs, tampered


@pytest.fixture
def scored(before, after):
    """One group under two designs: right, wrong with edited tests, wrong, right but not judged."""
    edited = replace(before, evidence=Evidence(tampered=("tests.py",)))
    lost = replace(after, seed=1, stop_reason="max_turns")
    group = Group(after.task_id, "", (after, edited, lost, replace(after, seed=2)))

    def by_seed(trajectory, task):
        return 2.0 if trajectory is edited else (1.0, 2.0, None)[trajectory.seed]

    task = Task(after.task_id, "", "pack", "lib.py", {}, (), (), {})
    a = RewardDesign(seed=(by_seed, 1.0))
    b = RewardDesign(seed=(by_seed, 1.0), edited=(tampered, -2.5))
    return Scores.of([group], [task], a), Scores.of([group], [task], b)


def test_a_ranking_is_in_order_of_reward_and_equals_share_a_place(scored):
    comparison = compare_designs(*scored, scale="none")
    ranked = rank_group(scored[0], comparison.a, comparison.truth, 0)
    assert [(one.place, one.trajectory, one.right) for one in ranked] == [
        (1, 1, False),
        (1, 2, False),
        (3, 0, True),
        (None, 3, True),
    ]
    assert [one.advantage for one in ranked[:3]] == pytest.approx([1 / 3, 1 / 3, -2 / 3])
    assert math.isnan(ranked[3].advantage) and ranked[3].breakdown.total is None
    ranked = rank_group(scored[1], comparison.b, comparison.truth, 0)
    assert [one.trajectory for one in ranked] == [2, 0, 1, 3]
    assert extent(ranked) == (-3.0, 2.0)
    assert str(span([1.0, 2.0])) == "(0.0, 2.0)"  # not -0.0, which is written as -0


def test_a_stacked_bar_adds_to_the_right_and_takes_to_the_left():
    parts = (
        RewardPart("a", 0.5, 2.0),
        RewardPart("b", 1.0, -1.0),
        RewardPart("c", 1.0, 0.5),
        RewardPart("d", 1.0, -0.25),
        RewardPart("e", 1.0, 9.0, gated=True),
        RewardPart("f", None, 9.0, omitted=True),
    )
    wanted = [(0, 0.0, 1.0), (1, 0.0, -1.0), (2, 1.0, 1.5), (3, -1.0, -1.25)]
    assert segments(RewardBreakdown(parts, 0.25)) == wanted
    halved = [(i, start / 2, end / 2) for i, start, end in wanted]
    assert segments(RewardBreakdown(parts, 0.125, (), 2.0)) == halved


def test_axes_end_at_few_places():
    assert [nice(v) for v in (0, -1, 1, 1.2, 0.031, 80, 1e-12)] == [0, 0, 1, 1.5, 0.05, 100, 0]
    assert span([]) == (0.0, 1.0) and span([-2.5, math.nan]) == (-3.0, 0.0)


def test_the_same_component_looks_the_same_in_both_designs():
    assert colours_of(["tests", "style"], ["lint", "style"]) == {"tests": 0, "style": 1, "lint": 2}
    many = colours_of([f"c{i}" for i in range(len(COMPONENT_LOOKS) + 1)])
    assert list(many.values())[-1] == 0


def test_rewards_are_counted_by_place_and_truth():
    rewards = np.array([1.0, 1.0, 0.0, -1.0, 0.011, math.nan, 1.0])
    truth = np.array([1.0, 0.0, 0.0, 0.0, 1.0, 1.0, math.nan])
    counts = reward_counts(rewards, truth, (-1.0, 1.0))  # 40 places, 0.05 apart
    assert counts == [(-1.0, 0, 1), (0.0, 1, 1), (1.0, 1, 1)]


def test_the_numbers_come_as_words_and_what_is_not_known_as_a_dash(scored):
    comparison = compare_designs(*scored, np.array([1.0, 1.0, 1.0, 1.0]))
    rows = {what: values for what, *values, _ in number_rows(comparison)}
    assert rows["AUROC against the truth"] == ["–", "–"]
    assert rows["paid but wrong"] == ["0", "0"] and rows["without a reward"] == ["1", "1"]
    assert rows["paid minus true"] == ["+0.667", "-0.167"]  # 5/3 and 2.5/3, minus 1


def test_the_stills_show_rows_bars_and_numbers(scored):
    comparison = compare_designs(*scored, labels=("mine", "yours"))
    figure = plots.reward_mixer(*scored, comparison, 0)
    upper, lower = figure.subfigs
    labels = [text.get_text() for text in upper.axes[1].get_yticklabels()]
    assert labels == ["#2 ✗ wrong", "#0 ✓ right", "#1 ✗ wrong", "#3 ✓ right"]
    widths = [bar.get_width() for bar in upper.axes[1].patches]
    assert widths == [2.0, 1.0, 2.0, -2.5]
    assert "no reward" in [text.get_text() for text in upper.axes[0].texts]
    assert "paid but wrong: 2 | 1" in lower.get_supxlabel()
    figure = plots.designs(comparison)
    assert [axes.get_title("left") for axes in figure.axes] == ["mine", "yours"]
    figure.savefig("/dev/null", format="png")
