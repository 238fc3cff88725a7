import pytest

from workbench.environments import ARGUMENTS, parse_command, parse_edit
from workbench.records import ToolCall


@pytest.mark.parametrize(
    ("text", "name", "argument"),
    [
        ("ls", "ls", ""),
        ("run", "run", ""),
        ("submit", "submit", ""),
        ("cat lib.py", "cat", "lib.py"),
        ("grep pack", "grep", "pack"),
        ("grep def pack", "grep", "def pack"),
        ("edit lib.py 3|    return xs", "edit", "lib.py 3|    return xs"),
        ("edit lib.py 12|", "edit", "lib.py 12|"),
        ("edit lib.py 1|a | b", "edit", "lib.py 1|a | b"),
    ],
)
def test_a_command_is_a_name_one_blank_and_the_rest(text, name, argument):
    assert parse_command(text) == (ToolCall(name, argument), None)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "empty message"),
        (" ls", "empty message"),
        ("xyz", "unknown command xyz"),
        ("LS", "unknown command LS"),
        ("catlib.py", "unknown command catlib.py"),
        ("open " + "x" * 90, "unknown command open"),
        ("x" * 90, "unknown command " + "x" * 24),
        ("ls lib.py", "ls takes no argument"),
        ("run tests.py", "run takes no argument"),
        ("submit now", "submit takes no argument"),
        ("cat", "cat needs FILE"),
        ("grep  ", "grep needs WORD"),
        ("edit", "edit needs FILE N|TEXT"),
        ("edit lib.py", "edit needs FILE N|TEXT"),
        ("edit lib.py return xs", "edit needs FILE N|TEXT"),
        ("edit lib.py x|return xs", "edit needs FILE N|TEXT"),
        ("edit lib.py -1|return xs", "edit needs FILE N|TEXT"),
        ("edit lib.py ٣|return xs", "edit needs FILE N|TEXT"),
        ("ls\nsubmit", "one command on one line"),
    ],
)
def test_what_is_no_command_says_why(text, error):
    assert parse_command(text) == (None, error)


def test_every_tool_has_a_form_that_parses():
    arguments = {"": "", "FILE": " lib.py", "WORD": " f", "FILE N|TEXT": " lib.py 1|x"}
    for name, takes in ARGUMENTS.items():
        call, error = parse_command(name + arguments[takes])
        assert error is None and call.name == name


def test_an_edit_keeps_the_indentation_of_the_new_text():
    assert parse_edit("lib.py 03|    x = 1 | 2") == ("lib.py", 3, "    x = 1 | 2")
