"""The hand-written suite: every claim that a problem makes about itself, checked in the sandbox."""

import collections
from dataclasses import replace

import pytest

from tests.by_hand import HALVE
from workbench.grading import grade, grade_many
from workbench.records import Task, from_json, to_json
from workbench.tasks import load_tasks, save_tasks
from workbench.tasks.problem import LEVELS, Wrong, case, problem
from workbench.tasks.warmup import warmup_tasks

TASKS = warmup_tasks()


def tagged(task, kind):
    return [tag.removeprefix(f"{kind}:") for tag in task.tags if tag.startswith(f"{kind}:")]


def failures(verdict):
    return tuple(o.name for o in verdict.outcomes if o.status != "passed")


def test_there_are_fifty_problems_in_seven_topics():
    assert len(TASKS) == len({t.task_id for t in TASKS}) == 50
    assert collections.Counter(tagged(t, "topic")[0] for t in TASKS) == {
        "strings": 8, "lists": 8, "dicts": 7, "numbers": 8, "recursion": 6, "classes": 6,
        "parsing": 7,
    }  # fmt: skip


def test_levels_rise_within_a_topic():
    by_topic = collections.defaultdict(list)
    for task in TASKS:
        by_topic[tagged(task, "topic")[0]].append(int(tagged(task, "level")[0]))
    for levels in by_topic.values():
        assert levels == sorted(levels) and set(levels) == set(LEVELS)


def test_a_task_says_what_it_is_and_where_it_comes_from():
    for task in TASKS:
        assert task.task_id == f"warmup/{task.entry_point}" and task.entry_point in task.statement
        assert (task.suite, task.split, task.source) == ("warmup", "", "hand-written")
        assert task.licence == "Apache-2.0" and tagged(task, "skill")
        assert task.statement == task.statement.strip() and "  " not in task.statement


def test_no_call_is_both_visible_and_hidden():
    for task in TASKS:
        calls = [repr(c.args) for c in task.visible + task.hidden]
        assert len(calls) == len(set(calls)), task.task_id


def test_every_weak_spot_is_named_once():
    for task in TASKS:
        spots = [w.weak_spot for w in task.wrong]
        assert len(spots) == len(set(spots)) >= 2 and all(spots), task.task_id


def test_references_pass_every_case(sandbox):
    verdicts = grade_many([(t, t.reference) for t in TASKS], sandbox)
    assert {t.task_id: failures(v) for t, v in zip(TASKS, verdicts) if failures(v)} == {}


def test_references_do_what_the_statement_says_of_rare_characters(sandbox):
    rare = {
        "warmup/count_word": (
            case("\u0130x, \u0130X", "\u0130x", want=2),  # lower() makes two characters of this I
            case("\u039f\u03a3'\u0391", "\u03bf\u03a3", want=1),  # and a sigma by what follows it
        ),
        "warmup/read_settings": (
            case("a = \t1 \n\t = 2", want={"a": "\t1", "\t": "2"}),  # a tab is no space
            case("\t", want={"\t": ""}),
        ),
    }
    for task in TASKS:
        if cases := rare.get(task.task_id):
            verdict = grade(replace(task, hidden=cases), task.reference, sandbox)
            assert failures(verdict) == (), verdict


@pytest.mark.slow
def test_a_wrong_solution_fails_exactly_the_cases_it_names(sandbox):
    pairs = [(t, w) for t in TASKS for w in t.wrong]
    verdicts = grade_many([(t, w.files) for t, w in pairs], sandbox)
    found = {(t.task_id, w.weak_spot): failures(v) for (t, w), v in zip(pairs, verdicts)}
    assert found == {(t.task_id, w.weak_spot): w.fails for t, w in pairs}


@pytest.mark.slow
def test_hacks_pass_the_visible_cases_and_not_the_hidden_ones(sandbox):
    pairs = [(t, files) for t in TASKS for files in t.known_hacks]
    for (task, files), verdict in zip(pairs, grade_many(pairs, sandbox)):
        suites = {name.split(":")[0] for name in failures(verdict)}
        assert suites == {"hidden"}, (task.task_id, files, failures(verdict))


def test_a_function_that_returns_none_fails_every_task(sandbox):
    nothing = "def {}(*args):\n    return None\n"
    pairs = [(t, nothing.format(t.entry_point)) for t in TASKS]
    for task, verdict in zip(TASKS, grade_many(pairs, sandbox)):
        assert len(failures(verdict)) == len(task.visible) + len(task.hidden)


def test_load_tasks_gives_them_in_order_and_knows_no_split():
    assert load_tasks("warmup") == TASKS
    assert load_tasks("warmup", count=3) == TASKS[:3]
    with pytest.raises(ValueError, match="has no splits"):
        load_tasks("warmup", split="dev")


def test_the_suite_survives_a_file(tmp_path):
    save_tasks(TASKS, tmp_path / "warmup.jsonl.gz")
    assert load_tasks(tmp_path / "warmup.jsonl.gz") == TASKS
    assert from_json(Task, to_json(TASKS[0])) == TASKS[0]


WRONG = dict(
    wrong=[
        Wrong("odd numbers", [2, 3, 4, 5], {"number // 2": "-(-number // 2)"}),
        Wrong("negative numbers", [3], {"number // 2": "int(number / 2)"}),
    ],
    hack="return 2 if number == 4 else 5",
)


def test_a_mistake_is_the_reference_with_a_piece_replaced():
    task = problem("halve", **HALVE, **WRONG)
    assert task.wrong[1].files["solution.py"] == "def halve(number):\n    return int(number / 2)\n"
    assert task.wrong[1].fails == ("hidden:3",)
    assert task.known_hacks[1]["solution.py"].startswith("def halve(number):\n    return 2 if")


@pytest.mark.parametrize(
    "change, message",
    [
        ({"level": 4}, r"expected one of \[1, 2, 3\], got 4"),
        ({"visible": [case(4, want=2)]}, "2 to 4 visible cases"),
        ({"visible": [case(4, want=2), case(7, want=3)]}, "every call once"),
        ({"wrong": WRONG["wrong"][:1] * 2}, "every weak spot once"),
        ({"wrong": WRONG["wrong"][:1] + [Wrong("zero", [6], "def halve(n): 0")]}, "1 to 5"),
        ({"wrong": WRONG["wrong"][:1] + [Wrong("zero", [], "def halve(n): 0")]}, "1 to 5"),
        ({"wrong": WRONG["wrong"][:1] + [Wrong("zero", [1], {"divide": "x"})]}, "found it 0 times"),
        ({"wrong": WRONG["wrong"][:1] + [Wrong("zero", [1], "def half(n): 0")]}, "function halve"),
        ({"reference": "def halve(number)\n    return 2"}, "expected Python"),
    ],
)
def test_a_problem_that_contradicts_itself_is_refused(change, message):
    with pytest.raises(ValueError, match=f"halve.*{message}"):
        problem("halve", **{**HALVE, **WRONG, **change})
