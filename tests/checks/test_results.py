"""Results: a table for the reader, a file if asked for, a teacher's table of files."""

import json

import numpy as np
import pytest

from workbench import checks


def work():
    checks.predict("00-a", 30)
    checks.reveal("00-a", 58.8)
    checks.run("00-e", max, [(([1],), 2)])
    checks.run("00-e", max, [(([1],), 1)])
    checks.run("00-f", max, [(([1],), 2)])
    checks.hint("00-f")
    checks.run("own-1", max, [(([1],), 1)])


def test_results_say_how_every_question_of_a_begun_notebook_stands():
    assert checks.results() == {} and "points: 0 of 0" in repr(checks.results())
    work()
    found = checks.results()
    status = {question: one.status for question, one in found.items()}
    assert status == {
        "00-a": "guessed", "00-b": "not attempted", "00-c": "not attempted",
        "00-d": "not attempted", "00-e": "solved", "00-f": "wrong", "own-1": "solved",
    }  # fmt: skip
    assert (found["00-a"].guess, found["00-a"].truth) == (30, 58.8)
    assert (found["00-e"].attempts, found["00-f"].hints_used) == (2, 1)
    assert list(checks.results("00")) == [f"00-{letter}" for letter in "abcdef"]
    assert "points: 1 of 5" in repr(checks.results("00"))
    lines = repr(found).splitlines()
    assert " ".join(lines[0].split()) == "status pts tries hints guess truth question"
    assert lines[5].split()[:4] == ["00-e", "solved", "1", "2"] and max(map(len, lines)) <= 100


def test_nothing_is_written_unless_asked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    work()
    repr(checks.results())
    assert list(tmp_path.iterdir()) == []
    checks.save_results(name="Ada")
    assert [path.name for path in tmp_path.iterdir()] == ["results.json"]


def test_a_teacher_s_table_has_a_row_a_question_and_names_broken_files(tmp_path, capsys):
    work()
    checks.guesses["00-c"] = {1, 2}  # not JSON: kept as text
    checks.save_results(tmp_path / "a.json", "Ada")
    (tmp_path / "b").mkdir()
    checks.save_results(tmp_path / "b" / "results.json", "Grace")
    broken = {
        "none.json": "",
        "list.json": "[]",
        "later.json": '{"schema": 2}',
        "odd.json": '{"schema": 1, "results": {"00-a": {}}}',
        "bytes.json": b"\xff\xfe",
        "deep.json": "[" * 100_000,
    }
    for name, text in broken.items():
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    table = checks.collect(tmp_path)
    assert len(table) == 14 and set(table.name) == {"Ada", "Grace"}
    assert set(table.attrs["left_out"]) == set(broken)
    assert "left out list.json: expected results of schema 1, got 'list'" in capsys.readouterr().out
    solved = table[table.status == "solved"].groupby("name").points.sum()
    assert solved.to_dict() == {"Ada": 1.0, "Grace": 1.0}
    assert table[table.question == "00-c"].guess.iloc[0] == "{1, 2}"


def test_the_file_says_its_schema_and_version(tmp_path):
    checks.save_results(tmp_path / "r.json")
    values = json.loads((tmp_path / "r.json").read_text())
    assert set(values) == {"schema", "workbench", "name", "results"} and values["schema"] == 1


GOOD = {
    "title": "", "points": 2.0, "status": "solved", "attempts": 1, "hints_used": 0,
    "guess": None, "truth": None,
}  # fmt: skip


def stored(path, one, schema=1):
    path.write_text(json.dumps({"schema": schema, "results": {"00-d": one}}))


@pytest.mark.parametrize(
    "field, value, words",
    [
        ("points", "many", "00-d: expected 0 to 100 as points, got 'many'"),
        ("points", float("nan"), "as points, got nan"),
        ("points", 1e9, "as points, got 1000000000.0"),
        ("points", -1, "as points, got -1"),
        ("points", True, "as points, got True"),
        ("status", "SOLVED!!", "as status, got 'SOLVED!!'"),
        ("status", [], "as status, got []"),
        ("attempts", -5, "expected a count as attempts, got -5"),
        ("attempts", 1.5, "expected a count as attempts, got 1.5"),
        ("hints_used", True, "expected a count as hints_used, got True"),
        ("title", 3, "expected a text as title, got 3"),
    ],
)
def test_a_field_of_another_kind_is_named(field, value, words, tmp_path):
    stored(tmp_path / "a.json", GOOD)
    stored(tmp_path / "b.json", GOOD | {field: value})
    table = checks.collect(tmp_path)
    assert list(table.file) == ["a.json"] and words in table.attrs["left_out"]["b.json"]


def test_a_schema_is_a_number_and_not_true(tmp_path):
    stored(tmp_path / "a.json", GOOD, schema=True)
    assert "schema 1, got True" in checks.collect(tmp_path).attrs["left_out"]["a.json"]


def test_a_copy_that_jupyter_keeps_is_no_second_submission_and_a_bom_is_read(tmp_path):
    stored(tmp_path / "a.json", GOOD)
    (tmp_path / ".ipynb_checkpoints").mkdir()
    stored(tmp_path / ".ipynb_checkpoints" / "a-checkpoint.json", GOOD)
    (tmp_path / "b.json").write_bytes(b"\xef\xbb\xbf" + (tmp_path / "a.json").read_bytes())
    assert list(checks.collect(tmp_path).file) == ["a.json", "b.json"]


def test_a_folder_that_is_not_there_is_told(tmp_path):
    stored(tmp_path / "a.json", GOOD)
    for path in (tmp_path / "nowhere", tmp_path / "a.json"):
        with pytest.raises(ValueError, match="expected a folder of results"):
            checks.collect(path)


def test_numbers_of_numpy_are_stored_as_numbers(tmp_path):
    checks.predict("00-a", np.int64(4))
    checks.save_results(tmp_path / "r.json")
    assert checks.collect(tmp_path).guess[0] == 4


def test_an_empty_folder_gives_an_empty_table(tmp_path):
    assert checks.collect(tmp_path).empty
