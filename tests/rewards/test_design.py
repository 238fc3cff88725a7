import pickle
from dataclasses import replace

import numpy as np
import pytest

from workbench.credit import group_advantages
from workbench.rewards import (
    RewardDesign,
    Scores,
    all_pass,
    intact,
    overlong,
    parses,
    tampered,
    totals,
    turn_penalty,
)

NAIVE = RewardDesign(tests=(all_pass("visible_as_left"), 1.0))
HONEST = RewardDesign(tests=(all_pass("hidden"), 1.0), tampering=(tampered, -1.0))


def test_a_breakdown_keeps_raw_weight_and_sum_apart(make_trajectory, task):
    breakdown = HONEST.score(make_trajectory(tampered=("tests.py",)), task)
    assert [(p.name, p.raw, p.weighted) for p in breakdown.parts] == [
        ("tests", 1.0, 1.0),
        ("tampering", 1.0, -1.0),
    ]
    assert breakdown.total == 0.0


def test_the_same_cheat_is_paid_by_one_design_and_fined_by_another(make_trajectory, task):
    cheat = make_trajectory(hidden="wwww", as_left="pp", tampered=("tests.py",))
    assert NAIVE.score(cheat, task).total == 1.0
    assert HONEST.score(cheat, task).total == -1.0


def test_one_part_that_cannot_judge_leaves_no_total(make_trajectory, task):
    breakdown = HONEST.score(make_trajectory("", "", status="sandbox_error"), task)
    assert breakdown.total is None
    assert [part.raw for part in breakdown.parts] == [None, 0.0]


@pytest.mark.parametrize(
    "design",
    [
        RewardDesign(short=(overlong(0, 10), 1.0)),
        RewardDesign(intact=(intact, 1.0), optional=("intact",)).normalised(),
        RewardDesign(parses=(parses, 1.0), tests=(all_pass("hidden"), 1.0)).blockers("parses"),
        RewardDesign(syntax=(parses, 1.0), turns=(turn_penalty(2, 8), 1.0)).gate(
            "turns", needs="syntax"
        ),
    ],
    ids=["no tests", "optional", "blocked", "gated"],
)
def test_an_aborted_episode_has_no_reward_under_any_design(
    make_trajectory, make_group, task, design
):
    handed_in = make_trajectory()
    aborted = replace(
        make_trajectory(status="sandbox_error", stop="abort"), final_files={"notes.txt": ""}
    )
    group = make_group(handed_in, aborted)
    assert design.score(handed_in, task).total is not None
    breakdown = design.score(aborted, task)
    assert breakdown.total is None and breakdown.blocked == ()
    assert np.isnan(totals(design.score_groups([group], [task]))[0]).tolist() == [False, True]
    assert np.isnan(design.score_many([group], [task])["reward"]).tolist() == [False, True]


def test_a_plain_function_is_a_component(make_trajectory, task):
    def short(trajectory, task):
        return len(trajectory.turns) < 5

    assert RewardDesign(short=(short, 0.5)).score(make_trajectory(), task).total == 0.5
    assert "short=(short, 0.5)" in repr(RewardDesign(short=(short, 0.5)))


def test_outcome_plus_turn_penalty_gives_the_worked_numbers_of_the_nebius_recipe(
    make_trajectory, make_group, task
):
    design = RewardDesign(tests=(all_pass("hidden"), 1.0), turns=(turn_penalty(10, 40), 1.0))
    solved, failed = "pppp", "wwww"
    group = make_group(
        make_trajectory(solved, num_turns=20),
        make_trajectory(solved, num_turns=40),
        make_trajectory(failed, num_turns=8),
        make_trajectory(failed, num_turns=40),
    )
    rewards = totals(design.score_groups([group], [task]))
    assert np.allclose(rewards, [[2 / 3, 0, 0, -1]])
    population = group_advantages(rewards, ddof=0, eps=0.0)
    assert np.allclose(population, [[1.260252, 0.140028, 0.140028, -1.540308]], atol=1e-5)
    sample = group_advantages(rewards, eps=0.0)
    assert np.allclose(sample, [[1.09141, 0.121268, 0.121268, -1.333946]], atol=1e-5)


def test_a_table_has_a_row_a_trajectory_and_a_column_a_component(make_trajectory, make_group, task):
    fault = make_trajectory("", "", status="unscorable")
    group = make_group(make_trajectory(), make_trajectory("pwpp", stop="max_turns"), fault)
    table = HONEST.score_many([group], [task])
    assert list(table.columns) == [
        *("group", "trajectory", "task_id", "stop_reason", "num_turns"),
        *("tests", "tampering", "reward"),
    ]
    assert table["reward"].isna().tolist() == [False, False, True]
    assert table["tests"][:2].tolist() == [1.0, 0.0]
    assert table["stop_reason"].tolist() == ["submitted", "max_turns", "submitted"]


def test_a_stored_run_is_scored_with_its_own_tasks(make_trajectory, make_group, task):
    class Run:
        groups, tasks = [make_group(make_trajectory())], [task]

    assert HONEST.score_many(Run())["reward"].tolist() == [1.0]
    with pytest.raises(ValueError, match="tasks: expected the tasks of these groups"):
        HONEST.score_many(Run.groups)


def test_the_table_of_a_stored_run_says_where_in_it_a_row_stands(make_trajectory, make_group, task):
    class Groups(list):
        places = (("rft", 3), ("rl", 0))

    class Run:
        groups = Groups([make_group(make_trajectory()), make_group(*[make_trajectory()] * 2)])
        tasks = [task]

    table = HONEST.score_many(Run())
    assert table.columns[:3].tolist() == ["stage", "iteration", "group"]
    assert table["stage"].tolist() == ["rft", "rl", "rl"]
    assert table["iteration"].tolist() == [3, 0, 0]
    assert table.equals(HONEST.score_many(Run.groups, [task]))
    assert "stage" not in HONEST.score_many(list(Run.groups), [task])


def test_what_is_no_design_is_not_scored(make_trajectory, make_group, task):
    with pytest.raises(ValueError, match="design: expected a RewardDesign, got 'hidden'"):
        Scores.of([make_group(make_trajectory())], [task], "hidden")


def test_totals_mark_what_is_left_out_and_fill_short_groups(make_trajectory, make_group, task):
    fault = make_trajectory("", "", status="unscorable")
    groups = [make_group(make_trajectory(), fault, make_trajectory("w")), make_group(fault)]
    rewards = totals(HONEST.score_groups(groups, [task]))
    assert np.array_equal(rewards, [[1, np.nan, 0], [np.nan] * 3], equal_nan=True)


def test_a_design_prints_as_the_code_that_makes_it():
    assert eval(repr(HONEST), globals()) == HONEST


def test_a_design_reaches_another_process():
    assert pickle.loads(pickle.dumps(HONEST)) == HONEST


@pytest.mark.parametrize(
    ("components", "message"),
    [
        ({}, "at least one"),
        ({"tests": tampered}, "expected .component, weight."),
        ({"tests": (tampered, float("nan"))}, "finite number as weight"),
        ({"reward": (tampered, 1.0)}, "'reward' is a column"),
    ],
)
def test_a_design_that_cannot_work_is_refused(components, message):
    with pytest.raises(ValueError, match=message):
        RewardDesign(**components)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "1 point", "1", [1.0]])
def test_a_component_that_returns_no_number_is_named(make_trajectory, task, value):
    design = RewardDesign(odd=(lambda trajectory, task: value, 1.0))
    with pytest.raises(ValueError, match="component 'odd': expected a finite number or None"):
        design.score(make_trajectory(), task)


def test_a_component_that_does_not_take_a_trajectory_and_its_task_is_named():
    with pytest.raises(ValueError, match=r"^odd: .* component\(trajectory, task\), got <function"):
        RewardDesign(odd=(lambda trajectory: 1.0, 1.0))


def test_a_group_in_the_place_of_a_trajectory_is_refused(make_trajectory, make_group, task):
    with pytest.raises(ValueError, match="trajectory: expected a Trajectory, got Group"):
        HONEST.score(make_group(make_trajectory()), task)


def test_the_wrong_task_is_refused(make_trajectory, make_group, task):
    other = replace(task, task_id="other")
    with pytest.raises(ValueError, match="expected the task 'by-hand'"):
        HONEST.score(make_trajectory(), other)
    with pytest.raises(ValueError, match="no task 'by-hand' among the 1 given"):
        HONEST.score_groups([make_group(make_trajectory())], [other])
