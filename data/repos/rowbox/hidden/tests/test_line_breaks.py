import itertools

import pytest

from rowbox import Dialect, RowError, Table, guess_dialect, read_rows

BREAKS = {"n": "\n", "rn": "\r\n", "r": "\r"}


@pytest.mark.parametrize("name", BREAKS)
def test_a_line_break_in_quotes_is_part_of_the_cell(name):
    text = f'id,note\n1,"two{BREAKS[name]}lines"\n2,one\n'
    assert Table.from_text(text).rows == [["1", f"two{BREAKS[name]}lines"], ["2", "one"]]


@pytest.mark.parametrize("name", BREAKS)
def test_a_cell_with_a_line_break_is_written_in_quotes(name):
    cell = f"two{BREAKS[name]}lines"
    assert Table(["id", "note"], [["1", cell]]).to_text() == f'id,note\n1,"{cell}"\n'


def test_whatever_cells_there_are_come_back():
    parts = ["", "a", "\n", "\r", "\r\n", ",", ";", '"', "\n\n", " ", "\u2028", "\x0b", "\x85"]
    cells = ["".join(pair) for pair in itertools.product(parts, repeat=2)]
    for dialect in (Dialect(), Dialect(";"), Dialect("\t", "'")):
        table = Table(["x", "y"], [[cell, cell[::-1]] for cell in cells], dialect)
        assert Table.from_text(table.to_text(), dialect).rows == table.rows
        alone = Table(["x"], [[cell] for cell in cells], dialect)
        assert Table.from_text(alone.to_text(), dialect).rows == alone.rows


def test_blank_lines_within_a_cell_are_kept_and_others_are_not():
    text = 'a,b\n\n1,"x\n\ny"\n\n2,z\n'
    assert list(read_rows(text)) == [(1, ["a", "b"]), (3, ["1", "x\n\ny"]), (7, ["2", "z"])]


def test_every_kind_of_line_break_ends_a_row_and_nothing_else_does():
    assert [row for _, row in read_rows("a\r\nb\rc\nd")] == [["a"], ["b"], ["c"], ["d"]]
    assert list(read_rows("a\u2028b,c\x0bd\ne\x85,f\n")) == [
        (1, ["a\u2028b", "c\x0bd"]),
        (2, ["e\x85", "f"]),
    ]


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ('a,b\n1,"two\nlines"\n3\n', 4, "1 cells, the header has 2"),
        ('a,b\r\n1,"two\r\n\r\nlines"\r\n3\r\n', 5, "1 cells, the header has 2"),
        ('a,b\n"1\n2","3\n4\n', 2, "a quote is not closed"),
        ('a,b\n1,"x\ny"\n\n"1"2,3\n', 5, "expected ',' after a quoted cell"),
    ],
)
def test_errors_name_the_line_in_which_the_row_begins(text, line, why):
    with pytest.raises(RowError, match=f"line {line}: {why}") as told:
        Table.from_text(text, Dialect())
    assert told.value.line == line


def test_the_delimiter_is_guessed_from_rows():
    text = 'name;note\nada;"one, two\nthree, four"\nbob;x\n'
    assert guess_dialect(text) == Dialect(";")
    assert Table.from_text(text).column("note") == ["one, two\nthree, four", "x"]
    many = "a|b\n" + '1|"x\ny\nz"\n' * 2 + "1|2\n" * 2 + "no more\n"
    assert guess_dialect(many) == Dialect("|")


def test_quotes_within_a_cell_stay_what_they_are():
    assert [row for _, row in read_rows('a "b\nc" d,e\n')] == [['a "b'], ['c" d', "e"]]
    assert [row for _, row in read_rows('"a ""b\nc"" d",e\n')] == [['a "b\nc" d', "e"]]


def test_a_quoted_cell_may_be_empty_or_end_the_text():
    assert [row for _, row in read_rows('"",""\n"x\n"')] == [["", ""], ["x\n"]]
