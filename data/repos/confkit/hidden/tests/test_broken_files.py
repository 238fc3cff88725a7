import pytest

from confkit import ConfigError, load
from confkit.cli import main


@pytest.fixture
def write(tmp_path):
    def write(text):
        path = tmp_path / "server.ini"
        path.write_text(text)
        return str(path)

    return write


def test_the_issue_s_file(write, capsys):
    path = write("[server]\nhost = example.org\nport 8080\n")
    assert main(["get", path, "server.host", "--default", "localhost"]) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.startswith(f"error: {path}:3: ")


@pytest.mark.parametrize("command", [["list"], ["get", "a"]], ids=["list", "get"])
def test_every_command_says_so(command, write, capsys):
    path = write("a = 1\nnonsense\n")
    assert main([command[0], path, *command[1:]]) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.startswith(f"error: {path}:2: ")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("nonsense\n", 1),
        ("# a comment\n\n; another\nnonsense\n", 4),
        ("motd = welcome\n   to the\n   machine\nnonsense\n", 4),
        ("\n\na = 1\n  # in between\n  goes on\n\n= 3\n", 7),
    ],
    ids=["first", "after comments", "after a long value", "after all of it"],
)
def test_every_line_of_the_file_counts(text, line, write):
    path = write(text)
    with pytest.raises(ConfigError) as told:
        load(path)
    assert str(told.value).startswith(f"{path}:{line}: ")


def test_a_file_that_is_not_there(tmp_path, capsys):
    path = str(tmp_path / "none.ini")
    assert main(["get", path, "a", "--default", "b"]) == 2
    assert capsys.readouterr() == ("", f"error: {path}: no such file\n")


def test_a_missing_key_is_still_exit_status_1(write, capsys):
    assert main(["get", write("a = 1\n"), "b"]) == 1
    assert capsys.readouterr() == ("", "missing: b\n")


def test_an_empty_file_is_no_error(write):
    assert load(write("")) == {} and load(write("# nothing\n")) == {}
