"""HumanEval: rows written here, and the published file where it is present."""

import gzip
import json
import random

import pytest

from workbench.grading import grade, grade_many
from workbench.records import Case, Limits
from workbench.tasks import complete, load_tasks, save_tasks
from workbench.tasks.mutators import mutations

ROW = {
    "task_id": "HumanEval/900",
    "prompt": 'def first(xs):\n    """The first item, or None."""\n',
    "canonical_solution": "    return xs[0] if xs else None\n",
    "test": "META = {'author': 'me'}\n\ndef check(candidate):\n"
    "    assert candidate([3, 4]) == 3\n    assert candidate([]) is None, 'empty'\n",
    "entry_point": "first",
    "note": "mine",
}
NOT_CALLABLE = {
    "HumanEval/32",  # coefficients from a seeded generator, checked by the prompt's own poly
    "HumanEval/33",  # tuple(candidate(..)) == tuple(..): a list or a tuple will do
    "HumanEval/37",  # the same
    "HumanEval/38",  # random strings, encoded by the prompt's own function
    "HumanEval/50",  # the same
    "HumanEval/52",  # assert candidate(..): anything true will do
    "HumanEval/53",  # random numbers
    "HumanEval/56",  # assert candidate(..)
    "HumanEval/61",  # assert candidate(..)
    "HumanEval/151",  # an expected sum from a comprehension
}


def test_a_row_whose_check_says_only_cases_needs_no_test_code():
    (task,) = load_tasks([ROW])
    assert (task.task_id, task.entry_point) == ("HumanEval/900", "first")
    assert task.statement == ROW["prompt"]
    assert task.reference == {"solution.py": ROW["prompt"] + ROW["canonical_solution"]}
    assert task.visible == ()
    assert task.hidden == (Case(([3, 4],), 3, "equal"), Case(([],), None, "same"))
    assert task.test_code == "" and task.extra == {"note": "mine", "test": ROW["test"]}


def test_a_check_that_says_more_is_kept_whole_and_called_at_its_end():
    test = ROW["test"] + "    assert candidate([5])\n"
    (task,) = load_tasks([{**ROW, "test": test}])
    assert task.test_code == test + "\n\ncheck(first)\n"
    assert task.hidden == (Case(([3, 4],), 3, "equal"), Case(([],), None, "same"))
    assert "test" not in task.extra


def test_code_around_the_check_that_does_something_is_not_lost():
    (task,) = load_tasks([{**ROW, "test": "import sys\nsys.setrecursionlimit(99)\n" + ROW["test"]}])
    assert task.test_code.startswith("import sys")


def test_a_completion_continues_the_prompt(sandbox):
    (task,) = load_tasks([ROW])
    program = complete(task, "    return xs[0] if xs else None\n")
    assert program == task.reference["solution.py"]
    assert {o.status for o in grade(task, program, sandbox).outcomes} == {"passed"}


def test_the_published_file_loads_and_154_of_164_tasks_are_cases_alone(human_eval_file, tmp_path):
    tasks = load_tasks(human_eval_file)
    assert len(tasks) == 164 and len({task.task_id for task in tasks}) == 164
    assert {task.task_id for task in tasks if task.test_code} == NOT_CALLABLE
    assert {(task.split, task.suite) for task in tasks} == {("", "humaneval")}
    save_tasks(tasks, tmp_path / "again.jsonl.gz")
    assert load_tasks(tmp_path / "again.jsonl.gz") == tasks


def test_conversions_checked_by_hand_against_the_published_text(human_eval_file):
    hidden = {task.task_id: task.hidden for task in load_tasks(human_eval_file)}
    assert hidden["HumanEval/2"] == (
        Case((3.5,), 0.5, "equal"),
        Case((1.33,), 0.33, "close", 1e-6),
        Case((123.456,), 0.456, "close", 1e-6),
    )
    third = hidden["HumanEval/4"][2]  # abs(candidate([1.0, 2.0, 3.0, 4.0, 5.0]) - 6.0/5.0) < 1e-6
    assert third.expected == 1.2 and third.tolerance * 1.2 == pytest.approx(1e-6, rel=1e-12)
    assert hidden["HumanEval/8"][3] == Case(([3, 5, 7],), (15, 105), "equal")
    assert hidden["HumanEval/25"][4] == Case((3249,), [3, 3, 19, 19], "equal")  # 3*19*3*19
    assert hidden["HumanEval/44"][6:] == tuple(
        Case((x, x + 1), str(x), "equal") for x in (2, 3, 4, 5, 6, 7)
    )
    assert hidden["HumanEval/72"][0] == Case(([3, 2, 3], 9), True, "same")
    assert Case(([1, 1],), None, "equal") in hidden["HumanEval/90"]
    assert hidden["HumanEval/90"][-2].args == ([1, 1],)  # written [1, 0**0]
    assert len(hidden["HumanEval/129"]) == 11  # the stray `print` asserts nothing
    assert hidden["HumanEval/148"][1] == Case(("Earth", "Mercury"), ("Venus",), "equal")
    assert len(hidden["HumanEval/156"]) == 14  # `assert True` is dropped


def published_passes(row, program, sandbox):
    """What the benchmark's own text says, run next to the program."""
    test = f"from solution import *\n{row['test']}\n\ncheck({row['entry_point']})\n"
    result = sandbox.run_tests({"solution.py": program, "t.py": test}, "t.py", Limits())
    return result.status == "ok" and all(status == "passed" for _, status, _ in result.outcomes)


def mutant(row, rng):
    """The canonical solution with one line broken."""
    lines = row["canonical_solution"].split("\n")
    broken = [(n, m.line) for n, line in enumerate(lines) for m in mutations(line)]
    number, wrong = rng.choice(broken)
    return row["prompt"] + "\n".join([*lines[:number], wrong, *lines[number + 1 :]])


@pytest.mark.parametrize("every", [8, pytest.param(1, marks=pytest.mark.slow)])
def test_cases_and_published_tests_agree_on_right_empty_and_mutated_solutions(
    human_eval_file, sandbox, every
):
    with gzip.open(human_eval_file, "rt") as lines:
        rows = {row["task_id"]: row for row in map(json.loads, lines)}
    tasks = [task for task in load_tasks(human_eval_file) if not task.test_code][::every]
    rng = random.Random(0)
    right = [(task, task.reference["solution.py"]) for task in tasks]
    empty = [(task, complete(task, "    return None\n")) for task in tasks]
    mutants = [(task, mutant(rows[task.task_id], rng)) for task in tasks]

    def cases_pass(pairs):
        verdicts = grade_many(pairs, sandbox)
        return [all(o.status == "passed" for o in verdict.outcomes) for verdict in verdicts]

    def published_pass(pairs):
        return [published_passes(rows[task.task_id], text, sandbox) for task, text in pairs]

    assert cases_pass(right) == published_pass(right) == [True] * len(tasks)
    assert cases_pass(empty) == published_pass(empty) == [False] * len(tasks)
    said = cases_pass(mutants)
    assert said == published_pass(mutants) and not all(said)


def test_tasks_with_test_code_are_judged_in_a_second_process(human_eval_file, sandbox):
    tasks = [t for t in load_tasks(human_eval_file) if t.test_code]
    right = grade_many([(task, task.reference) for task in tasks], sandbox)
    for task, verdict in zip(tasks, right, strict=True):
        assert (verdict.mode, verdict.status) == ("split", "ok"), task.task_id
        assert {o.status for o in verdict.outcomes} == {"passed"}, verdict
    empty = [(task, complete(task, "    return None\n")) for task in tasks]
    for verdict in grade_many(empty, sandbox):
        assert verdict.status == "ok" and "passed" not in {o.status for o in verdict.outcomes[:1]}


def test_a_prompts_own_function_cannot_be_redefined_to_pass(human_eval_file, sandbox):
    task = next(t for t in load_tasks(human_eval_file) if t.task_id == "HumanEval/38")
    forged = "    return s\n\ndef encode_cyclic(s):\n    return s\n"
    verdict = grade(task, complete(task, forged), sandbox)
    assert [o.status for o in verdict.of_suite("hidden")] == ["wrong"]


HOPELESS = {
    "nothing": "    return None\n",
    "exit": "    import sys\n    sys.exit(0)\n",
    "always equal": """    class Equal:
        def __eq__(self, other): return True
        def __sub__(self, other): return 0
        def __bool__(self): return True
    return Equal()
""",
}


@pytest.mark.slow
def test_every_rows_own_check_passes_its_reference_and_nothing_hopeless(human_eval_file, sandbox):
    with gzip.open(human_eval_file, "rt") as lines:
        rows = list(map(json.loads, lines))

    def passes(row, body):
        result = sandbox.run_split(
            {"solution.py": row["prompt"] + body},
            "solution.py",
            row["entry_point"],
            row["test"],
            Limits(cpu_s=3.0),
        )
        assert result.status in ("ok", "crash"), (row["task_id"], result)
        return result.status == "ok" and all(how == "passed" for _, how, _ in result.outcomes)

    assert [row["task_id"] for row in rows if not passes(row, row["canonical_solution"])] == []
    for name, body in HOPELESS.items():
        assert [row["task_id"] for row in rows if passes(row, body)] == [], name
