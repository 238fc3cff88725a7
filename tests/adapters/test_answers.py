"""Completions of chat models: which part is the answer, which calls are commands."""

import json
from dataclasses import replace

import pytest

from workbench.adapters import code_of
from workbench.adapters.answers import commands_of, messages_of, text_of
from workbench.adapters.attempt import replay
from workbench.environments.answers import answer_of
from workbench.episodes import rollout
from workbench.policies import ScriptedPolicy
from workbench.tasks import load_tasks

TASK = load_tasks("functions", split="dev", count=1)[0]


@pytest.mark.parametrize(
    "text, code",
    [
        ("x = 1", "x = 1"),
        ("  indented\n", "  indented\n"),
        ("a\n```\nx = 1\n```\nb", "x = 1"),
        ("```python title=a\nx = 1\n```", "x = 1"),
        ("```python\nfirst\n```\nno, better:\n```py\nsecond\n```", "second"),
        ("```python\nfirst\n```\nand\n```python\ncut off", "first"),
        ("```python\ncut off", "```python\ncut off"),
        ('s = "```"\nt = "```"\n', 's = "```"\nt = "```"\n'),
        ("```\n```", ""),
        ("   ```\nx\n   ```  \n", "x"),
        ("```\r\nx\r\n```", "x\r"),
        ("```\r\nx\r\n```\r\nb", "x\r"),
        ("```\n\n\nx\n\n```", "\n\nx\n"),
        ("```\na\n```\nb\n```\n", "a"),
        ("", ""),
    ],
)
def test_the_code_is_the_last_closed_fence_or_the_whole_text(text, code):
    assert code_of(text) == code


def test_a_fence_repeated_a_hundred_thousand_times_is_read_once():
    """What a policy says that has got into a loop: half an hour, were each searched to the end."""
    text = "```python\n" * 100_000
    assert code_of(text) == text
    assert code_of(text + "x\n```") == "```python\n" * 99_999 + "x"


def test_a_fence_with_the_whole_function_closes_the_beginning_first(sandbox):
    whole = TASK.reference["solution.py"]
    fenced = f"Sure:\n```python\n{whole}```\n"
    assert answer_of(TASK, fenced) == f"\n    pass\n\n\n{whole}".rstrip()
    attempt = replay(TASK, fenced, sandbox)
    assert all(o.status == "passed" for o in attempt.trajectory.verdict.of_suite("hidden"))


def test_a_fence_with_the_body_alone_continues_the_beginning():
    body = TASK.reference["solution.py"].removeprefix(TASK.beginning)
    assert answer_of(TASK, f"```python\n{body}```") == body.rstrip()


def test_without_a_fence_the_text_is_the_answer_as_in_our_own_loop():
    whole = TASK.reference["solution.py"]
    assert answer_of(TASK, whole) == whole
    assert answer_of(replace(TASK, beginning=""), f"```\n{whole}\n```") == whole


def test_the_answer_of_a_conversation_is_its_last_assistant_message():
    messages = [
        {"role": "assistant", "content": "first"},
        {"role": "user", "content": "again"},
        {"role": "assistant", "content": [{"type": "text", "text": "sec"}, {"text": "ond"}]},
        {"role": "tool", "content": "4"},
    ]
    assert text_of(messages) == "second" and text_of("text") == "text"
    with pytest.raises(ValueError, match=r"expected a message of the assistant, got roles \['user"):
        text_of([{"role": "user", "content": "hello"}])


def call(name, arguments):
    return {"type": "function", "function": {"name": name, "arguments": arguments}}


@pytest.mark.parametrize(
    "tool_call, command",
    [
        (call("ls", {}), "ls"),
        (call("ls", "{}"), "ls"),
        (call("ls", None), "ls"),
        (call("cat", {"argument": "lib.py"}), "cat lib.py"),
        (call("cat", '{"argument": "lib.py"}'), "cat lib.py"),
        ({"id": "1", "name": "cat", "arguments": '{"argument": "lib.py"}'}, "cat lib.py"),
        (call("edit", {"argument": "lib.py 1|    x"}), "edit lib.py 1|    x"),
        (call("cat", "not json"), "cat not json"),
        (call("cat", "[" * 5000 + "]" * 5000), "cat " + "[" * 5000 + "]" * 5000),
        (call("cat", {"path": "lib.py"}), 'cat {"path": "lib.py"}'),
    ],
)
def test_a_tool_call_is_a_command_whatever_form_its_arguments_have(tool_call, command):
    assert commands_of([{"role": "assistant", "content": "", "tool_calls": [tool_call]}]) == [
        command
    ]


def test_a_closing_remark_is_no_command_and_a_message_in_between_is_one():
    messages = [
        {"role": "assistant", "content": "hmm"},
        {"role": "user", "content": "error: unknown command hmm"},
        {"role": "assistant", "content": None, "tool_calls": [call("ls", {})]},
        {"role": "tool", "name": "ls", "content": "lib.py"},
        {"role": "assistant", "content": "I am done."},
    ]
    assert commands_of(messages) == ["hmm", "ls"]


SCRIPT = ["ls", "cat tests.py", "nonsense", "run", "edit tests.py 1|x = 1", "submit"]


def test_a_trajectory_as_messages_replays_to_the_same_episode(sandbox):
    task = load_tasks("bugfix", split="dev", count=1)[0]
    (ours,) = rollout(ScriptedPolicy(SCRIPT), task, sandbox, n=1).trajectories
    messages = messages_of(ours)
    assert commands_of(messages) == SCRIPT
    assert [m["role"] for m in messages[:6]] == ["assistant", "tool"] * 2 + ["assistant", "user"]
    again = replay(task, json.loads(json.dumps(messages)), sandbox).trajectory
    assert again.final_files == ours.final_files and again.final_files != task.files
    assert again.verdict == ours.verdict and again.stop_reason == "submitted"
    assert [t.observation for t in again.turns] == [t.observation for t in ours.turns]
    assert again.evidence.tampered == ("tests.py",)


def test_what_comes_after_the_end_is_not_played(sandbox):
    task = load_tasks("bugfix", split="dev", count=1)[0]
    messages = [
        {"role": "assistant", "content": "", "tool_calls": [call("submit", {})]},
        {"role": "assistant", "content": "", "tool_calls": [call("ls", {})]},
    ]
    assert len(replay(task, messages, sandbox).turns) == 1


def test_an_episode_that_was_not_handed_in_is_out_of_context(sandbox):
    task = load_tasks("bugfix", split="dev", count=1)[0]
    messages = [{"role": "assistant", "content": "", "tool_calls": [call("ls", {})]}]
    assert replay(task, messages, sandbox).trajectory.stop_reason == "context"


def test_text_for_a_task_with_a_workspace_says_what_is_wanted(sandbox):
    task = load_tasks("bugfix", split="dev", count=1)[0]
    with pytest.raises(ValueError, match="has a workspace: expected a conversation with tool call"):
        replay(task, "submit", sandbox)
