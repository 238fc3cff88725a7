"""Results: a table for the reader, a file if asked for, a teacher's table of files."""

import json

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


def test_an_empty_folder_gives_an_empty_table(tmp_path):
    assert checks.collect(tmp_path).empty
