import pytest

from rowbox import Dialect, RowError, Table


def test_a_table_is_read_and_written():
    text = 'name;note\nada;"first; and best"\nbob;\n'
    table = Table.from_text(text)
    assert table.header == ["name", "note"]
    assert table.column("note") == ["first; and best", ""]
    assert table.to_text() == text


@pytest.mark.parametrize("cell", ["", "plain", "a,b", 'say "hi"', '"quoted"', " blanks ", "ä→"])
def test_what_was_written_is_read_again(cell):
    table = Table(["x"], [[cell], ["other"]])
    assert Table.from_text(table.to_text(), table.dialect).rows == [[cell], ["other"]]


def test_rows_of_another_size_are_named():
    with pytest.raises(RowError, match="line 4: 3 cells, the header has 2"):
        Table.from_text("a,b\n1,2\n\n1,2,3\n", Dialect())
    with pytest.raises(RowError, match="line 1: no header"):
        Table.from_text("\n")


def test_equal_rows_stay_in_order():
    table = Table(["k", "v"], [["b", "1"], ["a", "2"], ["b", "3"], ["a", "4"]])
    assert table.sorted_by("k").column("v") == ["2", "4", "1", "3"]
    assert table.column("v") == ["1", "2", "3", "4"]


def test_an_unknown_column_is_named():
    with pytest.raises(KeyError, match="no column 'y'"):
        Table(["x"]).column("y")
