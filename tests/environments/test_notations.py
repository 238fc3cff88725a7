"""One command, however a chat model writes it."""

import json

import pytest

from workbench.environments import ARGUMENTS, Environment
from workbench.environments.notations import FIELDS, command_line, parse_message
from workbench.records import ToolCall

EDIT = ToolCall("edit", "lib.py 3|    return x * 2")
ARGUED = {"file": "lib.py", "line": 3, "text": "    return x * 2"}


TAGS = """It adds.
<tool_call>
<function=edit>
<parameter=file>
lib.py
</parameter>
<parameter=line>
3
</parameter>
<parameter=text>
    return x * 2
</parameter>
</function>
</tool_call>"""


def call(name, arguments, key="arguments"):
    return json.dumps({"name": name, key: arguments})


@pytest.mark.parametrize(
    "message",
    [
        "edit lib.py 3|    return x * 2",
        f"It adds.\n<tool_call>\n{call('edit', ARGUED)}\n</tool_call>",
        f"<think>\nedit or run?\n</think>\n\n<tool_call>{call('edit', ARGUED)}</tool_call>",
        f"<tool_call>{call('edit', json.dumps(ARGUED))}</tool_call>",  # arguments as a string
        f"<tool_call>{call('edit', {'argument': EDIT.argument})}</tool_call>",
        call("edit", ARGUED, "parameters"),
        TAGS,
        "<think>hm</think>" + TAGS.replace("\n", ""),
        f"```json\n{call('edit', ARGUED)}\n```",
        "A look:\n```\ncat lib.py\n```\nNo:\n```bash\nedit lib.py 3|    return x * 2\n```",
        "<think>x</think>\nedit lib.py 3|    return x * 2",
    ],
)
def test_a_command_is_found_in_every_notation(message):
    assert parse_message(message) == (EDIT, None)


@pytest.mark.parametrize(
    ("message", "why"),
    [
        ("open lib.py", "unknown command open"),
        ("I think it is `cat`", "unknown command I"),
        ("<think>so I run the tests\nrun", "the thinking does not end"),
        (f"<tool_call>{call('ls', {})}</tool_call>" * 2, "one tool call a message, got 2"),
        ("<tool_call>{'name': 'ls'}</tool_call>", "the tool call is not JSON"),
        ("<tool_call>{}</tool_call>", "a tool call needs name and arguments"),
        ("<tool_call>" + '{"name": ' + "[" * 100_000 + "</tool_call>", "the tool call is not JSON"),
        (call("edit", [3]), "a tool call needs a name and an object of arguments"),
        (call("edit", {"file": "lib.py"}), "edit needs line"),
        (call("rm", {"file": "lib.py"}), "unknown command rm"),
        (call("cat", {"file": ""}), "cat needs FILE"),
        ("<tool_call><function=cat></function></tool_call>", "cat needs file"),
        ("<tool_call><function=rm></tool_call>", "unknown command rm"),
        (call("edit", {**ARGUED, "text": "a\nb"}), "one command on one line"),
        ("```\nls\nrun\n```", "one command on one line"),
        ("no block is closed ```ls", "unknown command no"),
        ("", "empty message"),
    ],
)
def test_what_is_no_command_says_why(message, why):
    assert parse_message(message) == (None, why)


def test_every_tool_can_be_called_by_named_arguments():
    assert set(FIELDS) == {*ARGUMENTS, "hand"}
    values = {"file": "lib.py", "word": "f", "line": 1, "text": "x", "message": "lib.py:1"}
    for name in ARGUMENTS:
        line, error = command_line(name, values)
        assert error is None and parse_message(line)[0].name == name


def test_of_many_open_marks_the_message_is_still_read_once():
    """A pattern that searches to the end from each of them would take hours."""
    assert parse_message("<tool_call>" * 200_000 + "```" * 200_000)[0] is None


def test_the_environment_hears_chat_models(double, write_double, sandbox):
    environment = Environment(double, sandbox)
    environment.reset()
    tests = f"<tool_call>{call('run', {})}</tool_call>"
    assert environment.needs_sandbox(tests) and not environment.needs_sandbox("ls")
    assert environment.step(tests).observation.startswith("FAIL")
    assert environment.step(f"<tool_call>{call('edit', ARGUED)}</tool_call>").tool_call == EDIT
    once = Environment(write_double, sandbox)
    once.reset()
    assert once.step("<think>2x</think>Here:\n```python\n    return x * 2\n```").done
    assert "return x * 2" in once.files["solution.py"] and "Here" not in once.files["solution.py"]
