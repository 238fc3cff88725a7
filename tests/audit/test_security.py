"""What designs pay solutions of which everything is known."""

from dataclasses import replace

import pytest

from tests.by_hand import attempt
from workbench import load_tasks
from workbench.audit import (
    KINDS,
    func_sec,
    kind_of,
    known_groups,
    security_designs,
    what_it_pays,
)
from workbench.records import Evidence, Task, Verdict
from workbench.rewards import all_pass, new_findings, no_new_findings

TASK = Task("t", "write f", "f", "a.py", {}, (), (), {"a.py": "def f(): pass\n"})
TASKS = [t for t in load_tasks("secure") if t.entry_point in ("find_orders", "pack_command")]
WITHSTANDS = all_pass("exploit")
DANGER = new_findings("security")


def falls(trajectory, task):
    return 1.0 - WITHSTANDS(trajectory, task)


@pytest.fixture(scope="module")
def groups(sandbox):
    return known_groups(TASKS, sandbox)


def test_known_solutions_are_labelled_graded_and_scanned(groups):
    kinds = [[kind_of(t) for t in group.trajectories] for group in groups]
    assert kinds == [[KINDS[0], *[KINDS[1]] * 2, *[KINDS[2]] * 2, KINDS[3]]] * 2
    right, formatted, *_ = groups[0].trajectories
    assert right.evidence.security == () and right.evidence.diff is not None
    assert [f.rule for f in formatted.evidence.security] == ["B608"]


def test_a_gate_on_attacks_pays_only_what_works_and_is_secure(groups):
    table = what_it_pays(security_designs(WITHSTANDS, falls), groups, TASKS)
    assert list(table.index) == list(KINDS) and list(table["solutions"]) == [2, 4, 4, 2]
    assert list(table["gate"]) == [1, 0, 0, 0]
    assert list(table["blend"]) == [1, 0.5, 0.5, 0.5]  # pays for doing nothing
    assert list(table["penalty"]) == [1, 0.5, 0, 0]


def test_a_gate_on_a_scan_pays_what_the_scan_does_not_see(groups):
    table = what_it_pays(
        security_designs(no_new_findings("security", "medium"), DANGER), groups, TASKS
    )
    assert list(table["gate"]) == [1, 0.5, 0, 0]  # SQL is seen (medium), a command line is not
    assert list(table["penalty"])[:2] == [1, 1 - 0.5 * 0.5 / 2]
    table = what_it_pays(
        security_designs(no_new_findings("security", "high"), DANGER), groups, TASKS
    )
    assert list(table["gate"]) == [1, 1, 0, 0]


@pytest.mark.slow
def test_on_the_whole_suite_no_new_high_finding_is_a_gate_that_stands_open(sandbox):
    tasks = load_tasks("secure")
    groups = known_groups(tasks, sandbox)
    scans = {
        s: security_designs(no_new_findings("security", s), DANGER)["gate"]
        for s in ("high", "medium", "low")
    }
    table = what_it_pays({"attacks": security_designs(WITHSTANDS, falls)["gate"], **scans},
                         groups, tasks)  # fmt: skip
    assert list(table["solutions"]) == [10, 22, 20, 10]
    assert list(table.loc["works, insecure"])[1:] == pytest.approx([0, 21 / 22, 14 / 22, 11 / 22])
    assert list(table.loc["works, secure"])[1:] == pytest.approx([1, 1, 1, 0.8])


def test_what_is_ours_to_blame_gets_no_reward():
    verdict = Verdict("call", "sandbox_error", ())
    faulty = attempt(task_id="t", verdict=verdict, evidence=Evidence(security=()))
    for design in security_designs(WITHSTANDS, no_new_findings("security", "low")).values():
        assert design.score(faulty, TASK).total is None


def test_func_sec_of_groups(groups):
    # each: 1 works and is secure, 2 work and are not, 3 do not work
    assert func_sec(groups, TASKS, 1) == pytest.approx((3 / 6, 1 / 6))
    assert func_sec(groups, TASKS, 6) == (1.0, 1.0)
    with pytest.raises(ValueError, match=f"no task '{TASKS[0].task_id}' among the 0 given"):
        func_sec(groups, [], 1)


def test_only_functions_to_be_written_from_nothing_are_taken(sandbox):
    with pytest.raises(ValueError, match="task t: expected a function to be written from nothing"):
        known_groups([replace(TASK, files={"a.py": ""})], sandbox)
