"""A repository is played with the same tools as any workspace; `run` is its pytest suite."""

import pytest

from workbench import load_tasks, rollout
from workbench.environments import Environment, tools
from workbench.policies import ScriptedPolicy

TASKS = {task.task_id: task for task in load_tasks("repos")}
SPANS, CONFKIT = TASKS["repos/spans"], TASKS["repos/confkit"]
OVERLAPS = "        return self.start < other.end and other.start < self.end"
JOINS = "        if merged and interval.start <= merged[-1].end:"
SOLVE_SPANS = [
    "ls",
    "cat README.md",
    "grep overlaps",
    "run",
    "cat spans/interval.py",
    f"edit spans/interval.py 28|{OVERLAPS}",
    "run",
    f"edit spans/interval.py 39|{JOINS}",
    "insert tests/test_new.py 0|from spans import Interval",
    "insert tests/test_new.py 1|def test_new(): assert not Interval(0, 1).overlaps(Interval(1, 2))",
    "run",
    "submit",
]


def test_a_script_solves_a_repository_from_its_issue_to_the_hidden_tests(sandbox):
    group = rollout(ScriptedPolicy(SOLVE_SPANS), SPANS, sandbox, n=1, max_turns=20)
    (trajectory,) = group.trajectories
    said = [turn.observation for turn in trajectory.turns]
    assert said[0] == (
        "README.md spans/__init__.py spans/calendar.py spans/interval.py tests/test_calendar.py "
        "tests/test_interval.py"
    )
    assert "spans/calendar.py:22: if taken.overlaps(wanted):" in said[2]
    first, failure = said[3].split("\n")
    assert first == "FAIL 1 of 12 tests"
    assert failure.startswith("tests/test_calendar.py::test_the_review_can_follow_the_stand_up ")
    assert "Conflict: 'review' overlaps 'stand-up'" in failure
    assert f"28|{OVERLAPS}" != said[4].split("\n")[27] and said[5] == f"28|{OVERLAPS}"
    assert said[6] == "ok 12 passed" and said[10] == "ok 13 passed"
    verdict = trajectory.verdict
    assert trajectory.stop_reason == "submitted" and verdict.mode == "shared"
    for suite in ("hidden", "visible_pristine", "visible_as_left"):
        assert {o.status for o in verdict.of_suite(suite)} == {"passed"}
    assert trajectory.evidence.tampered == trajectory.evidence.tripwires == ()
    assert trajectory.evidence.files_touched == ("spans/interval.py", "tests/test_new.py")


def test_an_edited_test_satisfies_run_and_nothing_else(sandbox):
    script = ["edit tests/test_calendar.py 42|    return", "run", "submit"]
    (trajectory,) = rollout(ScriptedPolicy(script), SPANS, sandbox, n=1).trajectories
    assert trajectory.turns[1].observation == "ok 12 passed"
    verdict = trajectory.verdict
    assert {o.status for o in verdict.of_suite("visible_as_left")} == {"passed"}
    assert any(o.status != "passed" for o in verdict.of_suite("visible_pristine"))
    assert any(o.status != "passed" for o in verdict.of_suite("hidden"))
    assert trajectory.evidence.tampered == ("tests/test_calendar.py",)


def test_whole_files_fit_into_an_observation():
    environment = Environment(CONFKIT, sandbox=None)
    assert environment.reset().startswith("A broken file looks like an empty one")
    shown = environment.step("cat confkit/cli.py").observation
    assert shown.endswith("|    return parser")
    assert Environment(CONFKIT, None, observation_chars=50).observation_chars == 50


def test_run_says_why_nothing_could_be_run(sandbox):
    environment = Environment(SPANS, sandbox, max_turns=20)
    environment.step("edit spans/interval.py 7|class Interval(:")
    assert "spans/interval.py:7: SyntaxError" in environment.step("run").observation
    environment.reset()
    environment.step("insert spans/interval.py 0|import os; os._exit(0)")
    assert environment.step("run").observation.startswith("CRASH the tests did not finish: ")
    environment.reset()
    environment.step("insert pytest.ini 0|[pytest]")
    environment.step("insert pytest.ini 1|python_files = none.py")
    assert environment.step("run").observation == "error: no tests"


def test_an_insert_makes_lines_and_files_and_leaves_the_old_files_alone():
    files, said = tools.insert_line(SPANS.files, "spans/interval.py 1|import math")
    lines = SPANS.files["spans/interval.py"].splitlines()
    assert files["spans/interval.py"].splitlines() == [lines[0], "import math", *lines[1:]]
    assert said == "2|import math" and "math" not in SPANS.files["spans/interval.py"]
    files, said = tools.insert_line(files, "new/a.py 0|x = 1")
    assert (files["new/a.py"], said) == ("x = 1\n", "1|x = 1")


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        ("none.py 1|x", "error: no such file none.py"),
        ("spans/interval.py 99|x", "error: spans/interval.py has no line 99"),
        ("spans/interval.py 1|x\x0cy", "error: the new text is more than one line"),
        ("../a.py 0|x", "error: no path inside the workspace ../a.py"),
        ("/a.py 0|x", "error: no path inside the workspace /a.py"),
        ("spans 0|x", "error: a file cannot be a folder too spans"),
        ("README.md/a 0|x", "error: a file cannot be a folder too README.md/a"),
        (f"{'a' * 300} 0|x", f"error: no path inside the workspace {'a' * 24}"),
    ],
)
def test_an_insert_that_misses_changes_nothing_and_says_so(argument, said):
    files, observation = tools.insert_line(SPANS.files, argument)
    assert files is SPANS.files and observation == said
