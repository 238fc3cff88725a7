"""Records made by hand, for the tests of every room: one plain attempt, of which a test changes
what it is about, and one plain problem."""

from workbench.records import (
    Action,
    Evidence,
    SamplerSettings,
    Task,
    TestOutcome,
    Trajectory,
    Turn,
    Verdict,
)
from workbench.tasks.problem import case

LETTERS = {
    "p": "passed",
    "w": "wrong",
    "e": "error",
    "t": "timeout",
    "o": "memory",
    "s": "skipped",
    "m": "missing",
}
TASK = Task(
    task_id="by-hand",
    statement="fix f",
    entry_point="f",
    entry_file="lib.py",
    files={"lib.py": "def f(xs):\n    return 0\n"},
    visible=(),
    hidden=(),
    reference={},
)
HALVE = dict(
    topic="numbers", level=1, skills="division",
    statement="Write halve(number): number divided by two, rounded down.",
    reference="def halve(number):\n    return number // 2",
    visible=[case(4, want=2), case(10, want=5)],
    hidden=[case(0, want=0), case(7, want=3), case(-3, want=-2), case(1, want=0), case(9, want=4)],
)  # fmt: skip
"""A problem without its mistakes, for `tasks.problem.problem("halve", **HALVE, ...)`."""


def outcomes(message="", **suites):
    """hidden="ppw" are three outcomes of that suite, of which the last one failed (LETTERS)."""
    return tuple(
        TestOutcome(f"{suite}:{i}", suite, LETTERS[letter], message)
        for suite, letters in suites.items()
        for i, letter in enumerate(letters, 1)
    )


def turn(said="ls", call=None, seen=""):
    """A turn of two sampled tokens in an untouched workspace."""
    return Turn(Action((7, 2), (-0.5, -0.1), said, "end_of_turn"), call, None, seen, "0" * 16)


def attempt(**changes):
    """An attempt at TASK: one turn, handed in, nothing judged, nothing collected."""
    values = {
        "task_id": TASK.task_id,
        "seed": 0,
        "sampler": SamplerSettings(),
        "turns": (turn(),),
        "final_files": {},
        "verdict": Verdict("call", "ok", ()),
        "evidence": Evidence(),
        "stop_reason": "submitted",
    }
    return Trajectory(**values | changes)
