"""Two agents in one environment: who may speak, who hears what."""

from dataclasses import replace

import pytest

from workbench.environments import EDITOR, LOCATOR, Environment
from workbench.records import ToolCall

TWO = (LOCATOR, EDITOR)


@pytest.fixture
def shared(double, sandbox):
    return Environment(double, sandbox, agents=TWO)


def test_the_floor_passes_with_what_was_handed_over_and_nothing_else(shared):
    assert shared.reset() == "fix double" and shared.speaker == "locator"
    assert "return x + 2" in shared.step("cat lib.py").observation
    handed = shared.step("hand lib.py:3")
    assert handed.tool_call == ToolCall("hand", "lib.py:3") and not handed.done
    assert handed.observation == "fix double\nlib.py:3" and shared.speaker == "editor"
    assert shared.step("edit lib.py 3|    return x * 2").observation == "3|    return x * 2"
    assert shared.step("submit").stop_reason == "submitted" and shared.speaker == "editor"
    verdict, _ = shared.finish()
    assert {o.status for o in verdict.of_suite("hidden")} == {"passed"}


def test_an_agent_cannot_do_what_it_has_no_tool_for(shared):
    shared.reset()
    refused = shared.step("edit lib.py 3|    return x * 2")
    assert refused.parse_error == "locator has no edit" and refused.tool_call is None
    assert shared.files["lib.py"] == shared.task.files["lib.py"]
    assert shared.step("submit").parse_error == "locator has no submit"
    shared.step("hand line 3")
    assert shared.step("grep double").parse_error == "editor has no grep"
    assert shared.step("hand lib.py:3").parse_error == "editor has no hand"


@pytest.mark.parametrize("empty", ["hand", "hand ", "hand   "])
def test_a_hand_over_needs_words(shared, empty):
    shared.reset()
    assert shared.step(empty).parse_error == "hand needs TEXT" and shared.speaker == "locator"


def test_handing_over_is_no_command_where_there_is_one_agent(double, sandbox):
    alone = Environment(double, sandbox)
    alone.reset()
    assert alone.speaker == "solver"
    assert alone.step("hand lib.py:3").observation == "error: unknown command hand"


def test_roles_are_told_first_and_only_once_and_the_floor_goes_round(double, sandbox):
    back = replace(EDITOR, tools=(*EDITOR.tools, "hand"), role="You edit.")
    both = Environment(double, sandbox, agents=(replace(LOCATOR, role="You look."), back))
    assert both.reset() == "You look.\nfix double"
    assert both.step("hand lib.py:2").observation == "You edit.\nfix double\nlib.py:2"
    assert both.step("hand not there").observation == "not there" and both.speaker == "locator"
    assert both.step("hand lib.py:3").observation == "lib.py:3" and both.speaker == "editor"


def test_after_so_many_messages_the_last_answer_is_handed_over(double, sandbox):
    agents = (replace(LOCATOR, max_turns=2), EDITOR)
    hurried = Environment(double, sandbox, agents=agents)
    hurried.reset()
    assert hurried.step("ls").observation == "lib.py tests.py"
    said = hurried.step("grep double")
    assert said.observation == "fix double\nlib.py:1: def double(x):\nlib.py:2: # double of item"
    assert hurried.speaker == "editor"


def test_long_words_are_cut_before_they_are_handed_over(double, sandbox):
    short = Environment(double, sandbox, agents=TWO, observation_chars=4)
    short.reset()
    assert short.step("hand abcdefg").observation == "fix double\nabcd\n... 3 more"


def test_a_restored_state_knows_who_speaks(shared, double, sandbox):
    shared.reset()
    before = shared.snapshot()
    shared.step("hand lib.py:3")
    other = Environment(double, sandbox, agents=TWO)
    other.restore(shared.snapshot())
    assert other.speaker == "editor"
    other.restore(before)
    assert other.speaker == "locator" and shared.speaker == "editor"


def test_agents_that_cannot_share_an_episode_are_refused(double, write_double, sandbox):
    with pytest.raises(ValueError, match="expected different names"):
        Environment(double, sandbox, agents=(LOCATOR, LOCATOR))
    with pytest.raises(ValueError, match="at least one tool each"):
        Environment(double, sandbox, agents=(LOCATOR, replace(EDITOR, tools=())))
    with pytest.raises(ValueError, match="an answer of one turn has one author"):
        Environment(write_double, sandbox, agents=TWO)
    with pytest.raises(ValueError, match=r"expected one of \['locator', 'editor'\], got 'chief'"):
        Environment(double, sandbox, agents=TWO).give_floor("chief")
