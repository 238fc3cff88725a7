import pytest

from rowbox import Dialect, RowError, guess_dialect, read_rows


def cells(text, dialect=Dialect()):
    return [row for _, row in read_rows(text, dialect)]


@pytest.mark.parametrize(
    ("line", "row"),
    [
        ("a,b", ["a", "b"]),
        ("a,,", ["a", "", ""]),
        ('"a,b",c', ["a,b", "c"]),
        ('"say ""hi""",""', ['say "hi"', ""]),
        ('a "quote" within,b', ['a "quote" within', "b"]),
        (" a , b ", [" a ", " b "]),
    ],
)
def test_a_line_has_cells(line, row):
    assert cells(line + "\n") == cells(line) == [row]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('a,b\n"c,d\n', "line 2: a quote is not closed"),
        ('a\n\n"b"c\n', "line 3: expected ',' after a quoted cell"),
    ],
)
def test_quotes_that_make_no_sense_are_named_with_their_line(text, message):
    with pytest.raises(RowError, match=message):
        cells(text)


def test_blank_lines_say_nothing():
    assert list(read_rows("a\n\nb\r\n\r\nc")) == [(1, ["a"]), (3, ["b"]), (5, ["c"])]


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("a,b\nc,d\n", ","),
        ("a;b,c\nd;e\n", ";"),
        ("a\tb\tc\nd\te\tf,g\n", "\t"),
        ('"a,b"|c\n', "|"),
        ("one column\nof text\n", ","),
    ],
)
def test_the_delimiter_is_guessed(text, delimiter):
    assert guess_dialect(text) == Dialect(delimiter)
