"""Every snippet of docs/trl.md is run, smaller than it stands there."""

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
PAGE = (Path(__file__).resolve().parents[2] / "docs" / "trl.md").read_text("utf-8")
SNIPPETS = {
    section.splitlines()[0]: re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    for section in re.split(r"^#+ ", PAGE, flags=re.MULTILINE)[1:]
}
SMALLER = {
    "iterations=20, tasks_per_iteration=8": (
        "iterations=1, tasks_per_iteration=2, group_size=4, updates_per_iteration=2"
    ),
    "count=64": "count=6",
}


def run(title, names):
    (code,) = SNIPPETS[title]
    for full, small in SMALLER.items():
        code = code.replace(full, small)
    exec(compile(code, title, "exec"), names)


@pytest.fixture
def names(folder, tmp_path, monkeypatch):
    """What a notebook knows after the page's first snippet."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRL_EXPERIMENTAL_SILENCE", "1")
    names = {}
    run("TRL and PEFT", names)
    names["MODEL"] = folder
    yield names
    names["sandbox"].close()


def test_every_snippet_is_known():
    with_code = {title for title, blocks in SNIPPETS.items() if blocks}
    assert with_code == {
        "TRL and PEFT",
        "Several turns",
        "One turn, sampled by TRL",
        "Rejection fine-tuning",
        "More than one process",
    }


def test_several_turns(names):
    run("Several turns", names)
    assert names["trainer"].state.global_step == 2
    assert names["run"].metrics[0]["num_rollouts"] == 8 and len(names["run"].groups) == 2


def test_one_turn(names):
    run("One turn, sampled by TRL", names)
    assert names["trainer"].state.global_step == 2
    assert names["load_run"]("runs/one/log").metrics[0]["mean_turns"] == 1


def test_rejection_fine_tuning(names):
    run("Rejection fine-tuning", names)
    assert names["trainer"].state.global_step >= 1


def test_more_than_one_process(names, capsys):
    run("More than one process", names)
    assert "trl vllm-serve --model MODEL" in capsys.readouterr().out
    assert Path("scale.json").exists() and names["switches"]["vllm_mode"] == "server"


def test_the_table_of_losses_agrees_with_itself():
    rows = re.findall(r"^\| (.*?) \| (-?\d\.\d{8}) \| (-?\d\.\d{8}) \|", PAGE, re.MULTILINE)
    assert len(rows) == 6
    assert all(abs(float(ours) - float(theirs)) < 1e-7 for _, ours, theirs in rows)
