"""Repositories in images of their own: what pytest printed is read, and nothing is our fault.

Tests that need a Docker engine start one of their own (tests/docker_engine.py) or are skipped.
"""

import io
import os
import shutil
import tarfile
from dataclasses import replace

import pytest

from workbench.environments import Environment
from workbench.grading import final_judgement, grade, is_in_image
from workbench.grading.images import read_run, read_summary
from workbench.records import UNSCORABLE, Limits
from workbench.sandbox.docker import contents, engine, image
from workbench.sandbox.docker.checkout import ImageRun
from workbench.sandbox.pytest_suites import setup
from workbench.tasks import load_tasks, with_repository
from workbench.tasks.swebench import swebench_row
from workbench.workspaces import make_patch, save_repository

SPANS = next(task for task in load_tasks("repos") if task.task_id == "repos/spans")
PYTHON = contents.interpreter()
COMMAND = f"PYTHONPATH=/{contents.PACKAGES} {PYTHON} -m pytest -rA --no-header -p no:cacheprovider"
IMAGE = "spans-testbed:1"


def in_image(name=IMAGE, command=COMMAND, wall_s=120.0):
    """The task `spans` as a row without files would give it."""
    row = {key: value for key, value in swebench_row(SPANS).items() if key != "files"}
    row |= {"image_name": name, "test_cmd": [f"{command} tests"]}
    (task,) = load_tasks([row])
    return replace(task, limits=Limits(wall_s=wall_s, memory_mb=1024))


def patch_of(changes):
    return make_patch(SPANS.files, {**SPANS.files, **changes})


def passed(verdict):
    return {outcome.name for outcome in verdict.of_suite("hidden") if outcome.status == "passed"}


OUTPUT = """\
tests/test_a.py ..F
=== FAILURES ===
PASSED tests/test_a.py::test_made_up
=== short test summary info ===
PASSED tests/test_a.py::test_printed
= 3 passed =
=========================== short test summary info ============================
PASSED tests/test_a.py::test_one
PASSED tests/test_a.py::test_two[a - b]
FAILED tests/test_a.py::test_three[x y] - assert 1 == 2
ERROR tests/test_b.py - ImportError: no
SKIPPED [1] tests/test_a.py:7: later
SKIPPED tests/test_a.py::test_four - later
XFAIL tests/test_a.py::test_five - known
XPASS tests/test_a.py::test_six
FAILED tests/test_a.py::test_one - it was torn down badly
=================== 1 failed, 2 passed, 1 skipped in 0.01s ===================="""


def test_the_last_summary_of_pytest_is_read_and_the_worst_status_counts():
    assert read_summary(OUTPUT) == {
        "tests/test_a.py::test_one": "wrong",
        "tests/test_a.py::test_two[a - b]": "passed",
        "tests/test_a.py::test_three[x y]": "wrong",
        "tests/test_b.py": "error",
        "[1] tests/test_a.py:7: later": "skipped",
        "tests/test_a.py::test_four": "skipped",
        "tests/test_a.py::test_five": "passed",
        "tests/test_a.py::test_six": "wrong",
    }
    assert read_summary("nothing at all") == {}


def row_task(fail_to_pass, pass_to_pass):
    row = swebench_row(SPANS) | {"FAIL_TO_PASS": fail_to_pass, "PASS_TO_PASS": pass_to_pass}
    return load_tasks([{key: value for key, value in row.items() if key != "files"}])[0]


def statuses(task, text, code=1):
    output = f"$ activate\nworkbench: tests begin\n{text}\nworkbench: tests end {code}\n"
    status, outcomes = read_run(task, ImageRun("ok", 0, output))
    return status, [outcome.status for outcome in outcomes]


def test_skipped_keeps_what_passed_and_repairs_nothing():
    four, five = "tests/test_a.py::test_four", "tests/test_a.py::test_five"
    assert statuses(row_task([four], [five]), OUTPUT) == ("ok", ["skipped", "passed"])
    assert statuses(row_task([five], [four]), OUTPUT) == ("ok", ["passed", "passed"])


def test_an_id_that_ends_at_a_blank_is_found_if_there_is_one_answer():
    three = row_task(["tests/test_a.py::test_three[x", "tests/test_a.py::test_t"], [])
    assert statuses(three, OUTPUT) == ("ok", ["wrong", "missing"])
    lines = "short test summary info\nPASSED t.py::t[a b]\nFAILED t.py::t[a c] - no"
    assert statuses(row_task(["t.py::t[a"], []), lines) == ("ok", ["missing"])


SUMMARY = "short test summary info\nPASSED t.py::a\nPASSED t.py::b"
BROKEN_RUNS = {
    "no beginning": ImageRun("ok", 0, f"{SUMMARY}\nworkbench: tests end 0\n"),
    "no end": ImageRun("ok", 0, f"workbench: tests begin\n{SUMMARY}\n"),
    "a bad end and nothing that failed": ImageRun(
        "ok", 0, f"workbench: tests begin\n{SUMMARY}\nworkbench: tests end 2\n"
    ),
    "ended at the deadline": ImageRun(
        "timeout", None, f"workbench: tests begin\n{SUMMARY}\nworkbench: tests end 0\n"
    ),
}


@pytest.mark.parametrize("name", BROKEN_RUNS)
def test_a_run_that_is_not_whole_confirms_nothing(name):
    status, outcomes = read_run(row_task(["t.py::a"], ["t.py::b"]), BROKEN_RUNS[name])
    assert status in ("crash", "timeout")
    assert [outcome.status for outcome in outcomes] == ["missing", "missing"]


def test_no_engine_is_our_fault_and_says_what_is_needed(monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    verdict = grade(in_image(), patch_of(SPANS.reference), None)
    assert verdict.status == "unscorable" and verdict.status in UNSCORABLE and not passed(verdict)
    message = verdict.outcomes[0].message
    assert message.startswith("these tests run in the image 'spans-testbed:1': no Docker engine")
    assert {outcome.status for outcome in verdict.outcomes} == {"missing"}


def test_a_runner_that_is_not_pytest_is_our_fault_too():
    row = swebench_row(SPANS) | {"repo": "django/django"}
    (task,) = load_tasks([{key: value for key, value in row.items() if key != "files"}])
    verdict = grade(task, "", None)
    assert verdict.status == "unscorable"
    assert "test runner of its own" in verdict.outcomes[0].message


def test_an_agent_works_on_the_files_and_is_told_where_the_tests_run(monkeypatch, tmp_path):
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    save_repository(SPANS.files, tmp_path)
    task = with_repository(in_image(), tmp_path)
    assert is_in_image(task) and task.files == SPANS.files
    environment = Environment(task, sandbox=None)
    assert environment.step("run").observation.startswith("error: these tests run in an image")
    verdict, evidence = environment.finish()
    assert verdict.status == "unscorable" and evidence.diff == ""


@pytest.fixture(scope="module")
def testbed(docker_engine):
    """An image with a Python, pytest and the repository of `spans`, whose history goes on."""
    parts, _ = contents.packages(setup()["packages"])
    programs = {f"/bin/{name}": os.path.realpath(shutil.which(name)) for name in ("sh", "rm")}
    client = engine.connect()
    with image._archive(image._files(contents.python([]) | parts | programs)) as file:
        client.import_image_from_stream(image._pieces(file), *IMAGE.split(":"))
    container = client.create_container(IMAGE, command=["/bin/sh"])["Id"]
    repository = {**SPANS.files, "data/picture.bin": "", ".git/the-fix.py": fixed()}
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        for path, text in repository.items():
            content = b"\xff\x00" if path.endswith(".bin") else text.encode()
            entry = tarfile.TarInfo(f"testbed/{path}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    client.put_archive(container, "/", data.getvalue())
    client.commit(container, *IMAGE.split(":"))
    client.remove_container(container)
    yield client
    left = [row["Names"] for row in client.containers(all=True)]
    client.close()
    assert left == []


def fixed():
    return SPANS.reference["spans/interval.py"]


def at_import(code):
    return {"spans/interval.py": f"{code}\n{SPANS.files['spans/interval.py']}"}


SUBMISSIONS = {"nothing": {}, "the reference": SPANS.reference} | {
    wrong.weak_spot: wrong.files for wrong in SPANS.wrong
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SUBMISSIONS)
def test_an_image_and_the_sandbox_agree(name, testbed, sandbox):
    task, changes = in_image(), SUBMISSIONS[name]
    there, here = grade(task, patch_of(changes), None), grade(SPANS, changes, sandbox)
    assert there.status == "ok", there.outcomes[0].message
    assert (there.mode, there.status, there.sandbox) == ("shared", "ok", f"image:{IMAGE}")
    assert passed(there) == passed(here)
    assert (passed(there) == set(SPANS.required)) == (name == "the reference")


HOSTILE = {
    "a conftest that rewrites reports": {
        "conftest.py": "import pytest\n@pytest.hookimpl(hookwrapper=True, tryfirst=True)\n"
        "def pytest_runtest_makereport(item, call):\n    (yield).get_result().outcome = 'passed'\n"
    },
    "tests emptied": {
        "tests/test_calendar.py": "def test_the_review_can_follow_the_stand_up(): pass\n"
    },
    "a configuration": {"pytest.ini": "[pytest]\naddopts = --co\n"},
    "an early exit": at_import("import os\nos._exit(0)"),
    "a summary of its own and an exit": at_import(
        "import os\nos.write(1, b'short test summary info\\n')\n"
        + "".join(f"os.write(1, b'PASSED {name}\\\\n')\n" for name in SPANS.required[:3])
        + "os.write(1, b'\\nworkbench: tests end 0\\n')\nos._exit(0)"
    ),
    "skipped tests": at_import("import pytest\npytest.skip('later', allow_module_level=True)"),
    "the history": at_import(
        "try:\n    exec(open('/testbed/.git/the-fix.py').read())\n    raise SystemExit\n"
        "except FileNotFoundError:\n    pass\n"
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_patches_earn_nothing_in_an_image(name, testbed):
    verdict = grade(in_image(), patch_of(HOSTILE[name]), None)
    assert verdict.status not in UNSCORABLE
    assert not passed(verdict) >= set(SPANS.fail_to_pass)
    repaired = {path: text for path, text in HOSTILE[name].items() if "spans/" not in path}
    if repaired:  # files that are put back do not stop a right change either
        both = grade(in_image(), patch_of({**repaired, **SPANS.reference}), None)
        assert passed(both) == set(SPANS.required)


@pytest.mark.slow
def test_an_image_that_is_missing_is_named(testbed):
    verdict = grade(in_image("nobody/has:this"), "", None)
    assert verdict.status == "unscorable"
    assert verdict.outcomes[0].message == (
        "these tests run in the image 'nobody/has:this': the Docker engine does not have it; get "
        "it first: docker pull nobody/has:this"
    )
    (task,) = load_tasks([{**swebench_row(SPANS), "files": None, "instance_id": "octo__Parrot-3"}])
    verdict = grade(task, "", None)
    assert "docker pull swebench/sweb.eval.x86_64.octo_1776_parrot-3:latest" in (
        verdict.outcomes[0].message
    )


@pytest.mark.slow
def test_a_patch_that_does_not_fit_is_no_solution_and_no_fault(testbed):
    patch = patch_of(SPANS.reference).replace("self.start <= other.end", "self.start <= nothing")
    verdict = grade(in_image(), patch, None)
    assert verdict.status == "compile_error" and not passed(verdict)
    assert "interval.py, hunk 1 does not fit" in verdict.outcomes[0].message


@pytest.mark.slow
def test_an_endless_run_ends_at_its_deadline(testbed):
    task = in_image(wall_s=3.0)
    assert grade(task, patch_of(at_import("while True: pass")), None).status == "timeout"
    assert grade(in_image(), patch_of(SPANS.reference), None).status == "ok"


@pytest.mark.slow
def test_final_files_and_removed_files_are_judged(testbed, tmp_path):
    save_repository(SPANS.files, tmp_path)
    task = with_repository(in_image(), tmp_path)
    verdict, evidence = final_judgement(task, {**task.files, **task.reference}, None)
    assert passed(verdict) == set(SPANS.required) and "spans/interval.py" in evidence.files_touched
    without = {path: text for path, text in task.files.items() if path != "spans/calendar.py"}
    assert not passed(final_judgement(task, without, None)[0]) & set(SPANS.fail_to_pass)


@pytest.mark.slow
def test_a_command_that_cannot_be_run_confirms_nothing(testbed):
    task = in_image(command="no-such-program")
    verdict = grade(task, patch_of(SPANS.reference), None)
    assert verdict.status == "crash" and "exit code 127" in verdict.outcomes[0].message


@pytest.mark.slow
def test_nobody_gets_dropped_by_a_patch_of_a_binary_file_or_a_folder(testbed):
    patch = "--- a/data/picture.bin\n+++ b/data/picture.bin\n@@ -1 +1 @@\n-x\n+y\n"
    verdict = grade(in_image(), patch, None)
    assert verdict.status == "compile_error" and "not UTF-8 text" in verdict.outcomes[0].message
    verdict = grade(in_image(), make_patch({}, {"data": "a folder once\n"}), None)
    assert verdict.status not in UNSCORABLE and not passed(verdict) >= set(SPANS.fail_to_pass)
