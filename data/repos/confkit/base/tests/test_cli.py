import pytest

from confkit.cli import main


@pytest.fixture
def server(tmp_path):
    path = tmp_path / "server.ini"
    path.write_text("[server]\nhost = example.org\nport = 80\n")
    return str(path)


def test_get_prints_one_setting(server, capsys):
    assert main(["get", server, "server.host"]) == 0
    assert capsys.readouterr().out == "example.org\n"


def test_get_falls_back_to_the_default(server, capsys):
    assert main(["get", server, "server.user", "--default", "nobody"]) == 0
    assert capsys.readouterr().out == "nobody\n"


def test_a_missing_key_is_exit_status_1(server, capsys):
    assert main(["get", server, "server.user"]) == 1
    assert capsys.readouterr().err == "missing: server.user\n"


def test_list_prints_all_settings_sorted(server, capsys):
    assert main(["list", server]) == 0
    assert capsys.readouterr().out == "server.host = example.org\nserver.port = 80\n"
