"""Every snippet of docs/adapters.md is run, as a notebook's cell."""

import re
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "adapters.md").read_text("utf-8")
SNIPPETS = {
    title.splitlines()[0]: re.findall(r"```python\n(.*?)```", title, re.DOTALL)
    for title in re.split(r"^#+ ", PAGE, flags=re.MULTILINE)[1:]
}
FAST = ("gymnasium", "The way back", "A reward from a notebook in another process")
SLOW = ("TRL, one turn", "TRL, several turns", "verifiers")


def test_every_section_has_one_snippet():
    assert set(SNIPPETS) == {"Other libraries", *FAST, *SLOW}
    assert all(len(blocks) == 1 for blocks in SNIPPETS.values())


@pytest.mark.parametrize("title", [*FAST, *(pytest.param(t, marks=pytest.mark.slow) for t in SLOW)])
def test_a_snippet_runs(title, notebook, folder):
    if title in ("gymnasium", "verifiers"):
        pytest.importorskip(title, reason="the extra `adapters` is not installed")
    names = notebook(SNIPPETS["Other libraries"][0])
    try:
        notebook(f"MODEL = {folder!r}")
        notebook(SNIPPETS[title][0])
        CHECKS[title](names)
    finally:
        names["sandbox"].close()
        sys.modules.pop("my_reward", None)


def trained(names):
    (log,) = names["trainer"].state.log_history
    assert names["trainer"].state.global_step == 1 and log["unscorable"] == 0
    assert "train_loss" in log


def scored(names):
    # "return 0" loads; whether it is right the tests say, and here they say no
    assert {n: r.score for n, r in names["trace"].rewards.items()} == {"tests": 0.0, "loads": 1.0}
    assert names["trace"].reward == 0.1


def played(names):
    assert (names["terminated"], names["truncated"]) == (True, False)
    assert names["info"]["components"].keys() == {"tests", "loads"}


def borrowed(names):
    from workbench.episodes import rollout
    from workbench.policies import ScriptedPolicy

    task = names["tasks"][0]
    (said,) = rollout(ScriptedPolicy(["    return 0"]), task, names["sandbox"], n=1).trajectories
    assert [part.raw for part in names["mixed"].score(said, task).parts][1:] == [1.0, 1.0]


def saved(names):
    assert names["mine"].components[1].component.__module__ == "my_reward"
    reward, task = names["reward"], names["tasks"][0]
    (number,) = reward(completions=["    return ("], task_id=[task.task_id])
    assert -0.1 < number < 0  # no test passes; the diff is a few lines
    reward._judge.sandbox.close()


CHECKS = {
    "TRL, one turn": trained,
    "TRL, several turns": trained,
    "verifiers": scored,
    "gymnasium": played,
    "The way back": borrowed,
    "A reward from a notebook in another process": saved,
}
