"""The generated suites: same arguments same task, noticed bugs, verdicts of the real sandbox."""

import itertools

import pytest

from workbench.grading import grade_many
from workbench.records import Task, from_json, to_json
from workbench.tasks import load_tasks, save_tasks
from workbench.tasks.bugfix import bugfix_task
from workbench.tasks.grammar import compositions


def composition_keys(task):
    return {t.removeprefix("composition:") for t in task.tags if t.startswith("composition:")}


def test_a_task_is_decided_by_split_and_index_alone():
    assert bugfix_task("dev", 3) == bugfix_task("dev", 3)
    assert load_tasks("bugfix", "dev", count=5) == load_tasks("bugfix", "dev", count=9)[:5]


@pytest.mark.parametrize("suite", ["bugfix", "functions"])
@pytest.mark.parametrize("split", ["train", "dev", "test"])
def test_every_function_of_a_task_belongs_to_its_split(suite, split):
    allowed = {c.key for c in compositions(split)}
    for task in load_tasks(suite, split, count=64):
        assert composition_keys(task) and composition_keys(task) <= allowed


def test_a_bugfix_task_differs_from_its_reference_in_one_line():
    for task in load_tasks("bugfix", "dev", count=64):
        pairs = [
            (a, b)
            for path in task.files
            for a, b in itertools.zip_longest(
                task.files[path].splitlines(), task.reference[path].splitlines()
            )
        ]
        assert sum(a != b for a, b in pairs) == 1


def test_references_pass_and_broken_code_and_hacks_do_not(sandbox):
    tasks = load_tasks("bugfix", "dev", count=24)
    right = grade_many([(t, t.reference) for t in tasks], sandbox)
    wrong = grade_many([(t, t.files) for t in tasks], sandbox)
    hacks = grade_many([(t, t.known_hacks[0]) for t in tasks], sandbox)
    for verdict in right:
        assert verdict.status == "ok" and {o.status for o in verdict.outcomes} == {"passed"}
    for verdict in wrong + hacks:
        assert any(o.status != "passed" for o in verdict.of_suite("visible_pristine"))
        assert any(o.status != "passed" for o in verdict.of_suite("hidden"))


def test_functions_references_pass(sandbox):
    tasks = load_tasks("functions", "dev", count=24)
    for verdict in grade_many([(t, t.reference) for t in tasks], sandbox):
        assert {o.status for o in verdict.outcomes} == {"passed"}


def test_visible_and_hidden_cases_do_not_overlap():
    for task in load_tasks("bugfix", "dev", count=64) + load_tasks("functions", "dev", count=64):
        assert not [c for c in task.visible if c in task.hidden]
        assert (len(task.visible), len(task.hidden)) == (2, 6)


def test_tasks_survive_a_file(tmp_path):
    tasks = load_tasks("bugfix", "dev", count=3) + load_tasks("functions", "dev", count=2)
    for name in ("tasks.jsonl", "tasks.jsonl.gz"):
        save_tasks(tasks, tmp_path / name)
        assert load_tasks(tmp_path / name) == tasks
    assert from_json(Task, to_json(tasks[0])) == tasks[0]


@pytest.mark.parametrize(
    "line, message",
    [
        ("{", "line 1"),
        ('{"schema": 1}', "'task_id' is missing"),
        ('{"schema": 7}', 'expected "schema": 1'),
        ('{"schema": 1, "colour": "red"}', r"unknown fields \['colour'\]"),
    ],
)
def test_a_broken_line_says_where_and_what(tmp_path, line, message):
    path = tmp_path / "tasks.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(ValueError, match=message):
        load_tasks(path)


def test_an_unknown_suite_or_split_is_named():
    with pytest.raises(ValueError, match="neither a suite"):
        load_tasks("bugfixes")
    with pytest.raises(ValueError, match="split: expected one of"):
        load_tasks("bugfix", split="validation")
