import pytest

from confkit import ConfigError, parse


def test_sections_and_settings():
    assert parse("a = 1\n[server]\nHost = example.org\nport=80\n") == {
        "a": "1",
        "server.host": "example.org",
        "server.port": "80",
    }


def test_comments_and_blank_lines_say_nothing():
    assert parse("# hello\n\n; bye\na = 1 # kept\n") == {"a": "1 # kept"}


def test_a_value_goes_on_in_indented_lines():
    assert parse("motd = welcome\n   to the\n   machine\nb = 2\n") == {
        "motd": "welcome to the machine",
        "b": "2",
    }


@pytest.mark.parametrize("text", ["port 8080", "= 3", "[server"])
def test_other_lines_are_refused(text):
    with pytest.raises(ConfigError):
        parse(text)
