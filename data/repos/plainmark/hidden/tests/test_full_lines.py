import pytest

from plainmark import convert
from plainmark.wrap import wrapped


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("the quick brown fox", 9, ["the quick", "brown fox"]),
        ("the quick brown fox", 19, ["the quick brown fox"]),
        ("a b c d", 3, ["a b", "c d"]),
        ("ab cd", 5, ["ab cd"]),
    ],
)
def test_a_line_may_be_exactly_as_wide_as_the_width(text, width, lines):
    assert wrapped(text, width) == lines


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("the quick brown fox", 8, ["the", "quick", "brown", "fox"]),
        ("the quick brown fox", 18, ["the quick brown", "fox"]),
        ("a b c d", 2, ["a", "b", "c", "d"]),
        ("a b", 1, ["a", "b"]),
    ],
)
def test_none_is_wider(text, width, lines):
    assert wrapped(text, width) == lines


def test_lists_use_their_whole_width_too():
    assert wrapped("one two three", 9, "- ", "  ") == ["- one two", "  three"]
    assert convert("- one two three\n  - one two", width=11) == "- one two\n  three\n  - one two"
    assert convert("10. ab cd ef", width=9) == "10. ab cd\n    ef"


def test_a_long_word_is_neither_cut_nor_joined():
    assert wrapped("see http://long-word.example now", 8) == [
        "see",
        "http://long-word.example",
        "now",
    ]
    assert wrapped("longer-than-it now", 10) == ["longer-than-it", "now"]
    assert wrapped("12345678 12345678", 8) == ["12345678", "12345678"]
    assert wrapped("x 12345", 3, "- ", "  ") == ["- x", "  12345"]


def test_a_long_first_word_stays_behind_its_mark():
    assert wrapped("12345 x", 4, "- ", "  ") == ["- 12345", "  x"]


def test_words_with_hyphens_are_kept():
    assert wrapped("a well-known tea", 8) == ["a", "well-known", "tea"]
    assert wrapped("well-known -- or not", 13) == ["well-known --", "or not"]


def test_letters_count_as_letters():
    assert wrapped("Tee für Köche", 7) == ["Tee für", "Köche"]
    assert wrapped("éé éé", 5) == ["éé éé"]


def test_nothing_changes_where_nothing_was_full():
    assert wrapped("", 10) == [""] and wrapped("", 10, "- ") == ["- "]
    assert wrapped("a  b\tc\n d", 72) == ["a b c d"]


def test_the_example_of_the_readme():
    text = "# Tea\n\nBoil *fresh* water, see [how](http://tea.example)."
    assert convert(text, width=30) == (
        "Tea\n===\n\nBoil fresh water, see how [1].\n\n[1] http://tea.example"
    )


@pytest.mark.parametrize("widths", [range(5, 20), range(20, 80)], ids=["narrow", "wide"])
def test_a_word_goes_down_only_where_it_does_not_fit(widths):
    words = "one fine morning in may a slim young rider on a splendid chestnut mare".split()
    for width in widths:
        lines = wrapped(" ".join(words), width)
        assert " ".join(lines).split() == words
        for line, after in zip(lines, lines[1:]):
            assert len(line) <= width or " " not in line
            assert len(f"{line} {after.split()[0]}") > width
