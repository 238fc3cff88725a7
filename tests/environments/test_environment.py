import os
import signal
from dataclasses import replace

import pytest

from workbench.environments import ARGUMENTS, CHANGES, LOOKS, Environment
from workbench.records import ToolCall, files_hash

FIX = "edit lib.py 3|    return x * 2"


def say(environment, *texts):
    """The observations of several messages."""
    return [environment.step(text).observation for text in texts]


def kill_for_good(sandbox):
    """End every server and let none start again: a machine without memory, say."""
    for keeper in sandbox._pool._keepers:
        keeper._first.hello = {"tier": "no such tier"}
        os.kill(keeper._worker.server.pid, signal.SIGKILL)


def statuses(verdict, suite):
    return [outcome.status for outcome in verdict.of_suite(suite)]


def test_an_episode_from_the_issue_to_a_solved_task(double, sandbox):
    environment = Environment(double, sandbox)
    assert environment.reset() == "fix double"
    assert say(environment, "ls", "grep double", "cat lib.py", "run", FIX, "run") == [
        "lib.py tests.py",
        "lib.py:1: def double(x):\nlib.py:2: # double of item",
        "1|def double(x):\n2|    # double of item\n3|    return x + 2",
        "FAIL double(5) got 7 want 10",
        "3|    return x * 2",
        "ok 2 passed",
    ]
    last = environment.step("submit")
    assert last.done and last.stop_reason == "submitted" and last.observation == ""
    verdict, evidence = environment.finish()
    assert verdict.status == "ok" and set(statuses(verdict, "hidden")) == {"passed"}
    assert evidence.files_touched == ("lib.py",) and evidence.tampered == ()
    assert "-    return x + 2\n+    return x * 2\n" in evidence.diff


def test_tools_change_the_workspace_as_the_tables_say(double, write_double, sandbox):
    assert {*LOOKS, *CHANGES, "submit"} == {*ARGUMENTS, "write"}
    arguments = {"": "", "FILE": " lib.py", "WORD": " double", "FILE N|TEXT": " lib.py 1|pass"}
    for name, wanted in ARGUMENTS.items():
        environment = Environment(double, sandbox)
        environment.step(name + arguments[wanted])
        assert (environment.files != double.files) == (name in CHANGES), name
    environment = Environment(write_double, sandbox)
    call = environment.step("    return x * 2").tool_call
    assert call.name == "write" and environment.files != write_double.files


def test_run_shows_the_first_failure_only_and_where_an_exception_came_from(double, sandbox):
    environment = Environment(double, sandbox)
    assert say(environment, "edit lib.py 3|    return y", "run")[1] == (
        "NameError lib.py:3: name 'y' is not defined"
    )
    syntax_error = say(environment, "edit lib.py 3|    return (", "run")[1]
    assert syntax_error.startswith("SyntaxError lib.py:3:")


def test_abstaining_ends_the_episode_only_where_it_is_offered(double, sandbox):
    said = Environment(double, sandbox).step("abstain")
    assert (said.observation, said.done) == ("error: unknown command abstain", False)
    said = Environment(double, sandbox, can_abstain=True).step("abstain")
    assert (said.stop_reason, said.tool_call) == ("abstained", ToolCall("abstain", ""))


def test_a_single_turn_may_be_an_abstention_as_well(double, sandbox):
    environment = Environment(replace(double, files={}), sandbox, can_abstain=True)
    assert environment.step("abstain").stop_reason == "abstained"
    assert environment.files == {}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("    while True: pass", "TIMEOUT the tests used up their time"),
        ("    import os; os._exit(0)", "CRASH the tests did not finish"),
    ],
)
def test_a_run_that_does_not_end_well_is_an_observation(double, sandbox, line, said):
    quick = replace(double, limits=replace(double.limits, cpu_s=0.2))
    environment = Environment(quick, sandbox)
    assert say(environment, f"edit lib.py 3|{line}", "run")[1] == said


def test_tests_edited_away_satisfy_run_but_neither_pristine_nor_hidden_tests(double, sandbox):
    environment = Environment(double, sandbox)
    assert say(environment, "edit tests.py 3|pass", "run")[1] == "ok 2 passed"
    environment.step("submit")
    verdict, evidence = environment.finish()
    assert statuses(verdict, "visible_as_left") == ["passed", "passed"]
    assert statuses(verdict, "visible_pristine") == ["passed", "wrong"]
    assert statuses(verdict, "hidden") == ["wrong", "wrong", "wrong"]
    assert evidence.tampered == ("tests.py",)


def test_a_parse_error_is_an_observation_and_uses_up_a_turn(double, sandbox):
    environment = Environment(double, sandbox, max_turns=2)
    step = environment.step("xyz")
    assert (step.tool_call, step.parse_error) == (None, "unknown command xyz")
    assert step.observation == "error: unknown command xyz" and not step.done
    assert environment.num_turns == 1
    assert environment.step("ls").stop_reason == "max_turns"


def test_a_message_cut_at_its_limit_is_a_parse_error_whatever_it_says(double, sandbox):
    environment = Environment(double, sandbox)
    step = environment.step("submit", too_long=True)
    assert step.parse_error == "message too long" and not step.done


def test_an_error_of_a_tool_is_no_parse_error(double, sandbox):
    step = Environment(double, sandbox).step("edit lib.py 9|x")
    assert step.observation == "error: lib.py has no line 9"
    assert step.parse_error is None and step.tool_call == ToolCall("edit", "lib.py 9|x")


def test_turns_run_out_before_anything_is_handed_in(double, sandbox):
    environment = Environment(double, sandbox, max_turns=3)
    steps = [environment.step(text) for text in (FIX, "ls", "run")]
    assert [step.stop_reason for step in steps] == [None, None, "max_turns"]
    assert steps[-1].observation == "ok 2 passed"
    with pytest.raises(ValueError, match="the episode is over .max_turns."):
        environment.step("submit")


def test_a_full_context_ends_the_episode_with_the_workspace_as_it_is(double, sandbox):
    environment = Environment(double, sandbox)
    environment.step(FIX)
    step = environment.out_of_context()
    assert step.done and step.stop_reason == environment.stop_reason == "context"
    assert set(statuses(environment.finish()[0], "hidden")) == {"passed"}


def test_the_same_command_and_answer_three_times_is_a_loop(double, sandbox):
    environment = Environment(double, sandbox, loop_limit=3)
    assert [environment.step("ls").stop_reason for _ in range(3)] == [None, None, "loop"]


def test_no_loop_while_the_workspace_or_the_answer_changes(double, sandbox):
    environment = Environment(double, sandbox, max_turns=20, loop_limit=3)
    for number in range(3):
        steps = [environment.step(f"edit lib.py 2|    # {number}"), environment.step("run")]
        assert not any(step.done for step in steps)
    assert not Environment(double, sandbox).step("ls").done


def test_loops_are_left_to_the_turn_limit_unless_asked_for(double, sandbox):
    environment = Environment(double, sandbox)
    assert [environment.step("ls").stop_reason for _ in range(8)] == [None] * 7 + ["max_turns"]


def test_the_workspace_hash_follows_the_files(double, sandbox):
    environment = Environment(double, sandbox)
    start = environment.workspace_hash
    assert start == files_hash(double.files)
    environment.step("ls")
    assert environment.workspace_hash == start
    environment.step(FIX)
    assert environment.workspace_hash == files_hash(double.reference)
    environment.step("edit lib.py 3|    return x + 2")
    assert environment.workspace_hash == start


def test_a_snapshot_brings_everything_back_also_elsewhere(double, sandbox):
    environment = Environment(double, sandbox, max_turns=3)
    environment.step(FIX)
    state = environment.snapshot()
    say(environment, "edit lib.py 1|pass", "ls")
    other = Environment(double, sandbox, max_turns=3)
    for each in (environment, other):
        each.restore(state)
        assert each.files == double.reference and each.num_turns == 1
        assert each.step("run").observation == "ok 2 passed"
        assert each.step("submit").stop_reason == "submitted"


def test_reset_starts_over(double, sandbox):
    environment = Environment(double, sandbox)
    say(environment, FIX, "submit")
    assert environment.reset() == "fix double"
    assert environment.files == double.files and environment.num_turns == 0
    assert environment.step("run").observation.startswith("FAIL")


def test_long_observations_are_cut(double, sandbox):
    long = replace(double, files={**double.files, "lib.py": "x = 1\n" * 300})
    observation = Environment(long, sandbox, observation_chars=100).step("cat lib.py").observation
    first, last = observation[:100], observation[100:]
    assert first.startswith("1|x = 1\n2|x = 1") and last.startswith("\n... ")


def test_a_single_turn_continues_the_beginning(write_double, sandbox):
    environment = Environment(write_double, sandbox)
    assert environment.reset() == "write f(x): double of item"
    step = environment.step("    y = x\n    return y * 2")
    assert step.done and step.stop_reason == "submitted" and step.tool_call.name == "write"
    assert environment.files == {"solution.py": "def f(x):\n    y = x\n    return y * 2\n"}
    verdict, evidence = environment.finish()
    assert set(statuses(verdict, "hidden")) == {"passed"} and evidence.tampered == ()
    assert "+def f(x):" in evidence.diff


def test_a_single_turn_that_does_not_compile_is_a_verdict(write_double, sandbox):
    environment = Environment(write_double, sandbox)
    environment.step("    return (")
    assert environment.finish()[0].status == "compile_error"


def test_a_single_turn_cut_at_its_limit_hands_nothing_in(write_double, sandbox):
    environment = Environment(write_double, sandbox)
    step = environment.step("    return x * 2", too_long=True)
    assert step.done and step.stop_reason == "max_turns" and environment.files == {}
    assert "passed" not in statuses(environment.finish()[0], "hidden")


def test_without_a_beginning_the_message_is_the_whole_program(write_double, sandbox):
    environment = Environment(replace(write_double, beginning=""), sandbox)
    environment.step("def f(x):\n    return 2 * x")
    assert environment.files == {"solution.py": "def f(x):\n    return 2 * x\n"}
    assert set(statuses(environment.finish()[0], "hidden")) == {"passed"}


def test_a_fault_of_the_sandbox_aborts_the_episode_and_is_never_graded(double):
    from workbench import open_sandbox

    broken = open_sandbox("local", workers=1, reuse=False)
    environment = Environment(double, broken)
    kill_for_good(broken)
    step = environment.step("run")
    assert step.done and step.stop_reason == "abort"
    verdict, _ = environment.finish()
    assert verdict.status == "sandbox_error"
    assert set(statuses(verdict, "hidden")) == {"missing"}
    broken.close()


def test_at_least_one_turn_is_needed(double, sandbox):
    with pytest.raises(ValueError, match="max_turns: expected at least 1, got 0"):
        Environment(double, sandbox, max_turns=0)
