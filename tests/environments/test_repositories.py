"""A repository is played with the same tools as any workspace; `run` is its pytest suite."""

import pytest

from workbench import load_tasks, rollout
from workbench.environments import Environment, default_turns, tools
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
    group = rollout(ScriptedPolicy(SOLVE_SPANS), SPANS, sandbox, n=1)
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


REPAIR_ROTA = [
    "edit rota/schedule.py 10|    day = day_of(after, job.zone)",
    "edit rota/schedule.py 11|"
    "    while not job.is_due_on(day) or moment(day, job.at, job.zone) <= after:",
    "edit rota/schedule.py 12|        day += timedelta(days=1)",
    "edit rota/schedule.py 13|    return moment(day, job.at, job.zone)",
    "edit rota/schedule.py 14|",
]
REPRODUCE_ROTA = [
    "insert tests/test_autumn.py 0|from datetime import datetime, time, timezone",
    "insert tests/test_autumn.py 1|from zoneinfo import ZoneInfo",
    "insert tests/test_autumn.py 2|from rota import Job, next_run",
    "insert tests/test_autumn.py 3|def test_autumn():",
    'insert tests/test_autumn.py 4|    bell = Job("bell", time(8), ZoneInfo("Europe/Paris"))',
    "insert tests/test_autumn.py 5|    start = datetime(2026, 10, 24, 6, tzinfo=timezone.utc)",
    "insert tests/test_autumn.py 6|"
    "    assert next_run(bell, start) == datetime(2026, 10, 25, 7, tzinfo=timezone.utc)",
    "run",
]
READ_ROTA = {  # what each ticket leaves to be found
    "short": ["ls", "cat README.md", "grep next_run", "cat rota/agenda.py", "cat rota/schedule.py",
              "cat rota/clock.py", "cat rota/job.py"],
    "report": ["ls", "grep next_run", "cat rota/schedule.py", "cat rota/clock.py"],
    "located": ["cat rota/schedule.py", "cat rota/clock.py"],
}  # fmt: skip


def repair_rota(detail, sandbox):
    """(turns, characters read) of one attempt that repairs it and passes the hidden tests."""
    tasks = {task.task_id: task for task in load_tasks("repos", detail=detail)}
    rota = tasks["repos/rota"]
    first = REPRODUCE_ROTA if detail != "located" else []
    script = [*READ_ROTA[detail], *first, *REPAIR_ROTA, "run", "submit"]
    (trajectory,) = rollout(ScriptedPolicy(script), rota, sandbox, n=1).trajectories
    said = [turn.observation for turn in trajectory.turns]
    if first:
        assert said[script.index("run")].startswith("FAIL 1 of 12 tests\ntests/test_autumn.py::")
    assert said[-2] == ("ok 12 passed" if first else "ok 11 passed")
    assert {o.status for o in trajectory.verdict.of_suite("hidden")} == {"passed"}
    return len(said), len(rota.statement) + sum(map(len, said))


def test_a_competent_agent_needs_less_the_more_a_ticket_tells(sandbox):
    """The same repair, written by hand from each ticket; docs/repositories.md shows the figures."""
    turns, chars = zip(*(repair_rota(detail, sandbox) for detail in READ_ROTA))
    assert turns == (22, 19, 9)
    assert [round(n, -3) for n in chars] == [6000, 4000, 2000]


def test_a_repository_takes_more_turns_than_two_small_files_unless_it_is_told_otherwise():
    (small,) = load_tasks("bugfix", split="train", count=1)
    answer = load_tasks("functions", split="train", count=1)[0]
    turns = [Environment(task, sandbox=None).max_turns for task in (answer, small, SPANS)]
    assert turns == [1, 8, 40]
    assert Environment(SPANS, sandbox=None, max_turns=12).max_turns == 12
    assert default_turns(small, SPANS) == 40 and default_turns() == 8


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
