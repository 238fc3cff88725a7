"""Rows that people write: simple ones, in files and in Python, and where their parts go."""

import gzip
import json
import warnings
from dataclasses import replace

import pytest

from workbench.grading import grade
from workbench.records import Case, Limits, WrongSolution
from workbench.tasks import complete, load_tasks, save_tasks

ROW = {
    "statement": "double every item",
    "entry_point": "double",
    "reference": "def double(xs):\n    return [2 * x for x in xs]\n",
    "cases": [[[[1, 2]], [2, 4]], [[[]], []], {"args": [[0.5]], "expected": [1.0]}],
}


def load_one(**fields):
    (task,) = load_tasks([{**ROW, **fields}])
    return task


def test_a_simple_row_is_enough(sandbox):
    task = load_one()
    assert (task.task_id, task.statement, task.entry_file) == (
        "rows/1",
        "double every item",
        "solution.py",
    )
    assert task.visible == (Case(([1, 2],), [2, 4]), Case(([],), []))
    assert task.hidden == (Case(([0.5],), [1.0]),)
    assert task.licence == "not stated" and task.files == {} and task.split == ""
    assert {o.status for o in grade(task, task.reference, sandbox).outcomes} == {"passed"}


def test_every_part_of_a_row_finds_its_field():
    row = {
        "task_id": "mine/1",
        "prompt": "fix f",
        "entry_point": "f",
        "files": {"lib.py": "def f(x): return 0\n", "tests.py": "from lib import f\n"},
        "tests_file": "tests.py",
        "visible": [[[1], 2]],
        "hidden": [{"args": [2], "expected": 4.0, "comparison": "close", "tolerance": 0.5}],
        "reference": {"lib.py": "def f(x): return 2 * x\n"},
        "known_hacks": [{"tests.py": "pass\n"}, "def f(x): return 2\n"],
        "wrong": [{"files": "def f(x): return x\n", "weak_spot": "one", "fails": ["hidden:1"]}],
        "limits": {"cpu_s": 2},
        "split": "dev",
        "tags": ["loops"],
        "licence": "CC0-1.0",
        "source": "my course",
        "suite": "week 3",
        "author": {"name": "me", "years": [2024, None]},
    }
    (task,) = load_tasks([row], split="dev")
    assert (task.task_id, task.statement, task.entry_file) == ("mine/1", "fix f", "lib.py")
    assert task.visible == (Case((1,), 2),)
    assert task.hidden == (Case((2,), 4.0, "close", 0.5),)
    assert task.known_hacks == ({"tests.py": "pass\n"}, {"lib.py": "def f(x): return 2\n"})
    mistake = WrongSolution({"lib.py": "def f(x): return x\n"}, "one", ("hidden:1",))
    assert task.wrong == (mistake,)
    assert task.limits == Limits(cpu_s=2.0) and task.split == "dev"
    assert task.tags == ("format:simple", "loops") and task.suite == "week 3"
    assert (task.licence, task.source) == ("CC0-1.0", "my course")
    assert task.extra == {"author": {"name": "me", "years": [2024, None]}}


def test_types_that_json_has_not_are_tagged_and_other_objects_are_dicts():
    cases = [
        [[{"tuple": [1, 2]}], {"set": [1]}],
        [[{"a": 1, "b": {"tuple": []}}], {"dict": [[{"tuple": [1]}, None]]}],
        [[{"float": "inf"}], {"bytes": "ff"}],
    ]
    task = load_one(cases=json.loads(json.dumps(cases)))
    assert task.visible == (Case(((1, 2),), {1}), Case(({"a": 1, "b": ()},), {(1,): None}))
    assert task.hidden == (Case((float("inf"),), b"\xff"),)


def test_rows_of_python_may_hold_tuples_and_sets_themselves():
    task = load_one(cases=(((1, (2,)), {3}), ([[]], frozenset()), ([1], 2)))
    assert task.visible == (Case((1, (2,)), {3}), Case(([],), frozenset()))


@pytest.mark.parametrize(
    "name", ["m.jsonl", "m.jsonl.gz", "m.json", "m.json.gz", "m.jsonl.GZ", "m.JSON"]
)
def test_files_of_lines_and_lists_plain_and_compressed(tmp_path, name):
    rows = [ROW, {**ROW, "statement": "again"}]
    text = json.dumps(rows) if name.lower().removesuffix(".gz") == "m.json" else ""
    text = text or "\ufeff" + "\n".join(map(json.dumps, rows)) + "\n\n"
    data = text.encode()
    (tmp_path / name).write_bytes(gzip.compress(data) if name.lower().endswith(".gz") else data)
    tasks = load_tasks(tmp_path / name)
    assert [task.task_id for task in tasks] == ["m/1", "m/2"]
    assert [task.source for task in tasks] == [name, name]
    assert load_tasks(str(tmp_path / name), count=1) == tasks[:1]


def test_an_id_counts_lines_so_that_an_editor_finds_it(tmp_path):
    (tmp_path / "m.jsonl").write_text("\n\n" + json.dumps(ROW) + "\n")
    assert load_tasks(tmp_path / "m.jsonl")[0].task_id == "m/3"


def test_a_file_is_not_returned_whole_when_a_split_is_asked_for(tmp_path):
    rows = [{**ROW, "statement": s, "split": s} for s in ("train", "test")] + [ROW]
    assert [t.statement for t in load_tasks(rows, split="test")] == ["test"]
    assert len(load_tasks(rows)) == 3
    message = r"no task of split 'dev'; the splits there are \['test', 'train'\]"
    with pytest.raises(ValueError, match=message):
        load_tasks(rows, split="dev")


def test_a_suite_without_a_split_is_its_training_split():
    assert load_tasks("functions", count=2) == load_tasks("functions", "train", 2)


def test_the_format_may_be_said_instead_of_told_by_the_fields():
    row = {**ROW, "test_list": ["kept"]}  # would be taken for MBPP
    (task,) = load_tasks([row], format="simple")
    assert task.extra == {"test_list": ["kept"]} and task.hidden == load_one().hidden


def test_loaded_tasks_survive_saving(tmp_path):
    tasks = load_tasks([ROW, {**ROW, "statement": "b", "cases": [[[1], {"set": [1]}]] * 3}])
    save_tasks(tasks, tmp_path / "t.jsonl")
    assert load_tasks(tmp_path / "t.jsonl") == tasks
    with pytest.raises(ValueError, match="expected an ending .jsonl"):
        save_tasks(tasks, tmp_path / "t.json")


def test_equal_tasks_under_two_ids_are_kept_with_a_warning_that_names_them():
    with pytest.warns(UserWarning) as warned:
        tasks = load_tasks([ROW, {**ROW, "task_id": "b"}])
    assert len(tasks) == 2
    assert str(warned[0].message) == (
        "rows: the same statement and tests under two ids: 'rows/1' (row 1) and 'b' (row 2); both "
        "are kept, which counts the task twice"
    )
    assert warned[0].filename == __file__


def test_different_tasks_give_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        others = [{**ROW, "cases": [[[1], expected]] * 3} for expected in (True, 1)]
        tasks = load_tasks([ROW, *others])  # a warning would be raised here
    assert [task.task_id for task in tasks] == ["rows/1", "rows/2", "rows/3"]


def test_a_dataset_is_read_as_its_rows():
    datasets = pytest.importorskip("datasets")
    row = {
        "task_id": None,  # a column that only some rows fill
        "prompt": "def f(x):\n",
        "canonical_solution": "    return x\n",
        "test": "def check(candidate):\n    assert candidate(1) == 1\n",
        "entry_point": "f",
    }
    other = {**row, "task_id": "second", "prompt": "def f(x, y=1):\n"}
    data = datasets.Dataset.from_list([row, other])
    assert [task.task_id for task in load_tasks(data)] == ["rows/1", "second"]


def test_a_row_may_have_a_beginning_and_an_extra_of_its_own(tmp_path):
    given = {"author": "me"}
    task = load_one(beginning="def double(xs):\n", extra=given, level=3)
    assert task.beginning == "def double(xs):\n"
    assert complete(task, "    return 2\n") == "def double(xs):\n    return 2\n"
    assert task.extra == {"author": "me", "level": 3} and given == {"author": "me"}


def test_a_field_that_is_nearly_a_known_one_is_a_warning():
    with pytest.warns(UserWarning) as warned:
        task = load_one(hiden=[[[1], 1]])
    assert task.extra == {"hiden": [[[1], 1]]}
    assert [str(w.message) for w in warned] == [
        "field 'hiden' means nothing here and is kept in `extra`; did you mean 'hidden'?"
    ]
    assert warned[0].filename == __file__


def test_a_task_that_cannot_be_saved_leaves_the_file_as_it_was(tmp_path):
    path = tmp_path / "t.jsonl.gz"
    good = load_one()
    save_tasks([good], path)
    with pytest.raises(ValueError, match="expected plain data, got object"):
        save_tasks([good, replace(good, hidden=(Case((object(),), 1),))], path)
    assert load_tasks(path) == [good] and list(tmp_path.iterdir()) == [path]
    save_tasks([good, replace(good, task_id="b", statement="other")], path)
    assert len(load_tasks(path)) == 2 and list(tmp_path.iterdir()) == [path]


def test_where_a_row_does_not_say_two_cases_are_shown_if_one_is_left():
    row = {"question": "q", "inputs": ["1", "2"], "outputs": ["1", "2"]}
    (two,) = load_tasks([row])
    assert (len(two.visible), len(two.hidden)) == (0, 2)
    (three,) = load_tasks([{**row, "inputs": list("123"), "outputs": list("123")}])
    assert (len(three.visible), len(three.hidden)) == (2, 1)
