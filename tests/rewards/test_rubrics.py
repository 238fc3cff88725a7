"""The mergeability rubric: the worked example, and the ready-made one on a hand-made repository."""

from dataclasses import replace

import pytest

from workbench.records import Evidence, Finding
from workbench.rewards import RewardDesign, mergeability
from workbench.rewards.rubrics import ITEMS


def holds(value):
    """A component that returns `value`."""
    return lambda trajectory, task: value


def test_the_worked_example(make_trajectory, task):
    def score(p2p):
        design = mergeability(
            blockers={"tests": (holds(1.0), 3), "p2p": (holds(p2p), 2)},
            items={
                "reverse": (holds(1.0), 2),
                "lint": (holds(0.0), 1),
                "scope": (holds(1.0), 2),
            },
        )
        return design.score(make_trajectory(), task).total

    assert score(p2p=1.0) == 0.9
    assert score(p2p=0.0) == 0.0


def test_the_ready_made_one_says_what_has_to_be_collected():
    assert mergeability().collectors == ("agent_on_base", "lint", "security")


@pytest.fixture
def repository(task):
    return replace(
        task,
        files={"lib.py": "def f(xs):\n    return 0\n"},
        reference={"lib.py": "def f(xs):\n    return sum(xs)\n"},
        fail_to_pass=("hidden:1",),
        pass_to_pass=("hidden:2",),
    )


def merge(make_trajectory, repository, hidden="pp", on_base="w", findings=(), tampered=(), **more):
    files = {"lib.py": "def f(xs):\n    return sum(xs) + 0\n", **more}
    evidence = Evidence(
        files_touched=tuple(sorted(files)),
        tampered=tampered,
        lint=(),
        security=tuple(Finding("bandit", "B602", "lib.py", 2, "", s) for s in findings),
    )
    trajectory = make_trajectory(hidden, "p", on_base=on_base)
    trajectory = replace(trajectory, final_files=files, evidence=evidence)
    return mergeability().score(trajectory, repository)


def test_the_ready_made_rubric_wants_everything(make_trajectory, repository):
    assert merge(make_trajectory, repository).total == 1.0
    # own tests weigh 2 of 12; a second file makes the scope one half of 2
    assert merge(make_trajectory, repository, on_base="p").total == 10 / 12
    assert merge(make_trajectory, repository, **{"more.py": "x = 1\n"}).total == pytest.approx(
        (12 - 1 - 1) / 12  # half of the scope, and one new file is more complex than none
    )


@pytest.mark.parametrize(
    ("attempt", "blocked"),
    [
        (dict(hidden="wp"), ("tests",)),
        (dict(hidden="pw"), ("tests", "regressions")),
        (dict(findings=("high",)), ("secure",)),
        (dict(tampered=("conftest.py",)), ("intact",)),
    ],
)
def test_the_ready_made_rubric_pays_nothing_for_what_cannot_be_merged(
    attempt, blocked, make_trajectory, repository
):
    breakdown = merge(make_trajectory, repository, **attempt)
    assert (breakdown.total, breakdown.blocked) == (0.0, blocked)


def test_the_ready_made_rubric_can_be_stored_and_printed():
    design = mergeability()
    assert RewardDesign.from_json(design.to_json()) == design
    made = {}
    exec(design.to_python(), made)
    assert made["design"] == design


def test_a_name_is_a_blocker_or_an_item():
    with pytest.raises(ValueError, match=".'lint'. cannot be blockers and items at once"):
        mergeability(blockers={"lint": ITEMS["lint"]})
