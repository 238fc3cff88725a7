"""TrajectoryViewer and its HTML: everything recorded is shown, and only shown."""

from dataclasses import replace
from html.parser import HTMLParser

import pytest
import traitlets

from workbench.records import Action, Evidence, RewardBreakdown, RewardPart, TestOutcome, Turn
from workbench.records import Verdict as V
from workbench.rewards import RewardDesign, all_pass, tampered
from workbench.widgets import TrajectoryViewer, episode_html, markup

HOSTILE = (
    "</pre><script>alert(1)</script><img src=x onerror=alert(1)>\"'&lt; "
    "\x1b[31mred\x1b[0m \ud800 \u202eevil \x00 \x7f \u200b \r"
)
ALLOWED = {"div", "span", "h4", "pre", "code", "b", "table", "thead", "tr", "th", "td", "details"}
ALLOWED |= {"summary", "br", "style", "i"}


class Tags(HTMLParser):
    """Tags, attributes and text of a page."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes, self.text = set(), set(), ""
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attributes}

    def handle_data(self, data):
        self.text += data


def hostile_trajectory(make_trajectory, finding):
    """An attempt with hostile text in every place that an attempt can write to."""
    bad = replace(finding, path=HOSTILE, message=HOSTILE, rule=HOSTILE)
    turn = Turn(Action((1,), (0.0,), HOSTILE, "length"), None, HOSTILE, HOSTILE, "0", HOSTILE)
    outcome = TestOutcome(HOSTILE, "hidden", "error", HOSTILE)
    return make_trajectory(
        "p",
        "p",
        turns=(turn,),
        final_files={HOSTILE: HOSTILE},
        verdict=V("call", "ok", (outcome,), sandbox=HOSTILE),
        evidence=Evidence(
            f"+{HOSTILE}\n-{HOSTILE}\n", (HOSTILE,), (HOSTILE,), (HOSTILE,), lint=(bad,),
            security=(bad,),
        ),
    )  # fmt: skip


def test_hostile_text_is_shown_and_makes_no_tag(make_trajectory, finding, task):
    trajectory = hostile_trajectory(make_trajectory, finding)
    task = replace(task, statement=HOSTILE)
    for one in (trajectory, replace(trajectory, evidence=replace(trajectory.evidence, diff=None))):
        html = episode_html.episode_html(one, task)
        page = Tags(html)
        assert page.tags <= ALLOWED and page.attributes <= {"class", "title", "open"}
        assert "<script>alert(1)</script>" in page.text
        html.encode("utf-8")  # no lone surrogate is left
        assert not [c for c in html if not c.isprintable() and c != "\n"]


def test_what_is_invisible_is_written_out():
    assert markup.text("\x1b[1m\u202e\ud800\x85\x7f\U000e0041\r") == (
        "␛[1m\\u202e\\ud800\\u0085\\u007f\\U000e0041␍"
    )
    assert markup.text("a\n\tb é ✓") == "a\n\tb é ✓"
    assert markup.line("a\nb\tc") == "a⏎b c"


def test_a_long_text_is_cut_and_says_how_much_is_missing():
    assert markup.text("x" * 1010, limit=10) == "x" * 10 + " … 1,000 more characters"
    assert markup.line("x" * 101) == "x" * 100 + "…"


def test_turns_tests_change_and_evidence_are_there(make_trajectory, finding, task):
    bad = Turn(Action((1,), (0.0,), "gerp f", "end_of_turn"), None, "no command gerp", "", "0")
    attempt = make_trajectory("pw", "pp", ("tests.py",), said="cat lib.py", seen="1|def f(xs):")
    attempt = replace(
        attempt,
        turns=(*attempt.turns, bad),
        evidence=replace(attempt.evidence, security=(finding, replace(finding, new=False))),
        stop_reason="max_turns",
    )
    text = Tags(episode_html.episode_html(attempt, task)).text
    for shown in (
        "fix f", "2 turns", "cat lib.py", "1|def f(xs):", "✗ not a command: no command gerp",
        "-return 0", "+return 1", "hidden tests (the truth): 1 of 2 passed", "✓ passedhidden:1",
        "✗ wronghidden:2got 1 want 2", "visible tests as the attempt left them: 2 of 2 passed",
        "protected files editedtests.py", "1 new, 1 there before", "B608 high",
        "not handed in: max_turns", "tests edited",
    ):  # fmt: skip
        assert shown in text, shown


def test_of_many_tests_the_first_are_listed_and_the_rest_counted(make_trajectory, task):
    text = Tags(episode_html.episode_html(make_trajectory("p" * 100, "p"), task)).text
    assert "100 of 100 passed" in text and "hidden:60" in text and "hidden:61" not in text
    assert "… 40 more" in text


def test_a_reward_is_shown_with_the_rules_that_struck():
    parts = (
        RewardPart("tests", 0.5, 2.0),
        RewardPart("style", 1.0, 1.0, gated=True),
        RewardPart("judge", None, 1.0, omitted=True),
    )
    text = Tags(episode_html.reward_html(RewardBreakdown(parts, 0.25, (), 4.0))).text
    for shown in ("0.5 × 2 = 1", "behind a closed gate, counts as 0", "could not judge, left out"):
        assert shown in text
    assert "divided by4" in text and "reward0.250" in text
    text = Tags(episode_html.reward_html(RewardBreakdown(parts, 0.0, ("tests",)))).text
    assert "blocked bytests: the total is 0" in text and "reward0.000" in text


@pytest.fixture
def viewer(groups, task):
    design = RewardDesign(tests=(all_pass("hidden"), 1.0), tampering=(tampered, -1.0))
    return TrajectoryViewer(groups[0], [task], design)


def test_buttons_and_the_number_box_move_between_attempts(viewer):
    assert viewer._before.disabled and "2 of 2 passed" in viewer._episode.value
    viewer._after.click()
    viewer._after.click()
    assert viewer.index == 2 and viewer._number.value == 2
    assert "1 × -1 = -1" in viewer._reward.value and "tests edited" in viewer._episode.value
    viewer._number.value = 3
    assert viewer.index == 3 and viewer._after.disabled
    viewer._after.click()
    viewer._before.click()
    assert viewer.index == 2 and viewer.text == "by-hand: attempt 2 of 0 to 3"


def test_an_index_that_does_not_exist_is_refused(viewer):
    with pytest.raises(traitlets.TraitError, match="expected 0 to 3, got 4"):
        viewer.index = 4
    assert viewer.index == 0


def test_another_group_may_be_shown_with_what_it_is_paid(viewer, groups):
    viewer.index = 3
    paid = RewardBreakdown((RewardPart("x", 7.0, 1.0),), 7.0)
    viewer.show(groups[1].trajectories[:2], 1, [paid, paid])
    assert viewer.index == 1 and "7 × 1 = 7" in viewer._reward.value
    assert viewer._number.max == 1
    with pytest.raises(ValueError, match="one for each of 2"):
        viewer.show(groups[1].trajectories[:2], 0, [paid])


def test_without_a_design_no_reward_is_shown(groups):
    viewer = TrajectoryViewer(groups[0].trajectories[2])
    assert viewer._reward.value == "" and "fix f" not in viewer._episode.value


def test_errors_say_what_was_expected(groups):
    with pytest.raises(ValueError, match="expected a group, a trajectory or several"):
        TrajectoryViewer([])
    with pytest.raises(ValueError, match="choose one of run.groups"):
        TrajectoryViewer(groups)
    with pytest.raises(ValueError, match="pass the tasks that were rolled out"):
        TrajectoryViewer(groups[0], [], RewardDesign(tests=(all_pass("hidden"), 1.0)))


def test_stills_are_there_for_pages_without_a_kernel(viewer):
    assert Tags(viewer.html()).tags <= ALLOWED and "<style>" in viewer.html()
    words = [text.get_text() for text in viewer.figure().axes[0].texts]
    assert "SOLVED: hidden tests 2 of 2, submitted" in words
    assert viewer._repr_mimebundle_()["text/html"] == viewer.html()
