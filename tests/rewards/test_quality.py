"""Findings, complexity and speed, with values worked out by hand."""

from dataclasses import replace

import pytest

from workbench.records import Evidence, Finding
from workbench.rewards import (
    RewardDesign,
    complexity_change,
    faster,
    new_findings,
    no_new_findings,
    no_new_high,
)
from workbench.rewards.quality import complexity


def finding(severity, new=True):
    return Finding("bandit", "B602", "lib.py", 3, "shell=True", severity, new)


@pytest.fixture
def found(make_trajectory, task):
    """A function from findings to (trajectory, task)."""

    def make(*findings, field="security"):
        evidence = Evidence(**{field: findings})
        return replace(make_trajectory(), evidence=evidence), task

    return make


def test_new_findings_add_up_by_severity_and_stop_at_the_cap(found):
    low, medium, high = map(finding, ("low", "medium", "high"))
    attempts = (found(), found(low), found(low, medium), found(high, medium), found(high, high))
    assert [new_findings()(*a) for a in attempts] == [0.0, 0.1, 0.6, 1.0, 1.0]
    assert [new_findings(cap=3.0)(*a) for a in attempts] == [0.0, 0.1, 0.6, 1.5, 2.0]
    only_high = new_findings("security", {"high": 0.25})
    assert [only_high(*a) for a in attempts] == [0.0, 0.0, 0.0, 0.25, 0.5]


def test_old_findings_cost_nothing_and_fewer_of_them_earn_nothing(found):
    kept, deleted = found(finding("high", new=False)), found()
    assert new_findings()(*kept) == new_findings()(*deleted) == 0.0
    assert no_new_high(*kept) == no_new_high(*deleted) == 1.0


def test_a_penalty_for_findings_in_a_design(found):
    design = RewardDesign(works=(lambda t, k: 1.0, 1.0), findings=(new_findings(), -0.5))
    assert design.score(*found(finding("medium"))).total == 0.75


def test_no_new_high_minds_only_the_high(found):
    assert no_new_high(*found(finding("medium"), finding("low"))) == 1.0
    assert no_new_high(*found(finding("low"), finding("high"))) == 0.0


def test_lint_findings_are_read_from_their_own_collector(found):
    attempt = found(finding(""), field="lint")
    assert new_findings("lint")(*attempt) == 0.1
    assert no_new_findings("lint")(*attempt) == 0.0
    assert no_new_findings()(*found(finding("", new=False), field="lint")) == 1.0


@pytest.mark.parametrize(
    ("component", "collector"),
    [
        (new_findings(), "security"),
        (new_findings("lint"), "lint"),
        (no_new_findings(), "lint"),
        (no_new_high, "security"),
        (faster(), "speed"),
    ],
)
def test_a_collector_that_did_not_run_is_named(component, collector, make_trajectory, task):
    with pytest.raises(ValueError, match=f"needs the collector '{collector}', which did not run"):
        component(make_trajectory(), task)
    design = RewardDesign(works=(lambda t, k: 1.0, 1.0), quality=(component, 1.0))
    assert design.collectors == (collector,)  # so that whoever scores new attempts runs it


@pytest.mark.parametrize(
    "settings",
    [dict(weights={"severe": 1.0}), dict(weights={"high": -1.0}), dict(cap=0.0)],
)
def test_settings_that_cannot_be_meant_are_refused(settings):
    with pytest.raises(ValueError, match="new_findings: expected cap > 0 and weights >= 0"):
        new_findings("lint", **settings)


@pytest.mark.parametrize("maker", [new_findings, no_new_findings])
def test_another_collector_is_refused(maker):
    with pytest.raises(ValueError, match='expected "security" or "lint", got \'style\''):
        maker("style")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("x = 1\n", 1),
        ("if a and b or c:\n    pass\n", 4),  # if, and, or
        ("for x in y:\n    while z:\n        pass\n", 3),
        ("try:\n    a()\nexcept E:\n    b()\nexcept F:\n    c()\n", 3),
        ("y = 1 if a else 2\n", 2),
        ("assert a\n", 2),
        ("match a:\n case 1:\n  pass\n case 2:\n  pass\n case _:\n  pass\n", 3),
        ("f = lambda: [x for x in y if x for z in x]\n", 4),
        ("def f():\n    def g():\n        pass\n", 1),
        ("def f(:\n", None),
        (None, 0),
    ],
)
def test_complexity_counts_decisions(text, value):
    assert complexity(text) == value


@pytest.fixture
def rewritten(make_trajectory, task):
    """A function from final files to (trajectory, task); the task's file has complexity 5."""
    before = task_text(4)

    def make(**files):
        final = {"lib.py": before, **{f"{name}.py": text for name, text in files.items()}}
        final = {path: text for path, text in final.items() if text is not None}
        trajectory = replace(make_trajectory(), final_files=final)
        return trajectory, replace(task, files={"lib.py": before})

    return make


def task_text(num_ifs):
    return "def f(x):\n" + "    if x:\n        x -= 1\n" * num_ifs + "    return x\n"


def test_complexity_may_grow_by_a_fifth(rewritten):
    for num_ifs, value in ((0, 1.0), (4, 1.0), (5, 1.0), (6, 0.0)):  # 5 to 6 is a fifth
        assert complexity_change()(*rewritten(lib=task_text(num_ifs))) == value
    assert complexity_change(0.5)(*rewritten(lib=task_text(6))) == 1.0
    assert complexity_change(0.0)(*rewritten(lib=task_text(5))) == 0.0


def test_complexity_is_added_up_over_the_changed_files(rewritten):
    moved = rewritten(lib=task_text(2), more=task_text(1))  # 3 + 2 is what it was
    assert complexity_change(0.0)(*moved) == 1.0
    assert complexity_change(0.0)(*rewritten(more=task_text(0))) == 0.0  # new, beside the old
    renamed = rewritten(lib=None, other=task_text(4))
    assert complexity_change(0.0)(*renamed) == 1.0


def test_a_program_that_no_longer_parses_is_the_attempts_fault(rewritten):
    assert complexity_change()(*rewritten(lib="def f(:\n")) == 0.0


def test_a_file_that_never_parsed_is_left_out(rewritten):
    trajectory, task = rewritten(lib=task_text(9))
    assert complexity_change()(trajectory, replace(task, files={"lib.py": "def f(:\n"})) == 1.0


def test_a_new_program_is_compared_with_the_reference(rewritten):
    trajectory, task = rewritten(lib=task_text(5))
    task = replace(task, files={})
    assert complexity_change()(trajectory, replace(task, reference={"lib.py": task_text(4)})) == 1.0
    assert complexity_change()(trajectory, replace(task, reference={"lib.py": task_text(3)})) == 0.0


def test_what_is_not_python_is_not_measured(rewritten):
    trajectory, task = rewritten(lib=task_text(9))
    trajectory = replace(trajectory, final_files={**task.files, "notes.md": "if and or\n"})
    assert complexity_change(0.0)(trajectory, task) == 1.0
    with pytest.raises(ValueError, match="`complexity_change` reads Python"):
        complexity_change()(trajectory, replace(task, language="c"))
    with pytest.raises(ValueError, match="expected tolerance >= 0, got -1"):
        complexity_change(-1)


@pytest.mark.parametrize(
    ("cpu_s", "reference_s", "value"),
    [(0.5, 0.5, 1.0), (1.0, 0.5, 0.5), (0.4, 0.6, 1.5), (0.1, 0.6, 2.0), (0.0, 0.6, 2.0)],
)
def test_speed_is_a_ratio_up_to_a_cap(cpu_s, reference_s, value, make_trajectory, task):
    evidence = Evidence(cpu_s=cpu_s, reference_cpu_s=reference_s)
    trajectory = replace(make_trajectory(), evidence=evidence)
    assert faster()(trajectory, task) == pytest.approx(value)


def test_speed_that_cannot_be_measured_is_none(make_trajectory, task):
    quick = replace(make_trajectory(), evidence=Evidence(cpu_s=0.1, reference_cpu_s=0.0))
    assert faster()(quick, task) is None
    assert faster()(make_trajectory(status="sandbox_error"), task) is None
    with pytest.raises(ValueError, match="needs the collector 'timing'"):
        faster()(replace(make_trajectory(), evidence=Evidence(reference_cpu_s=0.1)), task)
    with pytest.raises(ValueError, match="expected cap > 0, got 0"):
        faster(0)


def test_no_new_findings_looks_only_at_what_is_grave_enough(found):
    clean = {
        (): (1, 1, 1, 1),
        ("",): (0, 1, 1, 1),
        ("low",): (0, 0, 1, 1),
        ("low", "medium"): (0, 0, 0, 1),
        ("high", ""): (0, 0, 0, 0),
    }
    for severities, wanted in clean.items():
        attempt = found(*map(finding, severities))
        grades = ("", "low", "medium", "high")
        assert tuple(no_new_findings("security", s)(*attempt) for s in grades) == wanted
    with pytest.raises(ValueError, match="got 'grave'"):
        no_new_findings("security", "grave")
