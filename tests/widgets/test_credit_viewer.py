"""CreditViewer, its page and MaskViewer: every number is written, and nothing but numbers runs."""

from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
import traitlets

from workbench.records import Action, Group, ToolCall, Turn
from workbench.widgets import CreditViewer, MaskViewer
from workbench.widgets.credit_html import credit_html, turn_html

HOSTILE = (
    "</td></table></pre><script>alert(1)</script><img src=x onerror=alert(1)>\"'&lt; "
    "\x1b[31mred\x1b[0m \ud800 \u202eevil \x00 \n日本語"
)
ALLOWED = {"div", "span", "h4", "pre", "code", "b", "i", "p", "small", "br", "style", "u", "s"}
ALLOWED |= {"table", "thead", "tbody", "tr", "th", "td", "details", "summary", "wbr"}
NEW_PAGE = {"html", "head", "meta", "title", "body", "label", "select", "option", "input"}
NEW_PAGE |= {"section", "script"}


class Tags(HTMLParser):
    """Tags, attributes and text of a page."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes, self.text = [], set(), ""
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attributes}

    def handle_data(self, data):
        self.text += data


def turn(said, heard="", kept=0, **changes):
    action = Action((7, 8), (-0.5, -0.1), said, "end_of_turn", kept, (1,))
    call = ToolCall(*said.partition(" ")[::2])
    return replace(Turn(action, call, None, heard, "0" * 16), **changes)


@pytest.fixture
def group(make_trajectory):
    """Two attempts that begin alike; the first is right and has three turns."""
    look = turn("cat lib.py", "1|def f(xs):\n2|    return 0")
    edit, submit = turn("edit lib.py 2|x", kept=3), turn("submit", kept=6)
    right = make_trajectory("pp", "pp", turns=(look, edit, submit))
    wrong = make_trajectory("pw", "pw", turns=(look, turn("submit", kept=3)))
    return Group("by-hand", "", (right, wrong))


CREDIT = {
    "flat": [np.full(3, 0.7), np.full(2, -0.7)],
    "sharp": [np.array([0.0, 1.0, np.nan]), np.array([-0.0, -1.0])],
}
TRUTH = [np.array([0.1, 0.9, 0.0]), np.array([0.1, -0.9])]


@pytest.fixture
def viewer(group, task):
    return CreditViewer(group, CREDIT, truth=TRUTH, task=task)


def test_every_number_is_written_with_its_sign_beside_a_bar_on_its_side(viewer):
    html = viewer._table.value
    assert html.count('<td class="plus ') == 3 + 1 + 2  # flat, sharp, truth
    assert '<td class="plus v21">+0.70</td>' in html  # .70 of .75, in 22 parts
    assert '<td class="zero v0">0.00</td>' in html
    assert '<td class="none" title="no credit is known">–</td>' in html
    text = Tags(html).text
    assert "rank 2 of 3" in text and "rank 1 of 3" in text and "corr +1.00" in text
    assert "cat lib.py1|def f(xs):…" in text and "2|    return 0" in text  # closed, and opened


def test_the_other_attempt_stands_beneath_the_first_and_what_is_the_same_is_said_once(viewer):
    viewer.against = 1
    html = viewer._table.value
    order = [(row.split('"')[3], row.split('"')[5]) for row in html.split("<tr class=")[1:]]
    assert order == [("0", "0"), ("1", "0"), ("0", "1"), ("1", "1"), ("0", "2")]
    assert html.count("= the same turn") == 1 and "begin with the same turn:" in html
    viewer.attempt = 1  # nothing is compared with itself
    assert viewer.against == -1 and "the same turn" not in viewer._table.value


def test_attempts_that_differ_from_the_start_say_so(group, viewer):
    other = replace(group.trajectories[1], turns=(turn("ls"), turn("submit")))
    html = credit_html(replace(group, trajectories=(group.trajectories[0], other)),
                       viewer.columns, 0, 1)  # fmt: skip
    assert "#0 and #1 differ from the first turn on" in html


def test_controls_and_traits_follow_each_other(viewer):
    viewer._attempts.value = 1
    assert viewer.attempt == 1 and viewer.text.endswith("2 turns") and viewer.turn == 0
    assert [value for _, value in viewer._turn.options] == [0, 1]
    viewer._turn.value = 1
    assert viewer.turn == 1 and "turn 2 of #1: submit" in viewer._tokens.value
    assert '[data-turn="1"]' in viewer._mark.value
    viewer.scheme = "sharp"
    assert viewer._schemes.value == "sharp" and "advantage −1.00 (sharp)" in viewer._tokens.value
    viewer._show.value = "share"
    assert viewer.show == "share" and ">20.0%</td>" in viewer._table.value
    assert "+0.70" not in viewer._table.value  # each of five turns of two tokens has a fifth
    viewer.show = "credit"
    assert viewer._show.value == "credit" and "20.0%" not in viewer._table.value
    viewer._attempts.value = 0
    viewer.turn = 2
    assert "no token learns: sharp gives this turn no number" in viewer._tokens.value
    viewer.attempt = 1  # which has no third turn
    assert viewer.turn == 1


def test_what_does_not_exist_is_refused(viewer):
    for name, value, words in (
        ("attempt", 2, "expected 0 to 1, got 2"),
        ("against", -2, "expected -1 to 1, got -2"),
        ("turn", 3, "expected 0 to 2, got 3"),
        ("scheme", "x", "one of .*'truth', 'flat', 'sharp'.*got 'x'"),
    ):
        with pytest.raises(traitlets.TraitError, match=words):
            setattr(viewer, name, value)


def test_tokens_show_what_the_loss_does_with_them(group):
    new = [[[-0.1, -0.1]] * len(t.turns) for t in group.trajectories]
    viewer = CreditViewer(group, CREDIT, decode=lambda ids: f"<{ids[0]}>", new_logprobs=new)
    text = Tags(viewer._tokens.value).text
    assert "2 of 3 tokens learn, each with advantage +0.70 (flat)" in text
    assert "<1><7>p 0.61× 1.49▲ clipped<8>p 0.90× 1.00" in text
    assert viewer._tokens.value.count('class="wb-token out"') == 1
    viewer.colour = "surprise"
    assert '<span class="wb-token in plus" style="--v:0.17"' in viewer._tokens.value  # .5 / 3
    viewer.colour = "ratio"
    assert '<span class="wb-token in plus" style="--v:0.98"' in viewer._tokens.value  # .49 / .5


def test_an_attempt_that_could_not_be_judged_is_called_so(group):
    right, wrong = group.trajectories
    lost = replace(wrong, verdict=replace(wrong.verdict, status="sandbox_error", outcomes=()))
    viewer = CreditViewer(replace(group, trajectories=(right, lost)), CREDIT)
    assert viewer.text == "by-hand: #0 solved, 3 turns"
    viewer.attempt = 1
    assert viewer.text == "by-hand: #1 not judged, 2 turns"


def test_new_logprobs_of_other_tokens_are_refused_before_their_attempt_is_chosen(group):
    new = [[[-0.1, -0.1]] * len(t.turns) for t in group.trajectories]
    for wrong in (new[:1], [new[0], new[1][:-1]], [new[0], [[-0.1]] * len(new[1])]):
        with pytest.raises(ValueError, match="new_logprobs: expected one for each sampled token"):
            CreditViewer(group, CREDIT, new_logprobs=wrong)


def test_hostile_text_is_shown_and_makes_no_tag(group, task, tmp_path):
    bad = turn(HOSTILE, HOSTILE, tool_call=None, parse_error=HOSTILE, agent=HOSTILE)
    attempts = tuple(replace(t, turns=(bad, bad)) for t in group.trajectories)
    viewer = CreditViewer(
        replace(group, trajectories=attempts), {HOSTILE: [np.ones(2)] * 2}, truth=[np.ones(2)] * 2,
        task=replace(task, statement=HOSTILE), decode=lambda ids: HOSTILE,
    )  # fmt: skip
    viewer.against = 1
    page = Tags(viewer.html())
    assert set(page.tags) <= ALLOWED and not page.attributes & {"onerror", "src", "href"}
    assert "<script>alert(1)</script>" in page.text and "日本語" in page.text
    whole = Tags(viewer.to_html(tmp_path / "page.html").read_text("utf-8"))
    assert set(whole.tags) <= ALLOWED | NEW_PAGE and whole.tags.count("script") == 1
    assert not whole.attributes & {"onerror", "src", "href", "onload"}


def test_the_page_holds_every_attempt_and_loads_nothing(viewer, tmp_path):
    path = viewer.to_html(tmp_path / "deep" / "page.html")
    html = path.read_text("utf-8")
    assert html.count("<section") == 2 and html.count("data-tokens=") == 3 + 2
    assert '<td class="plus v21" data-other="20.0%">+0.70</td>' in html
    assert "default-src 'none'" in html and "http" not in html.replace("http-equiv", "")


def test_one_turn_and_no_truth_are_enough(make_trajectory, tmp_path):
    group = Group("by-hand", "", (make_trajectory("p", "p"),))
    viewer = CreditViewer(group, {"nothing": [np.array([np.nan])]})
    assert "no token learns" in viewer._tokens.value and "rank" not in viewer._table.value
    assert len(viewer.figure().axes[0].texts) == 1
    assert viewer._repr_mimebundle_()["text/html"] == viewer.html()
    viewer.to_html(tmp_path / "page.html")


def test_a_group_without_trajectories_is_refused():
    with pytest.raises(ValueError, match="group: expected at least one trajectory"):
        CreditViewer(Group("x", "", ()), {})


def test_an_attempt_without_turns_is_refused(make_trajectory):
    """A replay that keeps nothing has none."""
    empty = replace(make_trajectory("p", "p"), turns=())
    with pytest.raises(ValueError, match=r"each of one turn or more, got turns \[0\]"):
        CreditViewer(Group("by-hand", "", (empty,)), {"nothing": [np.zeros(0)]})


def test_what_a_turn_lacks_is_told_in_words():
    cut = turn("gerp f", tool_call=None, parse_error="no command gerp", agent="finder")
    cut = replace(cut, action=replace(cut.action, finish="length"))
    text = Tags(turn_html(cut)).text
    assert "finder✗ no commandcut: lengthgerp f" in text


def test_masks_say_in_a_sentence_what_learns(group):
    viewer = MaskViewer(group, lambda ids: f"<{ids[0]}>", credit=CREDIT["sharp"])
    assert viewer.text == (
        "attempt 0: 9 tokens: 4 learn (44%), 1 are prompt, 2 observation; "
        "2 sampled tokens do not learn"
    )
    text = Tags(viewer._picture.value).text
    assert "prompt<1>turn 1 said 0.00<7><8>observation<1>turn 2 said +1.00<7><8>" in text
    assert viewer._picture.value.count("<u>") == 4 and 'class="up size-4"' in viewer._picture.value
    viewer.index = 1
    assert viewer.text.startswith("attempt 1: 6 tokens: 4 learn (67%)")
    with pytest.raises(traitlets.TraitError, match="expected 0 to 1, got 2"):
        viewer.index = 2
    assert set(Tags(viewer.html()).tags) <= ALLOWED
    assert viewer._repr_mimebundle_()["text/html"] == viewer.html()
    assert viewer.figure().axes[0].get_title(loc="left") == "attempt 1"


def test_any_ids_and_mask_can_be_looked_at_and_a_token_that_may_not_be_seen_is_counted():
    viewer = MaskViewer([[1, 2, 3, 4]], loss_mask=[[0, 1, 0, 1]], attention_mask=[[1, 1, 1, 0]])
    assert "2 learn" in viewer.text and "✗ 1 that learn may not be seen" in viewer.text
    assert "⟨2⟩" in viewer._picture.value
    with pytest.raises(ValueError, match="expected at least one sequence"):
        MaskViewer(Group("x", "", ()))


def test_hostile_tokens_are_only_shown():
    viewer = MaskViewer([[1, 2]], lambda ids: HOSTILE, loss_mask=[[0, 1]])
    assert set(Tags(viewer._picture.value).tags) <= ALLOWED
