"""Records: JSON out and in again, and errors that name the place."""

import json
import math
from dataclasses import replace

import pytest

from tests.by_hand import TASK, outcomes
from workbench.records import (
    Action,
    Case,
    Evidence,
    Group,
    SamplerSettings,
    SubsetValue,
    TestOutcome,
    ToolCall,
    Trajectory,
    Turn,
    TurnValue,
    Verdict,
    files_hash,
    from_json,
    in_numbers,
    to_json,
)


def trajectory():
    action = Action((5, 6, 2), (-0.1, -2.5, -1e-7), "run", "end_of_turn", 4, (1, 3, 9, 2, 4))
    return Trajectory(
        task_id="bugfix/dev/0",
        seed=3,
        sampler=SamplerSettings(),
        turns=(Turn(action, ToolCall("run", ""), None, "ok 2 passed", "ab"),),
        final_files={"lib.py": "x = 1\n"},
        verdict=Verdict("call", "ok", (TestOutcome("hidden:1", "hidden", "passed"),)),
        evidence=Evidence(diff="", files_touched=(), tampered=()),
        stop_reason="submitted",
        policy_version="v",
    )


def test_a_group_survives_json_bit_for_bit():
    group = Group("bugfix/dev/0", "v", (trajectory(), trajectory()))
    assert from_json(Group, json.loads(json.dumps(to_json(group)))) == group


def test_cases_keep_types_that_json_has_not():
    case = Case(((1, [2.0]), {3: {4}}, b"5"), float("nan"))
    back = from_json(Case, json.loads(json.dumps(to_json(case))))
    assert back.args == case.args and type(back.args[0]) is tuple and math.isnan(back.expected)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"seed": "3"}, r"Trajectory\.seed: expected int, got str '3'"),
        ({"colour": 1}, r"Trajectory: unknown fields \['colour'\]"),
        ({"stop_reason": "tired"}, r"Trajectory\.stop_reason: expected one of"),
        ({"turns": {}}, r"Trajectory\.turns: expected a list"),
        ({"turns": [{"action": 1}]}, r"Trajectory\.turns\[0\]: field 'tool_call' is missing"),
    ],
)
def test_a_broken_field_is_named(change, message):
    with pytest.raises(ValueError, match=message):
        from_json(Trajectory, {**to_json(trajectory()), **change})


def test_a_missing_field_is_named():
    row = to_json(trajectory())
    del row["verdict"]
    with pytest.raises(ValueError, match="field 'verdict' is missing"):
        from_json(Trajectory, row)


def test_asking_for_a_suite_that_was_never_run_says_which_were():
    with pytest.raises(ValueError, match=r"'visible_pristine' was not run .*\['hidden'\]"):
        trajectory().verdict.of_suite("visible_pristine")


def test_the_hash_of_files_sees_every_change_of_path_and_text():
    assert files_hash({"a": "1", "b": "2"}) == files_hash({"b": "2", "a": "1"})
    assert len({files_hash(f) for f in ({"a": "12"}, {"a1": "2"}, {"a": "1", "2": ""})}) == 3


@pytest.mark.parametrize(
    "change, message",
    [
        ({"args": 3}, r"Case\.args: expected a tagged tuple, got int 3"),
        ({"args": {"list": []}}, "Case: expected args and expected as tagged data"),
        ({"comparison": "near"}, r"Case\.comparison: expected one of"),
        ({"tolerance": None}, r"Case\.tolerance: expected a number, got NoneType None"),
        ({"tolerance": 10**400}, r"Case\.tolerance: expected a smaller number, got int 1000"),
    ],
)
def test_a_broken_case_is_named(change, message):
    with pytest.raises(ValueError, match=message):
        from_json(Case, {**to_json(Case((1,), 2)), **change})


def test_how_a_case_compares_survives_json():
    case = Case((1,), 2.0, "close", 0.5)
    assert from_json(Case, json.loads(json.dumps(to_json(case)))) == case


def test_a_group_stored_before_there_were_values_still_reads():
    group = Group("bugfix/dev/0", "v", (trajectory(),))
    row = to_json(group)
    del row["turn_values"], row["subset_values"]
    assert from_json(Group, row) == group


def test_values_of_turns_and_subsets_survive_json():
    values = (TurnValue(0, -1, 0.375, 0.18, 8, "reroll"),)
    subsets = (SubsetValue(0, (0,), 1.0), SubsetValue(0, (), 0.0))
    group = Group("bugfix/dev/0", "v", (trajectory(),), values, subsets)
    assert from_json(Group, json.loads(json.dumps(to_json(group)))) == group


@pytest.mark.parametrize(
    ("finish", "cut"),
    [("end_of_turn", False), ("fault", False), ("length", True), ("context", True)],
)
def test_an_attempt_ran_out_of_tokens_if_its_last_message_did(finish, cut):
    first = trajectory()
    last = replace(first.turns[0], action=replace(first.turns[0].action, finish=finish))
    assert replace(first, turns=(*first.turns, last)).ran_out_of_tokens == cut
    assert not replace(first, turns=(last, *first.turns)).ran_out_of_tokens


def test_the_tokens_of_an_attempt_count_a_kept_prefix_once():
    first = trajectory()
    again = replace(first.turns[0].action, kept_prefix=8, new_ids=(7,))
    two = replace(first, turns=(*first.turns, replace(first.turns[0], action=again)))
    assert (first.num_tokens, two.num_tokens, two.num_action_tokens) == (8, 12, 6)


def test_a_group_and_its_attempts_print_as_a_line_each():
    """By hand: three tokens a turn; what was never handed in is not solved."""
    right, late = trajectory(), replace(trajectory(), stop_reason="max_turns")
    unjudged = replace(right, verdict=Verdict("call", "unscorable", ()))
    assert repr(late) == (
        "Trajectory('bugfix/dev/0', 1 turn, 3 tokens, max_turns, verdict ok, "
        "1 of 1 hidden tests passed)"
    )
    group = Group("bugfix/dev/0", "v", (right, late, unjudged))
    assert repr(group) == "Group('bugfix/dev/0', 3 trajectories, 1 solved, 9 tokens)"
    assert in_numbers([group, group]) == "2 groups, 6 trajectories, 2 solved, 18 tokens"
    assert repr(Group("a", "v", (unjudged,))) == "Group('a', 1 trajectory, 3 tokens)"


def test_a_task_and_a_verdict_print_as_a_line_without_what_decides():
    """By hand: the solution, the hidden cases and the tests' words are left out."""
    task = replace(
        TASK,
        statement="fix f\n" + "again and " * 9,
        hidden=(Case((3,), "secret"), Case((4,), "secret")),
        reference={"lib.py": "secret"},
    )
    short = "fix f" + 5 * " again and" + " ..."  # 59 of at most 60 characters
    assert repr(task) == f"Task('by-hand', {short!r}, 1 file, 2 hidden cases)"
    repository = replace(TASK, fail_to_pass=("t.py::secret",), hidden_tests={"t.py": "secret"})
    assert repr(repository) == "Task('by-hand', 'fix f', 1 file, 1 required test)"
    assert repr(replace(TASK, test_code="secret")) == "Task('by-hand', 'fix f', 1 file, test code)"
    judged = Verdict("call", "ok", outcomes("secret", visible_pristine="pp", hidden="pwt"))
    assert repr(judged) == "Verdict(call, ok, visible_pristine 2 of 2 passed, hidden 1 of 3 passed)"
    assert repr(Verdict("split", "sandbox_error", ())) == "Verdict(split, sandbox_error)"
