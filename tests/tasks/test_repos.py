"""Suite `repos`: each repository is broken as its issue says, and told apart from every fake."""

import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import pytest

from tests.slow_cases import slow
from workbench.grading import grade
from workbench.records import Limits, Task, from_json, to_json
from workbench.tasks import load_tasks, save_tasks
from workbench.tasks.repositories import FOLDER, TICKETS, read_repository

TASKS = load_tasks("repos")
BY_NAME = {task.task_id: task for task in TASKS}
OF_DETAIL = {
    detail: {task.task_id: task for task in load_tasks("repos", detail=detail)}
    for detail in TICKETS
}
RUN_ALWAYS = {
    next(task.task_id for task in TASKS if tier in task.tags)
    for tier in ("tier:1", "tier:2", "tier:3")
}
"""What runs tests is run on one repository of each tier, and in the slow suite on all."""
FAKES = [
    pytest.param(task.task_id, f"wrong {n}", wrong.files, wrong.fails, marks=pytest.mark.slow)
    for task in TASKS
    for n, wrong in enumerate(task.wrong, 1)
] + [
    pytest.param(
        *(task.task_id, f"hack {n}", files, tuple(task.extra["hacks"][n - 1]["fails"])),
        marks=() if task.task_id in RUN_ALWAYS else pytest.mark.slow,
    )
    for task in TASKS
    for n, files in enumerate(task.known_hacks, 1)
]


def failed(verdict, suite="hidden"):
    return {o.name for o in verdict.of_suite(suite) if o.status != "passed"}


def every_repository(function):
    return pytest.mark.parametrize("name", BY_NAME)(function)


def test_there_are_twelve_repositories_four_of_each_tier():
    assert len(TASKS) == len(BY_NAME) == 12
    tiers = [tag for task in TASKS for tag in task.tags if tag.startswith("tier:")]
    assert {tier: tiers.count(tier) for tier in tiers} == {"tier:1": 4, "tier:2": 4, "tier:3": 4}
    kinds = {tag for task in TASKS for tag in task.tags if tag.startswith("kind:")}
    assert len(kinds) == 12 and {"kind:off by one", "kind:time zones", "kind:stale state"} < kinds
    assert load_tasks("repos", count=2) == TASKS[:2]
    with pytest.raises(ValueError, match="'repos' has no splits"):
        load_tasks("repos", split="dev")


def run_repositories(function):
    return pytest.mark.parametrize("name", slow(BY_NAME.keys() - RUN_ALWAYS, BY_NAME))(function)


@run_repositories
def test_before_the_change_exactly_the_tests_that_should_fail_do(name, sandbox):
    task = BY_NAME[name]
    verdict = grade(task, {}, sandbox)
    assert verdict.mode == "shared" and verdict.status == "ok"
    assert failed(verdict) == set(task.fail_to_pass) and task.pass_to_pass
    statuses = {o.status for o in verdict.of_suite("hidden")}
    assert statuses <= {"passed", "wrong", "error"}  # nothing fails because it could not be run


@run_repositories
def test_the_reference_passes_all(name, sandbox):
    task = BY_NAME[name]
    verdict = grade(task, task.reference, sandbox)
    assert failed(verdict) == failed(verdict, "visible_pristine") == set()


@run_repositories
def test_a_right_change_that_is_written_otherwise_passes_too(name, sandbox):
    task = BY_NAME[name]
    other = task.extra["alternative"]
    assert set(other) <= set(task.files) and other != task.reference
    assert failed(grade(task, other, sandbox)) == set()


@pytest.mark.parametrize(("name", "which", "files", "fails"), FAKES, ids=lambda value: None)
def test_every_mistake_and_hack_fails_where_it_is_said_to(name, which, files, fails, sandbox):
    verdict = grade(BY_NAME[name], files, sandbox)
    assert verdict.status == "ok" and failed(verdict) == set(fails) != set()
    assert all(o.status in ("passed", "wrong", "error") for o in verdict.of_suite("hidden"))


@run_repositories
def test_visible_tests_alone_do_not_catch_the_hack(name, sandbox):
    task = BY_NAME[name]
    assert len(task.wrong) >= 2 and task.known_hacks
    for files in task.known_hacks:
        verdict = grade(task, files, sandbox)
        assert failed(verdict, "visible_pristine") == set() and failed(verdict)


@every_repository
def test_a_repository_looks_like_one(name):
    task = BY_NAME[name]
    code = [p for p in task.files if p.endswith(".py") and not p.startswith("tests/")]
    assert 3 <= len(code) <= 8 and "README.md" in task.files and task.entry_file in task.files
    assert 100 <= sum(len(text.splitlines()) for text in task.files.values()) <= 600
    assert any(path.startswith("tests/test_") for path in task.files)
    assert all(1 <= len(task.files[path].splitlines()) <= 100 for path in code)
    assert not set(task.hidden_tests) & set(task.files)
    assert len(set(task.required)) == len(task.required)
    for row in (*task.wrong, *task.extra["hacks"]):
        assert len(row["reason"] if isinstance(row, dict) else row.weak_spot) > 20


def changed_lines(task, path):
    """(lines that only the reference has, lines that it no longer has)"""
    before = task.files.get(path, "").splitlines()
    after = task.reference.get(path, task.files.get(path, "")).splitlines()
    return set(after) - set(before), set(before) - set(after)


@every_repository
def test_a_change_is_as_large_as_its_tier_says(name):
    task = BY_NAME[name]
    touched = [path for path in task.reference if path.endswith(".py")]
    added = [line for line in changed_lines(task, task.entry_file)[0] if "import " not in line]
    if "tier:1" in task.tags:
        code = [line for line in added if not line.strip().startswith('"""')]
        assert touched == [task.entry_file] and len(code) == 1
    elif "tier:2" in task.tags:
        assert touched == [task.entry_file] and len(added) >= 2
    else:
        assert 2 <= len(touched) <= 3 and task.entry_file in touched


@pytest.mark.parametrize("detail", TICKETS)
@every_repository
def test_the_issue_does_not_give_the_change_away(name, detail):
    task = OF_DETAIL[detail][name]
    new = {
        line.strip()
        for changes in (task.reference, task.extra["alternative"])
        for path, text in changes.items()
        for line in set(text.splitlines()) - set(task.files.get(path, "").splitlines())
    }
    assert new and not any(line in task.statement for line in new if len(line) > 12)
    names = set(re.findall(r"def (test_\w+)", "".join(task.hidden_tests.values())))
    assert names and not any(test in task.statement for test in names)


@every_repository
def test_tickets_differ_in_what_they_tell_and_in_nothing_else(name):
    short, report, located = (OF_DETAIL[detail][name] for detail in TICKETS)
    assert report == BY_NAME[name] and report.tags[-1] == "detail:report"
    for task, detail in ((short, "short"), (located, "located")):
        tags = (*report.tags[:-1], f"detail:{detail}")
        assert task == replace(report, statement=task.statement, tags=tags)
    assert len(short.statement.splitlines()) == 1 and len(short.statement) <= 100
    files = [path for path in report.files if path.endswith(".py") and "tests/" not in path]
    assert not any(path.split("/")[-1] in short.statement + report.statement for path in files)
    assert any(path in located.statement for path in files if path == located.entry_file)
    assert min(len(report.statement.splitlines()), len(located.statement.splitlines())) >= 7


def test_a_detail_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match="detail: expected one of .*did you mean 'located'"):
        load_tasks("repos", detail="locate")
    for source in ("bugfix", "warmup", [{"a": 1}]):
        with pytest.raises(ValueError, match="detail: only the suite 'repos'"):
            load_tasks(source, detail="short")


def test_tasks_survive_json_and_a_file(tmp_path):
    assert [from_json(Task, json.loads(json.dumps(to_json(task)))) for task in TASKS] == TASKS
    path = tmp_path / "repos.jsonl"
    save_tasks(TASKS, path)
    assert load_tasks(path) == TASKS


def test_a_task_written_before_there_were_repositories_still_loads():
    row = to_json(load_tasks("warmup", count=1)[0])
    for name in ("hidden_tests", "fail_to_pass", "pass_to_pass"):
        del row[name]
    task = from_json(Task, row)
    assert task == load_tasks("warmup", count=1)[0] and not task.is_repository


def test_a_broken_folder_is_named(tmp_path):
    folder = tmp_path / "broken"
    folder.mkdir()
    (folder / "task.toml").write_text('entry_file = "a.py"\n')
    with pytest.raises(ValueError, match="broken: folder: expected a folder"):
        read_repository(folder)
    (folder / "base").mkdir()
    with pytest.raises(ValueError, match="broken/task.toml: field 'wrong' is missing"):
        read_repository(folder)


def test_limits_leave_room_for_a_busy_machine():
    assert all(task.limits == Limits(cpu_s=10.0, wall_s=60.0) for task in TASKS)


@pytest.mark.slow
@every_repository
def test_the_sandbox_says_what_pytest_itself_says(name, sandbox, tmp_path):
    """These repositories are our own, so they may run in a process without walls."""
    task = BY_NAME[name]
    files = {**task.files, **task.hidden_tests}
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, "utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", "/dev/null"]
    command += ["--rootdir=.", "--junitxml=report.xml"]
    subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    cases = ElementTree.parse(tmp_path / "report.xml").getroot().iter("testcase")
    told = [(case.get("name"), case.find("failure") is None) for case in cases]
    result = sandbox.run_pytest(files, None, task.limits)
    ours = [(outcome[0].split("::")[1], outcome[1] == "passed") for outcome in result.outcomes]
    assert told and sorted(told) == sorted(ours)


def test_the_documentation_lists_the_twelve_as_they_are():
    text = (FOLDER.parents[1] / "docs" / "repositories.md").read_text("utf-8")
    row = r"^\| `(\w+)` \| .+ \| (\d+) \| (\d) \| (\d+) \+ (\d+) \|$"
    rows = re.findall(row, text, re.MULTILINE)
    assert {row[0]: tuple(map(int, row[1:])) for row in rows} == {
        task.task_id.removeprefix("repos/"): (
            sum(len(content.splitlines()) for content in task.files.values()),
            next(int(tag[-1]) for tag in task.tags if tag.startswith("tier:")),
            len(task.fail_to_pass),
            len(task.pass_to_pass),
        )
        for task in TASKS
    }


def test_the_suite_is_kept_as_readable_files():
    for folder in FOLDER.iterdir():
        names = {path.name for path in folder.iterdir()}
        assert names == {
            "base", "hidden", "hacks", "wrong", "issue.md", "issue-short.md", "issue-located.md",
            "reference.patch", "alternative.patch", "task.toml",
        }  # fmt: skip
    size = sum(path.stat().st_size for path in FOLDER.rglob("*") if path.is_file())
    assert size < 600_000
