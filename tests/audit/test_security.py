"""What designs pay solutions of which everything is known."""

from dataclasses import replace

import pytest

from workbench import load_tasks
from workbench.audit import (
    KINDS,
    clean_of,
    danger,
    func_sec,
    kind_of,
    known_groups,
    security_designs,
    what_it_pays,
)
from workbench.records import (
    Evidence,
    Finding,
    SamplerSettings,
    Task,
    TestOutcome,
    Trajectory,
    Verdict,
)
from workbench.rewards import all_pass

TASK = Task("t", "write f", "f", "a.py", {}, (), (), {"a.py": "def f(): pass\n"})
TASKS = [t for t in load_tasks("secure") if t.entry_point in ("find_orders", "pack_command")]
WITHSTANDS = all_pass("exploit")


def falls(trajectory, task):
    return 1.0 - WITHSTANDS(trajectory, task)


@pytest.fixture(scope="module")
def groups(sandbox):
    return known_groups(TASKS, sandbox)


def attempt(*severities, new=True):
    """An attempt that works, with a finding of each severity."""
    findings = tuple(Finding("bandit", "B1", "a.py", 1, "", s, new) for s in severities)
    passed = tuple(TestOutcome(f"{s}:1", s, "passed") for s in ("hidden", "exploit"))
    return Trajectory(
        "t", 0, SamplerSettings(), (), {}, Verdict("call", "ok", passed),
        Evidence(security=findings), "submitted",
    )  # fmt: skip


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
    table = what_it_pays(security_designs(clean_of("medium"), danger), groups, TASKS)
    assert list(table["gate"]) == [1, 0.5, 0, 0]  # SQL is seen (medium), a command line is not
    assert list(table["penalty"])[:2] == [1, 1 - 0.5 * 0.5 / 2]
    table = what_it_pays(security_designs(clean_of("high"), danger), groups, TASKS)
    assert list(table["gate"]) == [1, 1, 0, 0]


@pytest.mark.slow
def test_on_the_whole_suite_no_new_high_finding_is_a_gate_that_stands_open(sandbox):
    tasks = load_tasks("secure")
    groups = known_groups(tasks, sandbox)
    scans = {s: security_designs(clean_of(s), danger)["gate"] for s in ("high", "medium", "low")}
    table = what_it_pays({"attacks": security_designs(WITHSTANDS, falls)["gate"], **scans},
                         groups, tasks)  # fmt: skip
    assert list(table["solutions"]) == [10, 22, 20, 10]
    assert list(table.loc["works, insecure"])[1:] == pytest.approx([0, 21 / 22, 14 / 22, 11 / 22])
    assert list(table.loc["works, secure"])[1:] == pytest.approx([1, 1, 1, 0.8])


def test_findings_that_were_there_before_cost_nothing():
    assert clean_of("low")(attempt("high", new=False), TASK) == 1.0
    assert danger(attempt("high", new=False), TASK) == 0.0


@pytest.mark.parametrize(
    ("severities", "clean", "sum_of_gravity"),
    [
        ((), (1, 1, 1), 0.0),
        (("low",), (0, 1, 1), 0.1),
        (("low", "medium"), (0, 0, 1), 0.6),
        (("high", "medium"), (0, 0, 0), 1.0),
        (("",), (1, 1, 1), 0.0),
    ],
)
def test_danger_adds_up_to_one_and_clean_looks_at_the_gravest(severities, clean, sum_of_gravity):
    trajectory = attempt(*severities)
    found = tuple(clean_of(s)(trajectory, TASK) for s in ("low", "medium", "high"))
    assert found == clean and danger(trajectory, TASK) == pytest.approx(sum_of_gravity)


def test_what_was_not_collected_is_an_error_and_what_is_ours_to_blame_no_reward():
    bare = replace(attempt(), evidence=Evidence())
    with pytest.raises(ValueError, match="needs the collector 'security'"):
        danger(bare, TASK)
    with pytest.raises(ValueError, match="expected low, medium or high, got 'grave'"):
        clean_of("grave")
    faulty = replace(attempt(), verdict=replace(attempt().verdict, status="sandbox_error"))
    for design in security_designs(WITHSTANDS, clean_of("low")).values():
        assert design.score(faulty, TASK).total is None


def test_func_sec_of_groups(groups):
    # each: 1 works and is secure, 2 work and are not, 3 do not work
    assert func_sec(groups, TASKS, 1) == pytest.approx((3 / 6, 1 / 6))
    assert func_sec(groups, TASKS, 6) == (1.0, 1.0)


def test_only_functions_to_be_written_from_nothing_are_taken(sandbox):
    with pytest.raises(ValueError, match="task t: expected a function to be written from nothing"):
        known_groups([replace(TASK, files={"a.py": ""})], sandbox)
