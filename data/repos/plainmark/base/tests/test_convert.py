import pytest

from plainmark import convert


def test_headings_emphasis_and_links():
    text = "# Tea\n\nBoil *fresh* water, see [how](http://tea.example)."
    assert convert(text, width=40) == (
        "Tea\n===\n\nBoil fresh water, see how [1].\n\n[1] http://tea.example"
    )


def test_lists_are_indented_under_their_marks():
    text = "Needs:\n- water that has boiled\n  - not long\n10. tea"
    assert convert(text, width=20) == (
        "Needs:\n\n- water that has\n  boiled\n  - not long\n10. tea"
    )


def test_code_stays_as_it_is():
    text = "Say\n\n    tea  --strong  --with-a-very-long-option\n    tea *x*\n\nnow"
    assert convert(text, width=20) == (
        "Say\n\n    tea  --strong  --with-a-very-long-option\n    tea *x*\n\nnow"
    )


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("**very** _nice_", "very nice"),
        ("a * b * c", "a * b * c"),
        ("snake_case_name", "snake_case_name"),
        ("`*x*` and *x*", "*x* and x"),
        ("[a](u) [b](v) [c](u)", "a [1] b [2] c [1]\n\n[1] u\n[2] v"),
    ],
)
def test_marks_within_a_line(text, plain):
    assert convert(text) == plain


def test_a_width_is_needed():
    with pytest.raises(ValueError, match="expected 1 or more, got 0"):
        convert("x", width=0)
