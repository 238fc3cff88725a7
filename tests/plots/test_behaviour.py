"""Figures of what the agent does say what the records say."""

from dataclasses import replace

import pytest
from matplotlib.figure import Figure

from workbench.plots import (
    actions_by_turn,
    episode,
    episode_side_by_side,
    instructive_pair,
    shares_by_turn,
    verdict_words,
    what_follows,
)
from workbench.records import Group


def test_shares_count_every_episode_also_those_already_over(groups_before):
    shares = shares_by_turn(groups_before, num_turns=8)
    assert shares[0] == {"ls": 0.25, "cat": 0.75}
    assert shares[1] == {"malformed": 0.25, "cat": 0.5, "submit": 0.25}
    assert shares[3] == {"edit tests": 0.25, "cat": 0.5}
    assert shares[7] == {"cat": 0.5}


def test_what_follows_a_command_is_counted_over_all_episodes(groups_before):
    """Twice seven looks follow a look, once an edit of the tests and once the end."""
    after_cat = what_follows("cat", groups_before)
    assert after_cat == {"cat": 14 / 16, "edit tests": 1 / 16, "submit": 1 / 16}
    assert what_follows("run", groups_before) == {}


def test_an_instructive_pair_is_solved_only_afterwards(before, groups_before, groups_after):
    never_solved = Group("bugfix:2", "base", (replace(before, task_id="bugfix:2"),))
    pair = instructive_pair([never_solved, *groups_before], [never_solved, *groups_after])
    assert pair == (groups_before[0].trajectories[0], groups_after[0].trajectories[0])
    with pytest.raises(ValueError, match="got none in common"):
        instructive_pair([never_solved], groups_after)


def test_bars_have_the_heights_of_the_shares(groups_before, groups_after):
    figure = actions_by_turn(groups_before, groups_after, labels=("base", "RL"))
    assert isinstance(figure, Figure)
    left, right = figure.axes
    assert left.get_title("left") == "base" and right.get_title("left") == "RL"
    first_turn = sorted(bar[0].get_height() for bar in left.containers)
    assert sum(first_turn) == 1.0
    assert sum(bar[0].get_height() for bar in right.containers) == 1.0


def test_no_trajectories_is_an_error_that_says_so():
    with pytest.raises(ValueError, match="at least one trajectory"):
        shares_by_turn([])


def test_side_by_side_shows_commands_change_and_verdict(before, after):
    figure = episode_side_by_side(before, after, statement="fix pack")
    left, right = (" \n".join(t.get_text() for t in axes.texts) for axes in figure.axes)
    assert "? gerp pack" in left and "> ls" in left
    assert "NOT SOLVED: hidden tests 2 of 6, submitted" in left
    assert "+    ys = [x for x in xs if x < 3]" in right
    assert "SOLVED: hidden tests 6 of 6, submitted" in right


@pytest.mark.parametrize("lines, hidden", [(7, 0), (8, 0), (9, 2)])
def test_a_single_line_of_an_answer_is_never_replaced_by_a_word_about_it(before, lines, hidden):
    answer = "\n".join(f"line {k}" for k in range(lines))
    told = replace(before, turns=(replace(before.turns[0], observation=answer),))
    words = [text.get_text() for text in episode(told).axes[0].texts]
    assert sum(word.startswith("line ") for word in words) == lines - hidden
    assert [word for word in words if "…" in word] == ["  … 2 more lines"] * (hidden > 0)


def test_two_tasks_are_not_compared_side_by_side(before, after):
    with pytest.raises(ValueError, match="two episodes of one task"):
        episode_side_by_side(before, replace(after, task_id="bugfix:2"))


def test_what_was_never_handed_in_is_not_called_solved(after):
    unfinished = replace(after, stop_reason="max_turns")
    assert verdict_words(unfinished) == (
        False,
        "NOT SOLVED: hidden tests 6 of 6, never submitted (max_turns)",
    )


@pytest.mark.parametrize("status", ["sandbox_error", "unscorable"])
def test_what_could_not_be_judged_is_not_called_a_failure(after, status):
    import dataclasses

    lost = dataclasses.replace(after.verdict, status=status, outcomes=())
    unjudged = dataclasses.replace(after, verdict=lost)
    assert verdict_words(unjudged) == (False, "NOT JUDGED: hidden tests 0 of 0, submitted")
