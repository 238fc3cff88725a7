"""Episodes written by hand."""

import pytest

from tests.by_hand import attempt, outcomes
from workbench.records import (
    Action,
    Evidence,
    Group,
    ToolCall,
    Turn,
    Verdict,
)

LIB = """lib.py
1|def pack(xs):
2|    # sum of item of below 3
3|    ys = [x for x in xs if x <= 3]
4|    return sum(ys)"""

DIFF = """--- a/lib.py
+++ b/lib.py
@@ -1,4 +1,4 @@
 def pack(xs):
     # sum of item of below 3
-    ys = [x for x in xs if x <= 3]
+    ys = [x for x in xs if x < 3]
     return sum(ys)
"""

ANSWERS = {
    "ls": "lib.py\nshelf.py\ntests.py",
    "grep pack": "lib.py:1: def pack(xs):",
    "cat lib.py": LIB,
    "run": "FAIL pack([3, -3]) got 0 want -3",
    "submit": "",
}


def turn(command):
    name, _, argument = command.partition(" ")
    good = name in ("ls", "grep", "cat", "run", "edit", "submit")
    answer = argument.partition(" ")[2] if name == "edit" else ANSWERS.get(command, "")
    return Turn(
        Action((7, 2), (-0.5, -0.1), command, "end_of_turn"),
        ToolCall(name, argument) if good else None,
        None if good else f"unknown command {name}",
        answer if good else f"error: unknown command {name}",
        "0" * 16,
    )


def make_episode(commands, passed=6, task_id="bugfix:1", edited_tests=False):
    """A trajectory with these commands, of which `passed` of 6 hidden tests passed."""
    hidden, visible = "p" * passed + "w" * (6 - passed), "p" if edited_tests or passed == 6 else "w"
    touched = any(command.startswith("edit") for command in commands)
    return attempt(
        task_id=task_id,
        turns=tuple(turn(command) for command in commands),
        verdict=Verdict("call", "ok", outcomes(hidden=hidden, visible_as_left=visible)),
        evidence=Evidence(
            DIFF if touched else "",
            ("lib.py",) if touched else (),
            ("tests.py",) if edited_tests else (),
        ),
        stop_reason="submitted" if commands[-1] == "submit" else "max_turns",
    )


WANDER = ["ls", "gerp pack", "cat lib.py", "edit tests.py 2|pass", "submit"]
REPAIR = ["grep pack", "cat lib.py", "edit lib.py 3|    ys = [x for x in xs if x < 3]", "run"]
REPAIR += ["submit"]


@pytest.fixture
def before():
    return make_episode(WANDER, passed=2)


@pytest.fixture
def after():
    return make_episode(REPAIR)


@pytest.fixture
def groups_before():
    aimless = make_episode(["cat lib.py"] * 8, passed=0)
    hasty = make_episode(["cat lib.py", "submit"], passed=0)
    return [Group("bugfix:1", "base", (make_episode(WANDER, passed=2), aimless, aimless, hasty))]


@pytest.fixture
def groups_after():
    retry = [*REPAIR[:4], *REPAIR[2:]]
    episodes = (make_episode(REPAIR), make_episode(REPAIR), make_episode(retry))
    return [Group("bugfix:1", "rl", episodes)]


class Rows:
    """A run of which only the metrics exist."""

    def __init__(self, metrics):
        self.metrics = metrics


def iteration(stage, number, total, solved, rollouts=128, reward=None, edited=0.0):
    return {
        "kind": "iteration",
        "stage": stage,
        "iteration": number,
        "num_iterations": total,
        "num_rollouts": rollouts,
        "solved_share": solved,
        "reward_mean": solved if reward is None else reward,
        "edited_tests_share": edited,
    }


def evaluation(stage, number, rate):
    return {
        "kind": "evaluation",
        "stage": stage,
        "iteration": number,
        "solve_rate": rate,
        "low": rate - 0.05,
        "high": rate + 0.05,
        "interval": "Wilson, 256 trials",
    }


def make_run(num_rl=40, shift=0.0):
    """Rows as `learning` writes them: base, RFT, RL with an evaluation every ten iterations."""
    rows = [evaluation("base", 0, 0.08 + shift)]
    rows += [iteration("rft", i, 8, 0.08 + 0.01 * (i % 3), 256) for i in range(8)]
    rows += [{"kind": "fine_tuning", "stage": "rft", "num_examples": 176}]
    rows += [evaluation("rft", 0, 0.31 + shift)]
    for i in range(num_rl):
        if i and i % 10 == 0:
            rows.append(evaluation("rl", i, 0.31 + shift + 0.3 * i / 40))
        rows.append(iteration("rl", i, num_rl, 0.33 + 0.3 * i / 40 + 0.06 * (-1) ** i))
    return Rows([*rows, evaluation("rl", num_rl, 0.61 + shift)])


@pytest.fixture
def run():
    return make_run()


@pytest.fixture
def seeds():
    return [make_run(shift=shift) for shift in (-0.02, 0.0, 0.02)]


@pytest.fixture
def cheating_run():
    share = [min(0.99, 0.06 + i / 15) for i in range(30)]
    rows = [iteration("rl", i, 30, 0.09 * (1 - s), reward=s, edited=s) for i, s in enumerate(share)]
    return Rows(rows)
