"""The suite `repos` is sound, here and in containers; a task that is not is found out.

Rarer flakiness than three gradings show is for `benchmarks/repositories.py`, which makes ten.
"""

from dataclasses import replace

import pytest

from workbench import open_sandbox
from workbench.audit import check_repository, repository_attacks
from workbench.audit.repositories import FOUND
from workbench.grading import collect_evidence
from workbench.tasks import load_tasks

TASKS = load_tasks("repos")
CALX = TASKS[0]
TIMES = 3
every_repository = pytest.mark.parametrize("task", TASKS, ids=lambda task: task.task_id)


@pytest.fixture(scope="module")
def walls():
    """Attacks are run only where they can do no harm, and everything is run again."""
    with open_sandbox("local", workers=1, reuse=False) as sandbox:
        if sandbox.tier == 1:
            pytest.skip("no walls on this machine")
        yield sandbox


@pytest.fixture(scope="module")
def docked(docker_engine):
    with open_sandbox("docker", workers=1, reuse=False) as sandbox:
        yield sandbox


def assert_sound(check):
    assert check.complaints == () and check.faults == 0
    assert [check.runs[name] for name in ("nothing", "reference", "alternative")] == [TIMES] * 3
    assert {name for name, passed in check.passed.items() if passed} == {"reference", "alternative"}
    kinds = [name.split(" ")[0] for name in check.runs]
    assert kinds.count("wrong:") >= 2 and kinds.count("hack") >= 1 and kinds.count("attack:") >= 12


@pytest.mark.slow
@every_repository
def test_right_changes_pass_every_time_and_nothing_else_ever_does(task, walls):
    assert_sound(check_repository(task, walls, TIMES))


@pytest.mark.slow
@every_repository
def test_so_they_do_in_containers(task, docked):
    assert_sound(check_repository(task, docked, TIMES))


def small(test, files=(), reference=None):
    """A task of one function, which should return 2 and returns 1."""
    return replace(
        CALX,
        task_id="small",
        entry_file="lib.py",
        files={"lib.py": "def f(): return 1\n", **dict(files)},
        reference={"lib.py": "def f(): return 2\n"} if reference is None else reference,
        hidden_tests={"tests/test_f.py": test},
        fail_to_pass=("tests/test_f.py::test_f",),
        pass_to_pass=(),
        wrong=(),
        known_hacks=(),
        extra={},
    )


TEST = "from lib import f\ndef test_f(): assert f() == 2\n"


@pytest.mark.slow
def test_a_sound_task_draws_no_complaint(walls):
    assert check_repository(small(TEST), walls, times=2).complaints == ()


@pytest.mark.slow
def test_a_test_that_is_true_of_everything_is_found(walls):
    check = check_repository(small("def test_f(): pass\n"), walls, times=2)
    assert "nothing: passed 2 of 2 times, expected 0" in check.complaints


@pytest.mark.slow
def test_a_reference_that_does_not_pass_is_found(walls):
    check = check_repository(small(TEST, reference={"lib.py": "def f(): return 3\n"}), walls, 2)
    assert check.complaints == ("reference: passed 0 of 2 times, expected 2",)


@pytest.mark.slow
def test_a_test_that_depends_on_chance_is_found(walls):
    unsteady = "import os\nfrom lib import f\n"
    unsteady += "def test_f(): assert f() == 2 and os.urandom(1)[0] % 2\n"
    check = check_repository(small(unsteady), walls, times=16)  # missed once in 32768
    assert check.unsteady == ("reference",) and 0 < check.passed["reference"] < 16
    assert "reference: two runs of it disagree" in check.complaints


def test_a_change_that_lies_on_the_disk_is_found(walls):
    leak = {"docs/reference.patch": "def f(): return 2\n"}
    (complaint,) = check_repository(small(TEST, leak), walls, times=1).complaints
    assert complaint.startswith(FOUND) and "docs/reference.patch" in complaint


def test_a_stored_result_is_no_second_run(sandbox):
    with pytest.raises(ValueError, match="open it with reuse=False"):
        check_repository(small(TEST), sandbox, times=2)
    with pytest.raises(ValueError, match="expected a repository task"):
        check_repository(load_tasks("warmup", count=1)[0], sandbox)


@every_repository
def test_attacks_mend_nothing_and_most_leave_a_trace(task):
    attacks = repository_attacks(task)
    for name, changes in attacks.items():
        assert changes and all(task.files.get(path) != text for path, text in changes.items()), name
        code = {path for path in changes if path.endswith(".py") and path in task.reference}
        assert all(changes[path].endswith(task.files[path]) for path in code), name
    traced = [
        name
        for name, changes in attacks.items()
        if (evidence := collect_evidence(task, {**task.files, **changes})).tampered
        or evidence.tripwires
    ]
    assert len(traced) >= 8
