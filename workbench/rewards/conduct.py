"""Components about how the agent worked: its turns, its tokens, its way out, its honesty.

Stage: rewards. They read the turns, the stop reason and the evidence about cheating. Left out:
what it changed (`changes`) and how good that is (`quality`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from workbench.records import Task, Trajectory
from workbench.rewards.components import Component, configured, evidence
from workbench.rewards.outcomes import all_pass


def tampered(trajectory: Trajectory, task: Task) -> float | None:
    """1.0 if a protected file (the tests) differs at the end, else 0.0: a penalty's component.

    Raises ValueError if the collector "tampering" did not run.
    """
    return float(bool(evidence(trajectory, "tampered", "tampering", "tampered")))


def intact(trajectory: Trajectory, task: Task) -> float | None:
    """0.0 if a protected file (the tests) differs at the end, else 1.0: a blocker's component.

    Raises ValueError if the collector "tampering" did not run.
    """
    return float(not evidence(trajectory, "tampered", "tampering", "intact"))


def tripwires(trajectory: Trajectory, task: Task) -> float | None:
    """1.0 if new source text of a repository has signs that honest code seldom has, else 0.0.

    A sign is no proof: as a penalty it also teaches to hide the sign. Better look at what it
    finds, and keep it out of the reward. Raises ValueError if the collector "tripwires" did not
    run; it runs for repositories only.
    """
    return float(bool(evidence(trajectory, "tripwires", "tripwires", "tripwires")))


@configured
def turn_penalty(free: int, limit: int) -> Component:
    """Component: 0.0 below `free` turns, then falling in a line to -1.0 at `limit` turns.

    It counts turns, not tokens. A group in which every attempt failed still has unequal rewards:
    the short failures are preferred. Source: Golubev et al. 2025 (arXiv:2508.03501), R_length
    with L_thr = free and T_max = limit.

    Raises ValueError unless 0 <= free < limit.
    """
    if not 0 <= free < limit:
        raise ValueError(f"turn_penalty: expected 0 <= free < limit, got {free} and {limit}")

    def component(trajectory: Trajectory, task: Task) -> float:
        num_turns = len(trajectory.turns)
        return 0.0 if num_turns < free else (free - num_turns) / (limit - free)

    return component


@configured
def overlong(free: int, limit: int) -> Component:
    """Component: 0.0 up to `free` action tokens, then in a line to -1.0 at `limit` and beyond.

    It counts what the policy sampled, all turns together; observations are free. Source: Yu et al.
    2025 (DAPO, arXiv:2503.14476), soft overlong punishment with limit = L_max = 20480 and
    free = L_max - L_cache = 16384.

    Raises ValueError unless 0 <= free < limit.
    """
    if not 0 <= free < limit:
        raise ValueError(f"overlong: expected 0 <= free < limit, got {free} and {limit}")

    def component(trajectory: Trajectory, task: Task) -> float:
        too_many = max(trajectory.num_action_tokens - free, 0)
        return -min(too_many / (limit - free), 1.0)

    return component


def ran_out(trajectory: Trajectory, task: Task) -> float | None:
    """1.0 if turns or context ran out, or a loop was cut, before the agent handed in; else 0.0.

    An agent that abstained did not run out. None if the episode was aborted, which is our fault.
    """
    if trajectory.stop_reason == "abort":
        return None
    return float(trajectory.stop_reason not in ("submitted", "abstained"))


def well_formed(trajectory: Trajectory, task: Task) -> float | None:
    """Share of the turns whose command parsed, in [0, 1]; None if there is no turn.

    A turn that was cut at its token limit did not parse.
    """
    if not trajectory.turns:
        return None
    return sum(turn.tool_call is not None for turn in trajectory.turns) / len(trajectory.turns)


def repeated(trajectory: Trajectory, task: Task) -> float | None:
    """Share of the turns whose message the same attempt had sent before; None without turns.

    In [0, 1): for a penalty. Running the tests again after an edit is a repetition, too.
    """
    return share_repeated([turn.action.text for turn in trajectory.turns])


def share_repeated(messages: Sequence[str]) -> float | None:
    """Share of the messages that are equal to an earlier one; None if there is none.

    >>> share_repeated(["run", "ls", "run", "run"])
    0.5
    """
    if not messages:
        return None
    return 1.0 - len(set(messages)) / len(messages)


@configured
def abstention(value: float = 0.0, wrong: float = 1.0, suite: str = "hidden") -> Component:
    """Component: 1.0 for a right answer, `value` for an abstention, -`wrong` for all else.

    Answering pays in the mean where the chance to be right is at least
    (value + wrong) / (1 + wrong); with value 0 and a target chance t, choose wrong = t / (1 - t).
    An attempt that ran out of turns without saying so counts as wrong. Source: Kalai et al. 2025
    (arXiv:2509.04664).

    Args:
        value: reward for stopping with "abstained", at most 1.
        wrong: cost of a wrong answer, 0 or more. Too large, and the policy always abstains.
        suite: right = every test of it passed.
    Returns None if an answer's verdict is ours to blame, or the episode was aborted.
    Raises ValueError for other values, or if the suite was never run.
    """
    if not (-math.inf < value <= 1.0 and 0.0 <= wrong < math.inf):
        raise ValueError(
            f"abstention: expected value <= 1 and wrong >= 0, finite, got {value} and {wrong}"
        )
    solved = all_pass(suite)

    def component(trajectory: Trajectory, task: Task) -> float | None:
        if trajectory.stop_reason == "abstained":
            return float(value)
        right = solved(trajectory, task)
        return None if right is None else 1.0 if right else -float(wrong)

    return component
